"""Every workload in its smallest size, on one cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howdah.workload.registry import WORKLOADS
from tests.system.kept import Kept, check_schemas
from tests.system.running import Howdah

pytestmark = pytest.mark.daemons


# TeraSort has a file of tests of its own.
@pytest.mark.parametrize("name", sorted(WORKLOADS.keys() - {"terasort"}))
def test_smoke(howdah: Howdah, cluster: dict[str, Any], name: str) -> None:
    answer = howdah("run", name, "--size", "smoke", "--cluster", "alpha", "--no-calibration", "--json").json()
    [one] = answer["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    assert all(check["passed"] for check in one["run"]["checks"])
    phase, _, metric = WORKLOADS[name].primary.partition("/")
    assert [sample for sample in one["samples"] if (sample["phase"], sample["metric"]) == (phase, metric)]
    known = {metric["name"] for metric in one["run"]["metrics"]}
    assert {sample["metric"] for sample in one["samples"]} <= known
    kept = Kept(Path(one["path"]))
    check_schemas(kept)
    for done in one["run"]["phases"]:
        tags = kept.path / "conf" / "clients" / done["name"] / "mapred-site.xml"
        assert done["name"] in tags.read_text(), "each phase has its own client configuration"
        assert done["jobs"]
    assert howdah("exec", "--name", "alpha", "--", "hdfs", "dfs", "-ls", "/howdah").ok().out.strip() == ""


def test_data_is_kept_and_used_again(howdah: Howdah, cluster: dict[str, Any]) -> None:
    def run() -> dict[str, Any]:
        options = ("--cluster", "alpha", "--no-calibration", "--no-probes", "--data", "reuse", "--json")
        one: dict[str, Any] = howdah("run", "terasort", "--size", "smoke", *options).json()["runs"][0]["run"]
        assert one["outcome"]["kind"] == "valid"
        return one

    first, second = run(), run()
    assert [phase["name"] for phase in first["phases"]] == ["gen", "sort", "validate"]
    assert [phase["name"] for phase in second["phases"]] == ["sort", "validate"]
    assert (first["dataset"]["reused"], second["dataset"]["reused"]) == (False, True)
    assert {**first["dataset"], "reused": True} == second["dataset"]
    assert first["trial"]["identity"] == second["trial"]["identity"]
    howdah("exec", "--name", "alpha", "--", "hdfs", "dfs", "-rm", "-r", "-skipTrash", "/howdah/data").ok()
