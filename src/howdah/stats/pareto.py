"""Which of several things are best where there is more than one measure of good."""

from __future__ import annotations

from collections.abc import Sequence


def on_front(points: Sequence[Sequence[float]]) -> list[bool]:
    """For each point, whether no other one is as small in every coordinate and smaller in one (the Pareto front)."""
    return [not any(_dominates(other, point) for other in points) for point in points]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
