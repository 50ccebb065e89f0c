from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from howdah.stats.pareto import on_front

POINTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


def test_what_nothing_beats_is_on_the_front() -> None:
    assert on_front([(1, 5), (2, 2), (5, 1), (3, 3), (2, 2)]) == [True, True, True, False, True]
    assert on_front([]) == []


@given(POINTS)
def test_the_best_in_each_coordinate_are_there_and_each_other_is_beaten_by_one_that_is(
    points: list[tuple[int, ...]],
) -> None:
    front = on_front(points)
    assert front[points.index(min(points))]
    best = [point for point, on in zip(points, front, strict=True) if on]
    for point, on in zip(points, front, strict=True):
        beaten = any(one != point and all(mine <= its for mine, its in zip(one, point, strict=True)) for one in best)
        assert on != beaten
