"""The best of several things by more than one measure."""

from __future__ import annotations

from collections.abc import Sequence


def on_front(points: Sequence[Sequence[float]]) -> list[bool]:
    """Return, for each point, whether it is on the Pareto front: no other one is as small in every coordinate and
    smaller in one."""
    return [not any(_dominates(other, point) for other in points) for point in points]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
