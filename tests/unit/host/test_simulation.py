"""Hosts in namespaces of this machine, and what is left of them: nothing, however they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from howdah.cluster.allocation.simulated import check_disks, check_rate, disks_again
from howdah.errors import HostProblem
from howdah.host import Host, operations, simulation
from howdah.host.agent.machine import fingerprint
from howdah.host.agent.sampler import Sampler
from howdah.host.agent.strays import ROOT
from howdah.host.channel import Channel, open_local
from howdah.host.launch.ssh import SshLauncher
from howdah.host.simulation import Simulated
from howdah.host.simulation.groups import Groups, hierarchies
from howdah.spec.simulation import Simulation
from tests.contract.test_host import wait_for

root = pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root")
NAMES = ("one", "two")


@contextmanager
def simulated(directory: Path, network: int | None = None, **of_each: Any) -> Iterator[Simulated]:
    made = simulation.start(directory / "sim", NAMES, Simulation(len(NAMES), network, **of_each))
    try:
        yield made
    finally:
        made.end()


@contextmanager
def opened(made: Simulated, name: str) -> Iterator[Host]:
    host = Channel(name, SshLauncher(name, None, sys.executable, ("-F", made.config)), silence=3)
    try:
        yield host
    finally:
        host.close()


def reaches(target: tuple[str, int]) -> bool:
    try:
        socket.create_connection(target, 1).close()
    except OSError:
        return False
    return True


def left_of(made: Simulated) -> list[str]:
    """Processes and network cards of simulated hosts that this machine still has."""
    number = made.addresses["one"].split(".")[2]
    cards = [card.name for card in Path("/sys/class/net").iterdir() if card.name == f"howdah-sim{number}"]
    config = str(Path(made.config).parent).encode()
    lines = {entry.parent.name: entry for entry in Path("/proc").glob("[0-9]*/cmdline")}
    found = []
    for pid, file in lines.items():
        try:
            if config in file.read_bytes():
                found.append(pid)
        except OSError:
            continue
    return cards + found


@root
@pytest.mark.promise("Simulated hosts have a name, a network and processes of their own", "reference/allocations")
def test_each_host_has_a_name_a_network_and_processes_of_its_own(tmp_path: Path) -> None:
    with simulated(tmp_path) as made:
        assert len(left_of(made)) > 3
        for name, address in made.addresses.items():
            with opened(made, name) as host:
                found = operations.identity(host)
                assert found.name == name
                assert found.addresses == {"lo": "127.0.0.1", "eth0": address}
                said = host.run(["sh", "-c", "ps -A | wc -l; ls /sys/class/net; getent hosts one"], timeout=20)
                processes, *names = said.stdout.decode().split()
                assert int(processes) < 20
                assert names == ["eth0", "lo", made.addresses["one"], made.addresses["one"], "one"]
        listed = set(fingerprint()["network"])
        assert listed.isdisjoint(left_of(made)), "another user's simulated hosts do not change this machine"
        numbers = {Path(f"/proc/{pid}/ns/pid") for pid in left_of(made) if pid.isdigit()}
        assert len({link.readlink() for link in numbers if link.exists()}) == 3
    assert not left_of(made)
    assert not (tmp_path / "sim").exists()


@root
@pytest.mark.promise("Nothing of simulated hosts is left, however their holder ends", "reference/allocations")
def test_a_holder_that_is_killed_takes_everything_with_it(tmp_path: Path) -> None:
    with simulated(tmp_path) as made, opened(made, "one") as host:
        process = host.start(["sleep", f"600.{os.getpid()}"], output=f"{tmp_path}/out")
        os.kill(made.holder, signal.SIGKILL)
        wait_for(lambda: not left_of(made))
        wait_for(lambda: process.poll() is not None)
        assert not simulation.runs(made.holder)


@root
@pytest.mark.promise("Nothing of simulated hosts is left, however their holder ends", "reference/allocations")
def test_the_control_groups_of_a_killed_holder_are_removed_by_the_next(tmp_path: Path) -> None:
    def groups_of(made: Simulated) -> set[tuple[Path, int]]:
        """With their inodes: another test's hosts may have the same number a moment later."""
        name = f"howdah-sim{made.addresses['one'].split('.')[2]}"
        places = {one.root / name for one in hierarchies().values()}
        return {(place, place.stat().st_ino) for place in places if place.exists()}

    with simulated(tmp_path / "first"), simulated(tmp_path / "second") as made:
        left = groups_of(made)
        assert left
        os.kill(made.holder, signal.SIGKILL)
        wait_for(lambda: not left_of(made))
    with simulated(tmp_path / "third"):
        assert not left & groups_of(made)


