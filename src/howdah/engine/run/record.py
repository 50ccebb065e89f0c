"""What a run has collected so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from howdah.model.metric import Metric
from howdah.model.run import Caveat, Phase
from howdah.model.sample import Moment, Quality, Sample


@dataclass(slots=True)
class Record:
    """Phases, samples and caveats in their order; `with_map_output` has the phases that had jobs with map output.

    `host` is where the job clients run, of which every sample is. `ahead` is how many seconds the clocks of
    machines are ahead of this one's.
    """

    host: str
    phases: list[Phase] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)
    with_map_output: set[str] = field(default_factory=set)
    ahead: Mapping[str, float] = field(default_factory=dict)

    def caveat(self, phase: str, text: str) -> None:
        """Add what a reader must know about `phase`, or about the whole `run`."""
        self.caveats.append(Caveat(phase, text))

    def at(self, phase: str, moment: Moment) -> Callable[[Metric, float | None, Quality, str, str], None]:
        """Return what adds one sample of `phase` at `moment`; a value of None adds nothing."""

        def add(metric: Metric, value: float | None, quality: Quality, source: str, role: str) -> None:
            if value is not None:
                sample = Sample(metric.name, value, metric.unit, quality, source, self.host, role, phase, moment)
                self.samples.append(sample)

        return add
