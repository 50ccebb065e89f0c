"""What every Workload must say of itself before anything is started. `howdah run` is its other half (tests/system)."""

from __future__ import annotations

import json

import pytest

from howdah.engine import metrics
from howdah.errors import UsageError
from howdah.model.metric import registry
from howdah.workload import Asked, Workload
from howdah.workload.registry import WORKLOADS, find_workload


@pytest.fixture(params=sorted(WORKLOADS))
def workload(request: pytest.FixtureRequest) -> Workload:
    return find_workload(request.param)


def test_it_is_found_by_its_name_and_says_what_it_is(workload: Workload) -> None:
    assert WORKLOADS[workload.name] is type(workload)
    assert workload.title
    assert workload.summary


def test_smoke_is_its_smallest_size(workload: Workload) -> None:
    assert min(workload.sizes, key=workload.sizes.__getitem__) == "smoke"


def test_its_primary_metric_is_in_the_registry(workload: Workload) -> None:
    phase, _, metric = workload.primary.partition("/")
    assert phase
    assert metric in registry((*metrics.COMMON, *workload.metrics))


def test_every_named_size_resolves_to_settings_that_a_trial_can_keep(workload: Workload) -> None:
    for size in workload.sizes.values():
        settings = workload.resolve(Asked(size_bytes=size), {})
        assert json.loads(json.dumps(settings)) == settings
        assert settings["size_bytes"] == size


def test_nothing_asked_resolves_and_the_same_is_the_same(workload: Workload) -> None:
    assert workload.resolve(Asked(), {}) == workload.resolve(Asked(), {})


def test_space_grows_with_the_size_and_with_replication(workload: Workload) -> None:
    def stored(size: int, replication: str) -> int:
        return workload.space_bytes(workload.resolve(Asked(size_bytes=size), {"dfs.replication": replication}))[0]

    smoke = workload.sizes["smoke"]
    assert smoke < stored(smoke, "1") < stored(smoke, "3")
    assert stored(smoke, "1") < stored(10 * smoke, "1")


def test_keys_for_its_jobs_are_kept_as_they_were_asked(workload: Workload) -> None:
    settings = workload.resolve(Asked(conf={"mapreduce.task.io.sort.mb": "7"}), {})
    assert settings["conf"] == {"mapreduce.task.io.sort.mb": "7"}


@pytest.mark.parametrize("count", ["0", "-1", "many", ""])
def test_a_count_that_is_none_is_refused_before_anything_starts(workload: Workload, count: str) -> None:
    with pytest.raises(UsageError, match=r"dfs\.replication"):
        workload.resolve(Asked(conf={"dfs.replication": count}), {})
