"""Every workload on several hosts of one machine."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.store import read_run
from howdah.workload.registry import WORKLOADS
from tests.lab import Lab, lab
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


@pytest.fixture
def hosts_of_another(tmp_path: Path) -> Iterator[tuple[Lab, Path]]:
    """Hosts where one is somebody else, and has another Python; and the list of them."""
    place = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="howdah-"))
    place.chmod(0o755)
    try:
        with lab(place, ("red", "green", "blue"), user="ann") as made:
            file = tmp_path / "hosts.yaml"
            file.write_text("network: eth*\npython: /usr/bin/python3\nhosts: [red, green, blue]\n")
            yield made, file
    finally:
        shutil.rmtree(place)
        shutil.rmtree("/tmp/howdah-ann", ignore_errors=True)


@pytest.mark.skipif(os.getuid() != 0, reason="network namespaces are made by root")
@pytest.mark.promise("MapReduce, Streaming and Spark run on hosts of another user", "tutorial/many-hosts")
def test_programs_are_valid_on_hosts_of_another_user(
    howdah: Howdah, hosts_of_another: tuple[Lab, Path], tmp_path: Path
) -> None:
    hosts, file = hosts_of_another
    manifest = howdah("up", "--name", "his", "--on", f"hosts:{file}", "--json", env=hosts.environment).json()
    owners = {Path(f"/proc/{daemon['pid']}").stat().st_uid for daemon in manifest["daemons"]}
    assert owners == {hosts.uid}
    assert manifest["plan"]["security"] == "authentication"
    assert "kdc" in {daemon["role"] for daemon in manifest["daemons"]}, "it needs no root"
    with pytest.raises(KeyError):
        pwd.getpwuid(hosts.uid)
    programs = (("terasort",), ("wordcount", "--engine", "streaming"), ("wordcount", "--engine", "spark"))
    try:
        for number, program in enumerate((*programs, ("spark-terasort",))):
            out = tmp_path / str(number)
            arguments = ("--size", "smoke", "--cluster", "his", "--out", str(out), "--no-report")
            howdah("run", *program, *arguments, env=hosts.environment).ok()
            [run] = [read_run(place).run for place in out.iterdir()]
            assert run.outcome.kind == "valid"
    finally:
        howdah("down", "--name", "his", env=hosts.environment).ok()
    assert not Path(manifest["plan"]["quarters"]["red"]["root"]).exists()
