"""A real Slurm over simulated hosts: a controller on this machine, and a daemon on each host."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from howdah.host import simulation
from howdah.spec.simulation import Simulation
from tests.meters.curve import joules, watts

_SECONDS = 30.0

_TORQUE = "/usr/lib/x86_64-linux-gnu/slurm-wlm/spank_pbs.so"
_PROLOG = """\
#!/bin/sh
[ -z "$PBS_JOBID" ] || echo export PBS_NODEFILE=$(/usr/bin/generate_pbs_nodefile)
"""

_ENERGY = """\
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
AcctGatherEnergyType=acct_gather_energy/pm_counters
AcctGatherNodeFreq=1
"""
"""Slurm's accounting of energy, from the files that Cray's kernels have."""
_COUNTERS = """\
place=$1 files=$2; shift 2
mkdir -p $place && mount -t tmpfs sys $place
for one in /sys/*; do mkdir $place/${one##*/}; mount --rbind $one $place/${one##*/}; done
mkdir -p $place/cray/pm_counters && mount --bind $files $place/cray/pm_counters
mount --move $place /sys
exec "$@"
"""
"""Gives a program a /sys with these files of a Cray's."""

_CONF = """\
ClusterName=howdah
SlurmctldHost={head}({address})
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
KillWait={kill_wait}
MinJobAge=300
SlurmctldTimeout=30
SlurmdTimeout=30
MessageTimeout=10
PlugStackConfig={directory}/plugstack.conf
TaskProlog={directory}/prolog
{extra}
{nodes}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=short Nodes=ALL Default=YES MaxTime=60 State=UP OverSubscribe=FORCE:4 PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=60 State=UP PriorityTier=2 PreemptMode=OFF
"""


@dataclass(frozen=True)
class Slurm:
    """Hosts by name with their addresses; `environment` is with which its commands, and ssh, reach them."""

    addresses: Mapping[str, str]
    directory: Path
    environment: Mapping[str, str]

    def servers(self) -> tuple[int, ...]:
        """The ssh server of each host, which is in all of its namespaces; in the order of their names."""
        found: dict[str, int] = {}
        for one in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (one / "cmdline").read_bytes().decode(errors="replace")
                if f"{self.directory}/hosts/sshd_config" in words and "listener" in words:
                    command = ("nsenter", "-t", one.name, "-u", "hostname")
                    name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
                    found[name] = int(one.name)
        assert set(found) == set(self.addresses), found
        return tuple(found[name] for name in self.addresses)

    def run(
        self, *command: str, check: bool = True, timeout: float = 60, environment: Mapping[str, str] | None = None
    ) -> str:
        """What a command of Slurm says."""
        whole = {**os.environ, **self.environment, **(environment or {})}
        done = subprocess.run(command, env=whole, capture_output=True, text=True, timeout=timeout, check=False)
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def wait_for_state(self, job: str, *states: str, seconds: float = 120.0) -> str:
        """The job's state, once it is one of these."""
        deadline = time.monotonic() + seconds
        while True:
            found = self.state(job)
            if found in states:
                return found
            assert time.monotonic() < deadline, f"job {job} is {found}, and not {states}"
            time.sleep(0.2)

    def state(self, job: str) -> str:
        """What Slurm calls the state of a job."""
        said = self.run("scontrol", "show", "job", "-o", job)
        return said.partition("JobState=")[2].split()[0]


@contextmanager
def slurm(
    directory: Path,
    names: Sequence[str],
    *,
    kill_wait: int = 30,
    extra: str = "",
    energy: bool = False,
    called: str = "{}",
) -> Iterator[Slurm]:
    """So many hosts with a Slurm whose files are in `directory`; all of it is gone afterwards. With `energy`, every
    host draws the power of `tests.meters.curve`. Slurm has the names of `called`, in which the hosts' own ones are."""
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as made:
        hosts = simulation.start(directory / "hosts", names, Simulation(len(names)))
        made.callback(hosts.end)
        network = next(iter(hosts.addresses.values())).rpartition(".")[0]
        (directory / "state").mkdir()
        _munge(made, directory)
        number = int(network.rpartition(".")[2])
        text = _CONF.format(
            head="head",
            address=f"{network}.254",
            directory=directory,
            port=16000 + number,
            node_port=17000 + number,
            kill_wait=kill_wait,
            extra=extra + (_ENERGY if energy else ""),
            nodes=_nodes(hosts.addresses, called),
        )
        conf = directory / "slurm.conf"
        conf.write_text(text)
        (directory / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        # What a job of PBS has: variables by the plugin, the file of its nodes by the prolog.
        (directory / "plugstack.conf").write_text(f"optional {_TORQUE}\n" if Path(_TORQUE).exists() else "")
        (directory / "prolog").write_text(_PROLOG)
        (directory / "prolog").chmod(0o755)
        environment = {"SLURM_CONF": str(conf), "PATH": f"{_ssh(directory, hosts.config)}:{os.environ['PATH']}"}
        whole = {**os.environ, **environment}
        naming = 'hostname head; exec "$@"'
        _spawn(
            made, directory / "controller.log", whole, "unshare", "--uts", "sh", "-c", naming, "sh",
            "/usr/sbin/slurmctld", "-D", "-c", "-f", str(conf),
        )  # fmt: skip
        for name in names:
            daemon = f"/usr/sbin/slurmd -D -f {conf}"
            if energy:
                files = made.enter_context(_counting(directory / f"counters-{name}"))
                daemon = f"unshare --mount sh -c '{_COUNTERS}' sh {directory}/sys-{name} {files} {daemon}"
            there = f"SLURM_CONF={conf} exec {daemon}"
            _spawn(made, directory / f"{name}.log", whole, "ssh", "-F", hosts.config, name, there)
        found = Slurm(hosts.addresses, directory, environment)
        deadline = time.monotonic() + _SECONDS
        while found.run("sinfo", "-h", "-N", "-p", "short", "-o", "%T", check=False).split() != ["idle"] * len(names):
            assert time.monotonic() < deadline, (directory / "slurmctld.log").read_text()
            time.sleep(0.1)
        yield found


@contextmanager
def _counting(directory: Path) -> Iterator[Path]:
    """A directory with the power and the energy of a host, by the curve, written ten times a second."""
    directory.mkdir()
    began, stop = time.time(), threading.Event()

    def write() -> None:
        now = time.time()
        for name, text in (("power", f"{watts(now):.0f} W"), ("energy", f"{joules(began, now):.0f} J")):
            fresh = directory / f".{name}"
            fresh.write_text(f"{text} {now * 1e6:.0f} us\n")
            fresh.replace(directory / name)

    def follow() -> None:
        while not stop.wait(0.1):
            write()

    write()
    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield directory
    finally:
        stop.set()
        thread.join()


def _nodes(addresses: Mapping[str, str], called: str) -> str:
    """The lines of slurm.conf about hosts."""
    return "\n".join(
        f"NodeName={called.format(name)} NodeHostname={name} NodeAddr={address} "
        f"Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=16000{_features(number, len(addresses))}"
        for number, (name, address) in enumerate(addresses.items())
    )


def _features(number: int, hosts: int) -> str:
    """By which a job may ask for certain hosts: all but the last are `low`, all but the first are `high`."""
    found = (*(("low",) if number < hosts - 1 else ()), *(("high",) if number else ()))
    return f" Feature={','.join(found)}" if found else ""


def _munge(made: ExitStack, directory: Path) -> None:
    key = directory / "munge.key"
    key.write_bytes(os.urandom(64))
    key.chmod(0o400)
    names = {name: f"--{name}={directory}/munge.{name}" for name in ("socket", "log-file", "pid-file", "seed-file")}
    command = ("/usr/sbin/munged", "--foreground", "--force", f"--key-file={key}", *names.values())
    _spawn(made, directory / "munged.log", dict(os.environ), *command)
    deadline = time.monotonic() + _SECONDS
    while not (directory / "munge.socket").exists():
        assert time.monotonic() < deadline, (directory / "munged.log").read_text()
        time.sleep(0.05)


def _ssh(directory: Path, config: str) -> Path:
    """A directory whose `ssh` reaches the hosts."""
    place = directory / "bin"
    place.mkdir()
    (place / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
    (place / "ssh").chmod(0o755)
    return place


def _spawn(made: ExitStack, log: Path, environment: Mapping[str, str], *command: str) -> None:
    said = made.enter_context(log.open("wb"))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment)

    def end() -> None:
        process.terminate()
        process.wait(20)

    made.callback(end)