@root
def test_hosts_end_with_whoever_started_them(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from howdah.host import simulation; from howdah.spec.simulation import Simulation\n"
        f"made = simulation.start(Path('{tmp_path}/sim'), ('one',), Simulation(1)); print(made.holder, flush=True)\n"
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    holder = int(said.stdout)
    wait_for(lambda: not simulation.runs(holder))
    wait_for(lambda: not (tmp_path / "sim").exists())


@root
@pytest.mark.promise("`network=RATE` limits each card, and the payload shows it", "reference/allocations")
def test_a_card_has_its_rate_both_ways(tmp_path: Path) -> None:
    with simulated(tmp_path, 20_000_000) as made, opened(made, "one") as one, opened(made, "two") as two:
        # As before a cluster starts: both ways at once, and again if something took the processors for a moment.
        assert 0.9 * 20e6 < check_rate({"one": one, "two": two}, made.addresses, 20_000_000) < 1.01 * 20e6


@root
@pytest.mark.promise("Cards of simulated hosts are in the time series", "how-to/simulate")
def test_the_machine_sees_processes_and_cards_of_hosts(tmp_path: Path) -> None:
    with simulated(tmp_path) as made, opened(made, "one") as one, closing(open_local("machine")) as machine:
        process = one.start(
            ["sleep", "600"], output=f"{tmp_path}/out", env={ROOT: f"{tmp_path}/one", "PATH": "/usr/bin"}
        )
        wait_for(lambda: operations.outer_pids(machine, f"{tmp_path}/one", [process.pid]) != {})
        outer = operations.outer_pids(machine, f"{tmp_path}/one", [process.pid])[process.pid]
        assert b"sleep" in Path(f"/proc/{outer}/cmdline").read_bytes()
        assert operations.outer_pids(machine, f"{tmp_path}/two", [process.pid]) == {}
        root = {"pid": outer, "role": "datanode", "network": "one"}
        sampler = Sampler([root], [])
        try:
            (before,) = (point for point in sampler.sample() if point.get("interface") == "one/eth0")
            operations.swallow(one, made.addresses["one"], 20999, seconds=10)
            operations.payload_rate(machine, made.addresses["one"], 20999, seconds=0.5, ahead=1 << 20)
            (after,) = (point for point in sampler.sample() if point.get("interface") == "one/eth0")
        finally:
            sampler.close()
        assert after["receive_bytes"] - before["receive_bytes"] > 1 << 20


def hosts_in(sampler: Sampler) -> dict[str, dict[str, Any]]:
    """What the control groups of simulated hosts count now."""
    return {point["host"]: point for point in sampler.sample() if point["kind"] == "host"}


@root
@pytest.mark.skipif(not os.access("/sys/fs/cgroup/cpuacct", os.W_OK), reason="no control groups of version 1")
@pytest.mark.promise("Processor time and memory of each simulated host are in the time series", "how-to/simulate")
def test_what_a_host_works_is_its_own(tmp_path: Path) -> None:
    with simulated(tmp_path) as made, opened(made, "one") as one, opened(made, "two") as two:
        pids = {}
        with closing(open_local("machine")) as machine:
            for host in (one, two):
                root_of = f"{tmp_path}/{host.name}"
                inner = host.start(
                    ["sleep", "600"], output=f"{tmp_path}/out", env={ROOT: root_of, "PATH": "/usr/bin"}
                ).pid
                wait_for(lambda there=root_of, pid=inner: operations.outer_pids(machine, there, [pid]) != {})
                pids[host.name] = operations.outer_pids(machine, root_of, [inner])[inner]
        sampler = Sampler([{"pid": pid, "role": "datanode", "network": name} for name, pid in pids.items()], [])
        try:
            before = hosts_in(sampler)
            busy = one.start(["timeout", "1", "sh", "-c", "while :; do :; done"], output=f"{tmp_path}/busy")
            wait_for(lambda: busy.poll() is not None)
            after = hosts_in(sampler)
            filled = "import time; held = b'x' * (200 << 20); print(len(held), flush=True); time.sleep(600)"
            one.start(["python3", "-c", filled], output=f"{tmp_path}/filled")
            wait_for(lambda: Path(tmp_path, "filled").stat().st_size > 0)
            full = hosts_in(sampler)
        finally:
            sampler.close()
    used = {name: sum(after[name][one] - before[name][one] for one in ("cpu_user", "cpu_system")) for name in after}
    assert set(used) == {"one", "two"}
    assert 0.3 < used["one"] < 1.5
    assert used["two"] < 0.2
    more = {name: full[name]["memory_anonymous"] - before[name]["memory_anonymous"] for name in full}
    assert 200 << 20 <= more["one"] < 300 << 20
    assert more["two"] < 20 << 20
    assert all(point["memory_cached"] >= 0 for point in after.values())


@root
@pytest.mark.promise("The network of a simulated host can be cut, joined and slowed", "how-to/faults")
def test_a_cable_is_cut_and_joined_and_a_card_is_slow(tmp_path: Path) -> None:
    with simulated(tmp_path) as made:
        there = (made.addresses["two"], 22)
        socket.create_connection(there, 2).close()
        made.disturb("cut", "two")
        with pytest.raises(OSError, match=r"timed out|No route"):
            socket.create_connection(there, 0.5).close()
        socket.create_connection((made.addresses["one"], 22), 2).close()
        made.disturb("join", "two")
        wait_for(lambda: reaches(there))
        made.disturb("slow", "two", 20_000_000)
        with opened(made, "one") as one, opened(made, "two") as two:
            assert check_rate({"one": one, "two": two}, made.addresses, 20_000_000) < 1.01 * 20e6
        with pytest.raises(HostProblem, match=r"\[two\] .*tbf"):
            made.disturb("slow", "two", -1)
        made.disturb("join", "two")  # Its holder goes on.


@root
@pytest.mark.promise("A disk or the processors of one simulated host can become slow", "how-to/faults")
def test_processors_and_disks_are_slow_and_get_back_what_they_had(tmp_path: Path) -> None:
    def spent(host: Host) -> float:
        """Processor seconds in a second of a busy program."""
        busy = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nprint(time.process_time())"
        return float(host.run(["python3", "-c", busy], timeout=60).stdout)

    def share(host: Host) -> float | None:
        found = operations.fingerprint(host, ())["control_groups"]
        return cast(float | None, found["cpu_cores"])

    known = hierarchies()
    with simulated(tmp_path, disks=1) as made, opened(made, "one") as one, opened(made, "two") as two:
        [disk] = made.disks["two"]
        number = (Path("/sys/block") / disk["device"] / "dev").read_text().strip()
        rates = Groups("howdah-none", None, None, known).rates
        usual = share(two)
        made.disturb("slow", "two", 0.2, "cpus")
        assert (share(one), share(two)) == (usual, 0.2)
        assert spent(two) < 0.35, "a fifth of a second, and what is handed out at first"
        made.disturb("slow", "two", 20e6, "disk_rate")
        assert operations.disk_rates(two, disk["directory"])["write"] < 1.2 * 20e6
        with pytest.raises(HostProblem, match=r"\[two\] a host cannot have a share of cpu"):
            made.disturb("slow", "two", 1e-9, "cpus")
        made.disturb("restore", "two")
        assert share(two) == usual
        assert number not in rates()
    assert not list(known["cpu"].root.glob("howdah-sim*/two"))


@root
def test_hosts_that_are_gone_cannot_be_disturbed(tmp_path: Path) -> None:
    with simulated(tmp_path) as made:
        os.kill(made.holder, signal.SIGKILL)
        with pytest.raises(HostProblem, match="the simulated hosts are gone"):
            made.disturb("cut", "two")


@root
def test_two_simulations_side_by_side_have_networks_of_their_own(tmp_path: Path) -> None:
    with simulated(tmp_path / "a") as first, simulated(tmp_path / "b") as second:
        assert not set(first.addresses.values()) & set(second.addresses.values())
        with opened(first, "one") as host:
            missed = operations.unreachable(host, [(second.addresses["one"], 22)], timeout=1)
        assert missed


@root
def test_a_directory_with_the_rest_of_another_simulation_is_used_again(tmp_path: Path) -> None:
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "key").write_text("old")
    with simulated(tmp_path) as made, opened(made, "two") as host:
        assert operations.identity(host).name == "two"


