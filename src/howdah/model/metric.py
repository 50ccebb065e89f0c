"""The meaning of a number: name, unit, better direction, definition, source. No report shows an unregistered metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


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
        """Whether the metric is a time of which less is faster."""
        return self.unit == "s" and self.better == "lower"


def registry(metrics: Iterable[Metric]) -> dict[str, Metric]:
    """Return `metrics` by name. Raises ValueError if two of them share one."""
    named: dict[str, Metric] = {}
    for metric in metrics:
        if named.setdefault(metric.name, metric) != metric:
            raise ValueError(f"two metrics are called {metric.name}")
    return named
