"""Times of jobs whose hosts have clocks of their own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.run.record import Record
from howdah.engine.run.sampling import PhaseSampler
from howdah.model.job import Job
from tests.unit.engine.run.clusters import application


def sampler(ahead: dict[str, float]) -> PhaseSampler:
    """Of a cluster whose ResourceManager is on the machine a."""
    cluster = SimpleNamespace(
        daemons_by_host=dict,
        daemons=[SimpleNamespace(role="namenode", host="x"), SimpleNamespace(role="resourcemanager", host="one")],
        machine_of={"one": "a", "x": "z"}.__getitem__,
    )
    record = Record("here")
    record.ahead = ahead
    return PhaseSampler(cast(LiveCluster, cluster), record)


def job(**ahead: float) -> Job:
    """A job whose times are corrected already."""
    return Job("job_1", "j", "u", "q", "SUCCEEDED", 100.0, 101.0, 160.0, 2, 1, {}, {}, {}, (), ahead=ahead)


@pytest.mark.parametrize(("ahead", "words"), [({}, ""), ({"b": 0.5}, ", corrected for the clocks of hosts")])
def test_the_span_of_jobs_says_whether_their_times_were_corrected(ahead: dict[str, float], words: str) -> None:
    span = sampler({}).span_of([job(**ahead), job()], [])
    assert span is not None
    assert (span.submit, span.finish, span.source) == (100.0, 160.0, f"job history{words}")


def test_both_times_of_what_is_no_mapreduce_are_the_resourcemanagers() -> None:
    span = sampler({"a": 0.25}).span_of([], [application(kind="SPARK", start=10.0, finish=20.0)])
    assert span is not None
    assert (span.submit, span.finish) == (9.75, 19.75)
    assert span.source == "ResourceManager, corrected for the clocks of hosts"
    assert sampler({"a": 0.25}).span_of([], []) is None