@root
def test_what_cannot_be_made_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(HostProblem, match=r"hosts cannot be simulated here: .*rate"):
        simulation.start(tmp_path / "sim", NAMES, Simulation(2, -1))
    assert not (tmp_path / "sim").exists()
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def loops(directory: Path) -> list[str]:
    """The devices that stand for files in a directory."""
    said = subprocess.run(
        ["losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE"], capture_output=True, check=True
    )
    return [line.split()[0] for line in said.stdout.decode().splitlines() if str(directory) in line]


@root
@pytest.mark.promise("Simulated hosts may have parts of the processors and of the memory", "how-to/simulate")
def test_each_host_has_its_share_of_processors_and_memory(tmp_path: Path) -> None:
    with simulated(tmp_path, cpus=0.5, memory=1 << 30) as made, opened(made, "two") as host:
        name = f"howdah-sim{made.addresses['one'].split('.')[2]}"
        known = hierarchies()
        groups = {known[controller].root / name / "two" for controller in ("cpu", "cpuacct", "memory")}
        assert all(group.is_dir() for group in groups)
        found = operations.fingerprint(host, ())["control_groups"]
        assert (found["cpu_cores"], found["memory"]) == (0.5, 1 << 30)
        facts = operations.capacity(host)
        assert (facts.processors, facts.memory) == (1, 1 << 30)
        busy = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nprint(time.process_time())"
        spent = float(host.run(["python3", "-c", busy], timeout=20).stdout)
        assert spent < 0.65, "half of a second, and what is handed out at first"
        eating = ["python3", "-c", "b = bytearray(3 << 30)"]
        assert host.run(eating, timeout=60).code != 0, "there is no more memory than that"
    assert not any(group.exists() for group in groups)
    assert not any(group.parent.exists() for group in groups)


