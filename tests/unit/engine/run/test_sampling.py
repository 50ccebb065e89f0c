"""Times of jobs whose hosts have clocks of their own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.run.record import Record
from howdah.engine.run.sampling import Sampler
from howdah.model.job import Job
from tests.unit.engine.run.clusters import application


def sampler(ahead: dict[str, float]) -> Sampler:
    """Of a cluster whose ResourceManager is on the machine a, with a node on b at 10.0.0.2."""
    cluster = SimpleNamespace(
        daemons_by_host=dict,
        daemons=[SimpleNamespace(role="namenode", host="x"), SimpleNamespace(role="resourcemanager", host="one")],
        machine_of={"one": "a", "x": "z"}.__getitem__,
        machine_at=lambda node: "b" if node == "10.0.0.2:41000" else None,
    )
    record = Record("here")
    record.ahead = ahead
    return Sampler(cast(LiveCluster, cluster), record)


def job(master: str | None) -> Job:
    return Job("job_1", "j", "u", "q", "SUCCEEDED", 100.0, 101.0, 160.0, 2, 1, {}, {}, {}, (), None, False, master)


@pytest.mark.promise("Times of jobs are corrected for the clocks of hosts", "reference/metrics")
def test_the_time_of_a_job_is_by_one_clock() -> None:
    span = sampler({"a": 0.25, "b": -0.5}).span_of([job("10.0.0.2:41000")], [])
    assert span is not None
    assert (span.submit, span.finish) == (99.75, 160.5)
    assert span.source == "job history, corrected for the clocks of hosts"


@pytest.mark.parametrize("ahead", [{}, {"z": 0.5, "b": 0.5}])
def test_where_nothing_is_known_or_nothing_differs_the_history_stands(ahead: dict[str, float]) -> None:
    span = sampler(ahead).span_of([job("10.0.0.9:1"), job(None)], [])
    assert span is not None
    assert (span.submit, span.finish, span.source) == (100.0, 160.0, "job history")


def test_both_times_of_what_is_no_mapreduce_are_the_resourcemanagers() -> None:
    span = sampler({"a": 0.25}).span_of([], [application(kind="SPARK", start=10.0, finish=20.0)])
    assert span is not None
    assert (span.submit, span.finish) == (9.75, 19.75)
    assert sampler({"a": 0.25}).span_of([], []) is None
