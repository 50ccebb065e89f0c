"""What every Workload must say of itself before anything is started. `howdah run` is its other half (tests/system)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from howdah.engine.evidence import metrics
from howdah.errors import UsageError
from howdah.model.metric import registry
from howdah.workload import Asked, Settings, Workload, measured_phases
from howdah.workload.registry import WORKLOADS, find_workload

OWN: dict[str, dict[str, Any]] = {"command": {"run": "true"}}
"""What must be said to a workload that does nothing unasked."""


@pytest.fixture(params=sorted(WORKLOADS))
def workload(request: pytest.FixtureRequest) -> Workload:
    return find_workload(request.param)


@pytest.fixture(params=sorted(name for name, one in WORKLOADS.items() if one.sizes))
def sized(request: pytest.FixtureRequest) -> Workload:
    return find_workload(request.param)


def resolve(workload: Workload, size: int | None = None, **conf: str) -> Settings:
    settings = {key.replace("_", "."): value for key, value in conf.items()}
    return workload.resolve(Asked(size=size, conf=settings, own=OWN.get(workload.name, {})), {})


def test_it_is_found_by_its_name_and_says_what_it_is(workload: Workload) -> None:
    assert WORKLOADS[workload.name] is type(workload)
    assert workload.title


def test_its_summary_says_what_it_does_and_stresses_and_where_it_comes_from(workload: Workload) -> None:
    assert re.fullmatch(r"[^:;]+: [^:;]+; [^:;]+[^.]", workload.summary), workload.summary


def test_its_options_have_names_of_their_own_and_say_what_they_are(workload: Workload) -> None:
    names = [option.name for option in workload.options]
    assert len(set(names)) == len(names)
    assert "size" not in names
    assert all(option.help.endswith((".", "]")) for option in workload.options)


def test_smoke_is_its_smallest_size(sized: Workload) -> None:
    assert min(sized.sizes, key=sized.sizes.__getitem__) == "smoke"
    assert "small" in sized.sizes


def test_its_primary_metric_is_in_the_registry(workload: Workload) -> None:
    phase, _, metric = workload.primary.partition("/")
    assert phase
    assert metric in registry((*metrics.COMMON, *workload.metrics))
    assert measured_phases(workload)


def test_every_named_size_resolves_to_settings_that_a_trial_can_keep(sized: Workload) -> None:
    for size in sized.sizes.values():
        settings = resolve(sized, size)
        assert json.loads(json.dumps(settings)) == settings
        assert size in settings.values()


@pytest.mark.parametrize("maps", ["1", "2", "3", "7"])
def test_every_named_size_suits_any_number_of_maps(sized: Workload, maps: str) -> None:
    for size in sized.sizes.values():
        resolve(sized, size, mapreduce_job_maps=maps)


def test_what_is_asked_resolves_and_the_same_is_the_same(workload: Workload) -> None:
    assert resolve(workload) == resolve(workload)


def test_space_grows_with_the_size_and_never_shrinks_with_replication(sized: Workload) -> None:
    def stored(size: int, replication: str) -> int:
        return sum(sized.space_bytes(resolve(sized, size, dfs_replication=replication)))

    smoke = sized.sizes["smoke"]
    if _stores(resolve(sized)):
        assert smoke < stored(smoke, "1") < stored(smoke, "3")
        assert stored(smoke, "1") < stored(10 * smoke, "1")
    else:
        assert 0 <= stored(smoke, "1") <= stored(10 * smoke, "3")


def _stores(settings: Settings) -> bool:
    """Whether it keeps data in the storage, whose replicas it counts."""
    return any(name.endswith("replication") for name in settings)


def test_keys_for_its_jobs_are_kept_as_they_were_asked(workload: Workload) -> None:
    asked = Asked(conf={"mapreduce.task.io.sort.mb": "7"}, own=OWN.get(workload.name, {}))
    assert workload.resolve(asked, {})["conf"] == {"mapreduce.task.io.sort.mb": "7"}


@pytest.mark.parametrize("count", ["0", "-1", "many", ""])
def test_a_count_that_is_none_is_refused_before_anything_starts(workload: Workload, count: str) -> None:
    if not _stores(resolve(workload)):
        pytest.skip("stores nothing whose replicas it counts")
    with pytest.raises(UsageError, match=r"dfs\.replication"):
        resolve(workload, dfs_replication=count)