@root
@pytest.mark.promise("Simulated hosts may have disks, each of a rate", "how-to/simulate")
def test_each_host_has_disks_of_a_rate_which_go_with_it(tmp_path: Path) -> None:
    with simulated(tmp_path, disks=2, disk_rate=20_000_000) as made, opened(made, "two") as host:
        assert len(loops(tmp_path)) == 4
        first, second = made.disks["two"]
        assert {first["device"], second["device"]} <= {name.removeprefix("/dev/") for name in loops(tmp_path)}
        # As before a cluster starts: a limit lets a little more through now and then, and is measured again.
        found = check_disks({"two": host}, {"two": [first]}, 20_000_000)[first["device"]]
        rates = {way: found[way] for way in ("read", "write")}
        assert all(0.9 * 20e6 < rate < 1.01 * 20e6 for rate in rates.values()), rates
        # What the kernel writes back by itself is held to the rate, too.
        writing = f"head -c 30000000 /dev/zero > {second['directory']}/f; time -p sync -f {second['directory']}"
        said = host.run(["bash", "-c", writing], timeout=60)
        seconds = float(said.stderr.decode().split()[1])
        assert seconds > 1.0, "30 MB at 20 MB/s"
        assert operations.mounted_type(host, second["directory"]) == "xfs"
        assert not list(Path(second["directory"]).iterdir()), "only the host has it mounted"
        known = {disk["device"]: {**disk, "host": "two", **rates} for disk in (first, second)}
        made.disturb("disk", "two")
        again = disks_again({"two": host}, known)
        assert again is not None
        assert again[1] > 1e6, "the one that is gone is left out"
        assert host.run(["touch", f"{second['directory']}/g"], timeout=20).code != 0, "that disk is gone"
        assert host.run(["touch", f"{first['directory']}/g"], timeout=20).code == 0
        os.kill(made.holder, signal.SIGKILL)
        wait_for(lambda: not loops(tmp_path))


@root
@pytest.mark.skipif(
    hierarchies().get("io") not in {one for one in hierarchies().values() if one.version == 1},
    reason="only in version 1 does a rate outlive its group",
)
def test_a_rate_of_a_device_that_is_gone_is_taken_away_by_the_next(tmp_path: Path) -> None:
    rates = Groups("howdah-none", None, None, hierarchies()).rates

    def numbers(made: Simulated) -> set[str]:
        return {f"7:{disk['device'].removeprefix('loop')}" for disks in made.disks.values() for disk in disks}

    for _ in range(5):
        with simulated(tmp_path, disks=1, disk_rate=21_000_000) as made:
            os.kill(made.holder, signal.SIGKILL)
            wait_for(lambda: not loops(tmp_path))
        if {rates().get(one) for one in numbers(made)} == {21_000_000}:
            break  # Otherwise, hosts of another test began a moment ago.
    else:
        pytest.fail("nobody was there to take the rate away")
    with simulated(tmp_path, disks=1, disk_rate=31_000_000) as made:
        assert {rates()[one] for one in numbers(made)} == {31_000_000}
        assert 21_000_000 not in rates().values()
    assert not {21_000_000, 31_000_000} & set(rates().values())


def test_what_is_needed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        with pytest.raises(HostProblem, match="need root"):
            simulation.check_possible()
        return
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(HostProblem, match=r"need ip, nsenter, setpriv, ssh, ssh-keygen, tc, unshare") as caught:
        simulation.check_possible()
    assert "apt install iproute2 openssh-client util-linux" in str(caught.value.hint)
