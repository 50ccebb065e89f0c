"""Nodes whose tasks take much longer than those of the others."""

from __future__ import annotations

import pytest

from howdah.model.job import Attempt, Job, Span, TaskKind
from howdah.report.phases.jobs import PhaseJob
from howdah.report.phases.nodes import memory_of_hosts, slow_nodes
from howdah.report.phases.series import HostSeries


def attempt(node: str, seconds: float, kind: TaskKind = "map", state: str = "SUCCEEDED", waits: float = 0.0) -> Attempt:
    steps = {"shuffle": Span(0.0, waits), "reduce": Span(waits, seconds)} if kind == "reduce" else {}
    return Attempt("a", "t", kind, state, node, None, Span(0.0, seconds), steps, {})


def phase(*attempts: Attempt) -> list[PhaseJob]:
    job = Job("job_1", "j", "u", "q", "SUCCEEDED", 0.0, 0.0, 99.0, 9, 1, {}, {}, {}, attempts)
    return [PhaseJob("sort", job, {})]


OTHERS = [attempt(node, seconds) for node in ("b:1", "c:1") for seconds in (4.0, 5.0, 4.5)]


@pytest.mark.promise("A node whose tasks take much longer than those of the others is named", "how-to/faults")
def test_a_slow_node_is_named() -> None:
    (found,) = slow_nodes(phase(*OTHERS, *(attempt("a:1", seconds) for seconds in (9.0, 8.0, 12.0))))
    assert (found.phase, found.kind, found.node, found.tasks, found.seconds, found.others) == (
        *("sort", "map", "a:1", 3),
        *(9.0, 4.5),
    )


@pytest.mark.promise("A node whose tasks take much longer than those of the others is named", "how-to/faults")
def test_a_node_that_becomes_slow_in_the_middle_is_named() -> None:
    others = [attempt(node, 4.0 + number / 10) for node in ("b:1", "c:1") for number in range(8)]
    own = [attempt("a:1", seconds) for seconds in (4.05, 4.25, 11.0, 12.0, 11.5, 13.0, 12.5, 11.7)]
    assert [one.node for one in slow_nodes(phase(*others, *own))] == ["a:1"]
    few_large = [attempt("a:1", seconds) for seconds in (4.05, 4.25, 4.35, 4.15, 12.0, 12.0, 12.0, 12.0)]
    assert not list(slow_nodes(phase(*others, *few_large)))


@pytest.mark.parametrize(
    "own",
    [
        pytest.param([attempt("a:1", 9.0)] * 2, id="too few"),
        pytest.param([attempt("a:1", one) for one in (6.0, 6.5, 6.6)], id="not much longer"),
        pytest.param([attempt("a:1", one) for one in (4.0, 9.0, 9.0)], id="its quickest is as quick"),
        pytest.param([attempt("a:1", 9.0, state="KILLED")] * 3, id="killed"),
        pytest.param([attempt("a:1", 9.0, kind="reduce")] * 3, id="another kind"),
    ],
)
def test_others_are_not(own: list[Attempt]) -> None:
    assert list(slow_nodes(phase(*OTHERS, *own))) == []


def test_reduces_that_wait_for_maps_are_not_slow() -> None:
    early = [attempt("a:1", 30.0, "reduce", waits=25.0)] * 3
    late = [attempt("b:1", 7.0, "reduce", waits=2.0)] * 3
    assert list(slow_nodes(phase(*early, *late))) == []


@pytest.mark.promise("The memory of each host is shown, without that of files", "explanation/reading-the-report")
def test_hosts_use_memory_beyond_that_of_files() -> None:
    machine = {"utc": 5.0, "memory_total": 100, "memory_available": 70, "memory_cached": 60}
    assert memory_of_hosts([HostSeries("a", 1.0, {"machine": [machine, {"utc": 6.0}]})]) == {"a": [(5.0, 30.0)]}
    inside = [{"utc": 5.0, "host": name, "memory_anonymous": 7, "memory_cached": 9} for name in ("sim1", "sim2")]
    simulated = HostSeries("a", 1.0, {"machine": [machine], "host": inside})
    assert memory_of_hosts([simulated]) == {"sim1": [(5.0, 7.0)], "sim2": [(5.0, 7.0)]}
