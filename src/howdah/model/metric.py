"""The meaning of a number: name, unit, better direction, definition, source. No report shows an unregistered metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


ELAPSED = ("job_seconds", "client_seconds", "hs_seconds")
"""The metrics that are the time of a phase or of a run."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the registry. `definition` is a sentence that a reader of the report can check."""

    name: str
    unit: str
    better: Better
    definition: str
    source: str

    @property
    def is_time(self) -> bool:
        """Whether the metric is the time that something took. Seconds of processors are none: with fewer of them, a
        job may take longer."""
        return self.name in ELAPSED


def registry(metrics: Iterable[Metric]) -> dict[str, Metric]:
    """Return `metrics` by name. Raises ValueError if two of them share one."""
    named: dict[str, Metric] = {}
    for metric in metrics:
        if named.setdefault(metric.name, metric) != metric:
            raise ValueError(f"two metrics are called {metric.name}")
    return named
