"""The contents of a figure: values only, in the units they were measured in. `howdah.report.figures` draws them."""

from __future__ import annotations

from dataclasses import dataclass

from howdah.model.comparison import Interval


@dataclass(frozen=True, slots=True)
class Dot:
    """The value of one run."""

    value: float
    title: str


@dataclass(frozen=True, slots=True)
class DotGroup:
    """The runs of one trial in the order made, their geometric mean and its interval."""

    name: str
    colour: str
    dots: tuple[Dot, ...]
    mean: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Dots:
    """Every run as a dot, with one group below the other on one axis."""

    axis: str
    unit: str
    groups: tuple[DotGroup, ...]


@dataclass(frozen=True, slots=True)
class Arm:
    """One combination of levels: every value, their geometric mean and its interval."""

    name: str
    colour: str
    values: tuple[float, ...]
    mean: float
    interval: Interval | None
    title: str


@dataclass(frozen=True, slots=True)
class Arms:
    """A bar for each arm, from 0, with its interval and its runs."""

    axis: str
    unit: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class BarPart:
    """One piece of a bar."""

    name: str
    colour: str
    value: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of pieces that add up."""

    name: str
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars, one row below the other, on one axis that starts at 0."""

    axis: str
    unit: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A period in a lane, in seconds since the timeline's start. `height` is its share of the lane's height."""

    lane: int
    start: float
    end: float
    colour: str
    height: float
    title: str
    label: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A mean rate over a period."""

    start: float
    end: float
    value: float


@dataclass(frozen=True, slots=True)
class Track:
    """One line, or one layer of a stack, with its bound from calibration. `reached_by` says how it was reached."""

    name: str
    colour: str
    steps: tuple[Step, ...]
    bound: float | None = None
    reached_by: str = "bound"


@dataclass(frozen=True, slots=True)
class Panel:
    """A small chart under the lanes, on the same time axis."""

    title: str
    unit: str
    tracks: tuple[Track, ...]
    stacked: bool


@dataclass(frozen=True, slots=True)
class Strips:
    """The use of one resource by each host: a row for each, darker where more was used. `peak` is the darkest."""

    title: str
    unit: str
    colour: str
    peak: float
    rows: tuple[tuple[str, tuple[Step, ...]], ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lanes of attempts over panels of all hosts together, over strips of each host. `lanes` names each lane, top to
    bottom; "" repeats the name above."""

    seconds: float
    lanes: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    panels: tuple[Panel, ...]
    strips: tuple[Strips, ...] = ()


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of something to its reference."""

    name: str
    ratio: float
    interval: Interval | None
    title: str
    colour: str


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios with their intervals, one row below the other, around 1 on a logarithmic axis."""

    axis: str
    rows: tuple[Ratio, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One run in its place, counted from 1."""

    place: int
    value: float
    colour: str
    far: bool
    title: str


@dataclass(frozen=True, slots=True)
class Order:
    """Runs in their order, around 1, and the ends of a line through them."""

    axis: str
    turns: tuple[Turn, ...]
    line: tuple[float, float] | None


Drawing = Dots | Arms | Bars | Timeline | Ratios | Order
