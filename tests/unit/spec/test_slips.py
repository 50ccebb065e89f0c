"""Which known name somebody may have meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.spec.slips import closest, did_you_mean, distance
from howdah.workload.registry import WORKLOADS

COMMANDS = ("run", "runs", "tune", "status", "show", "shell", "experiment", "up", "hadoop", "report")


@pytest.mark.promise("A message names what was probably meant", "reference/exit-codes")
@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("terasrot", WORKLOADS, "terasort"),
        ("TeraSort", WORKLOADS, "terasort"),
        ("spark_tera_sort", WORKLOADS, "spark-terasort"),
        ("word", WORKLOADS, "wordcount"),
        ("pie", WORKLOADS, "pi"),
        ("rnu", COMMANDS, "run"),
        ("tun", COMMANDS, "tune"),
        ("experimnet", COMMANDS, "experiment"),
        ("exp", COMMANDS, "experiment"),
        ("halfwidth", ("half_width", "min", "max"), "half_width"),
    ],
)
def test_what_is_close_is_suggested(name: str, known: tuple[str, ...], meant: str) -> None:
    assert closest(name, known) == meant
    assert did_you_mean(name, known).startswith(f"Did you mean {meant}? Known: ")


@pytest.mark.promise("`howdah tune` suggests only names that are close", "CHANGELOG")
@pytest.mark.parametrize(
    ("name", "known"),
    [
        *((name, WORKLOADS) for name in ("foo", "bar", "test", "hive", "store", "io", "s", "", "mapreduce")),
        *((name, COMMANDS) for name in ("foo", "start", "list", "stop", "re", "x")),
        ("mapreduce.job.maps", ("mapreduce.job.reduces",)),
        ("mapreduce.job", ("mapreduce.job.maps", "mapreduce.job.reduces")),
    ],
)
def test_what_is_not_close_is_not(name: str, known: tuple[str, ...]) -> None:
    assert closest(name, known) is None
    assert did_you_mean(name, known).startswith("Known: ")


LETTERS = st.text("abc", max_size=6)


@given(LETTERS, LETTERS, st.integers(0, 4))
def test_a_distance_is_symmetric_and_zero_for_equal_names_alone(one: str, other: str, most: int) -> None:
    found = distance(one, other, most)
    assert found == distance(other, one, most) == min(distance(one, other, 10), most + 1)
    assert (found == 0) == (one == other)
