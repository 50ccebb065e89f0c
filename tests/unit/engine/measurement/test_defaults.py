"""What Howdah's own workloads have that people's own programs have not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pytest

from howdah.engine.measurement.defaults import own_defaults
from howdah.hadoop.configuration.sizing import Sizing
from howdah.workload.registry import WORKLOADS, find_workload
from tests.unit.engine.run.clusters import FakeCluster, FakeHost

BLOCK, POSIX_BLOCK = "dfs.blocksize", "fs.posixfs.block.size"
GIVEN = {
    "mapreduce.job.maps": "6",
    "mapreduce.job.reduces": "6",
    BLOCK: str(256 << 20),
    "dfs.bytes-per-checksum": "4096",
    "dfs.checksum.combine.mode": "COMPOSITE_CRC",
    "mapreduce.reduce.input.buffer.percent": "0.9",
}


def given(
    name: str = "terasort",
    *,
    kind: str = "tuned",
    without: tuple[str, ...] = (),
    started_with: Mapping[str, str] | None = None,
    held: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    description: Mapping[str, Any] = {
        "sizing": asdict(Sizing(3, 2, 512, 1024, 2048, 256)),
        "defaults": {"kind": kind, "without": list(without), "settings": started_with or {}},
    }
    cluster = FakeCluster(FakeHost({}), description=description, settings=held or {})
    return own_defaults(find_workload(name), cluster.live())


@pytest.mark.promise("Some tuned defaults apply to Howdah's own workloads only", "reference/tuned-defaults")
@pytest.mark.parametrize("name", sorted(WORKLOADS.keys() - {"command"}))
def test_own_workloads_have_all_of_it(name: str) -> None:
    assert given(name) == GIVEN


@pytest.mark.promise("Some tuned defaults apply to Howdah's own workloads only", "reference/tuned-defaults")
def test_a_command_of_the_users_has_nothing_of_it() -> None:
    assert given("command") == {}


def test_nor_have_clusters_of_others_or_with_hadoops_defaults() -> None:
    assert given(kind="stock") == {}
    foreign = FakeCluster(FakeHost({}), description={"kind": "conf"})
    assert own_defaults(find_workload("terasort"), foreign.live()) == {}


def test_what_is_left_out_or_asked_for_is_not_given() -> None:
    assert given(without=("large-blocks", "reduce-memory")).keys() == GIVEN.keys() - {
        BLOCK,
        "mapreduce.reduce.input.buffer.percent",
    }
    assert given(started_with={"mapreduce.job.reduces": "1"}).keys() == GIVEN.keys() - {"mapreduce.job.reduces"}


def test_files_of_a_directory_have_blocks_as_large() -> None:
    there = {POSIX_BLOCK: "128m"}
    assert given(held=there) == {**GIVEN, POSIX_BLOCK: GIVEN[BLOCK]}
    for key in (BLOCK, POSIX_BLOCK):
        assert POSIX_BLOCK not in given(held=there, started_with={key: "1m"})
