"""A cluster on hosts that are simulated, with network cards of a given rate."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.host import simulation
from howdah.store import read_run
from tests.system.running import Howdah, run

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root"),
]
RATE = 100e6
MEMORY = 6 * 10**9 >> 20 << 20


@pytest.fixture(scope="module")
def simulated(howdah: Howdah) -> Iterator[dict[str, Any]]:
    """What `up --json` says of a cluster on three hosts."""
    manifest: dict[str, Any] = howdah("up", "--name", "sim", "--on", "sim:3,network=100mbit", "--json").json()
    yield manifest
    howdah("down", "--name", "sim")


@pytest.mark.promise("`network=RATE` limits each card, and the payload shows it", "reference/allocations")
def test_the_cluster_is_on_hosts_whose_network_has_its_rate(howdah: Howdah, simulated: dict[str, Any]) -> None:
    assert [node["host"] for node in simulated["plan"]["nodes"]] == ["sim1", "sim2", "sim3"]
    assert len({node["address"] for node in simulated["plan"]["nodes"]}) == 3
    assert 0.9 * RATE < simulated["allocation"]["payload"] < 1.01 * RATE
    said = howdah("status").ok().out
    assert "The hosts are simulated on this machine" in said
    assert "Network cards: 100 Mb/s (payload 9" in said
    assert "Not secured" not in said


@pytest.mark.promise("TeraSort validates on simulated hosts", "reference/allocations")
def test_terasort_validates_and_says_that_hosts_are_simulated(howdah: Howdah, simulated: dict[str, Any]) -> None:
    fault = ("--factor", "faults=slow:sim2:20mbit@sort:10%")  # It is over when the phase is.
    record = howdah("run", "terasort", "--size", "smoke", "--cluster", "sim", *fault, "--json").json()
    stored = read_run(Path(record["runs"][0]["path"]))
    assert stored.run.outcome.kind == "valid"
    assert any("hosts are simulated" in caveat.text for caveat in stored.run.caveats)
    assert [check.passed for check in stored.run.checks if check.name == "network"] == [True]
    assert [check.detail for check in stored.run.checks if check.name == "fault"] == ["it happened"]
    asked = stored.run.trial.settings["cluster"]["allocation"]
    assert {"kind": "sim", "hosts": 3, "network": 100_000_000}.items() <= asked.items()
    assert not {"holder", "config", "payload"} & set(asked)


@pytest.mark.promise("A daemon of a host can be killed, stopped and continued", "how-to/faults")
def test_a_daemon_dies_and_a_cut_that_is_joined_in_time_loses_nothing(
    howdah: Howdah, simulated: dict[str, Any]
) -> None:
    howdah("fault", "cut", "sim2", "--name", "sim").ok()
    time.sleep(3)
    howdah("fault", "join", "sim2", "--name", "sim").ok()
    howdah("fault", "stop", "sim3", "--daemon", "nodemanager", "--name", "sim").ok()
    howdah("fault", "continue", "sim3", "--daemon", "nodemanager", "--name", "sim").ok()
    howdah("fault", "kill", "sim3", "--daemon", "datanode", "--name", "sim").ok()
    deadline = time.monotonic() + 20
    while not (lost := howdah("status", "--name", "sim", "--json").json()[0]["lost"]) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert [(one["role"], one["place"], one["host"]) for one in lost] == [("datanode", "node3", "sim3")]
    again = howdah("fault", "kill", "sim3", "--daemon", "datanode", "--name", "sim")
    assert again.code == 2
    assert "no datanode of the cluster runs on sim3" in again.err
    assert "no host 'sim9'" in howdah("fault", "cut", "sim9", "--name", "sim").err


def test_down_leaves_nothing(howdah: Howdah, simulated: dict[str, Any]) -> None:
    howdah("down", "--name", "sim").ok()
    assert not simulation.runs(simulated["allocation"]["holder"])
    assert not Path(simulated["allocation"]["config"]).exists()
    for quarters in simulated["plan"]["quarters"].values():
        assert not Path(quarters["root"]).exists()
    number = simulated["plan"]["masters"]["address"].split(".")[2]
    assert not Path(f"/sys/class/net/howdah-sim{number}").exists()


@pytest.mark.promise("An experiment with hosts that the kernel cannot make is refused", "how-to/simulate")
def test_a_kernel_without_control_groups_is_told_before_the_first_run(howdah: Howdah, tmp_path: Path) -> None:
    file, out = tmp_path / "shares.yaml", tmp_path / "out"
    file.write_text(
        "question: How much does a share cost?\nworkload: { terasort: { size: smoke } }\n"
        'cluster: { on: "sim:2" }\nfactors: { cpus: [0.5, 1] }\n'
    )
    without = 'umount --recursive --lazy /sys/fs/cgroup && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", without, "sh", *howdah.command, "experiment", "run"]
    said = run([*command, str(file), "--out", str(out)], env=howdah.environment)
    assert said.code == 1, said.err
    assert "a host cannot have a share of cpu: this machine has no control groups for it" in said.err
    assert not out.exists()


@pytest.mark.promise("A run on simulated hosts knows their disks and shares, and checks them", "how-to/simulate")
def test_terasort_validates_where_hosts_have_disks_and_shares_of_their_own(howdah: Howdah) -> None:
    on = "sim:2,cpus=0.9,memory=6G,disks=2,disk_rate=10MB"
    record = howdah("run", "terasort", "--size", "smoke", "--on", on, "--json").json()
    stored = read_run(Path(record["runs"][0]["path"]))
    assert stored.run.outcome.kind == "valid", stored.run.outcome
    checks = {check.name: check for check in stored.run.checks}
    assert checks["disks"].passed
    assert checks["shares"].detail == f"of the machine, each host has cpus 0.9, memory {MEMORY}"
    asked = stored.run.trial.settings["cluster"]["allocation"]
    assert asked == {"kind": "sim", "hosts": 2, "network": None} | {
        "cpus": 0.9,
        "memory": MEMORY,
        "disks": 2,
        "disk_rate": 10_000_000,
    }
    [(_, points)] = stored.series()
    seen = {point["device"] for point in points if point.get("kind") == "disk"}
    known = {f"{one['host']}/{device}" for device, one in stored.run.cluster["allocation"]["devices"].items()}
    assert seen == known
    assert len(known) == 4
    bounds = {(one.metric, one.role): one.value for one in stored.samples if one.phase == "calibration"}
    assert all(9e6 < bounds["bound_disk_write", disk] < 10.1e6 for disk in known)
    assert [bounds["bound_cpu_cores", host] for host in ("sim1", "sim2")] == [0.9, 0.9]
    assert bounds["bound_cpu_cores", "machine"] > 0.9, "clients run outside of the hosts' shares"
    written = [point["write_bytes"] for point in points if point.get("kind") == "disk"]
    assert max(written) > 1_000_000
