"""The record of a run so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from howdah.model.metric import Metric
from howdah.model.run import Caveat, Phase
from howdah.model.sample import Moment, Quality, Sample


@dataclass(slots=True)
class Record:
    """Phases, samples and caveats in their order. `with_map_output` has the phases whose jobs had map output. `host` is
    where the job clients run, and the host of every sample. `ahead` is how many seconds the clocks of machines are
    ahead of this machine's.
    """

    host: str
    phases: list[Phase] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)
    with_map_output: set[str] = field(default_factory=set)
    ahead: Mapping[str, float] = field(default_factory=dict)

    def caveat(self, phase: str, text: str) -> None:
        """Add a caveat about `phase`, or about the whole `run`."""
        self.caveats.append(Caveat(phase, text))

    def at(self, phase: str, moment: Moment) -> Callable[[Metric, float | None, Quality, str, str], None]:
        """Return a function that adds one sample of `phase` at `moment`. A value of None adds nothing."""

        def add(metric: Metric, value: float | None, quality: Quality, source: str, role: str) -> None:
            if value is not None:
                sample = Sample(metric.name, value, metric.unit, quality, source, self.host, role, phase, moment)
                self.samples.append(sample)

        return add
