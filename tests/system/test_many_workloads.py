"""Every workload on several hosts of one machine."""

from __future__ import annotations

import pytest

from howdah.store import read_run
from howdah.workload.registry import WORKLOADS
from tests.system.running import Howdah

pytestmark = [pytest.mark.daemons, pytest.mark.soak(part="hosts")]


@pytest.mark.promise("Every workload runs on several hosts", "reference/allocations")
def test_all_workloads_are_valid_on_three_hosts(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("runs")
    said = howdah("run", "all", "--on", "channels:3", "--size", "smoke", "--out", str(out), "--no-report", timeout=2400)
    said.ok()
    runs = [read_run(place).run for place in sorted(out.iterdir()) if (place / "run.json").exists()]
    assert {run.outcome.kind for run in runs} == {"valid"}, said.err
    ran = {run.trial.workload for run in runs}
    left_out = {name for name in WORKLOADS if f"{name}:" in said.err}
    assert ran | left_out >= {name for name, one in WORKLOADS.items() if one.sizes}
    assert "terasort" in ran
