"""The process that holds simulated hosts: it makes them, reports their addresses, and waits for the end of its input.

Every host is a process tree in namespaces of its own, and so is the switch between the hosts. The kernel kills each of
these processes when this one dies (PR_SET_PDEATHSIG). A namespace goes with its last process: its cards, the switch and
this machine's way to it.
"""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from howdah.host.agent.machine import SIMULATED
from howdah.host.simulation.disks import Disk, Disks, run
from howdah.host.simulation.groups import Groups, Refused, group_names, hierarchies
from howdah.spec.simulation import Simulation

_SSHD = "/usr/sbin/sshd"
_START_SECONDS = 20.0
_END_SECONDS = 5.0
_NETWORKS = range(1, 255)
_BURST, _LATENCY = "256kb", "50ms"
"""Size and latency of the token bucket. With 256 KiB, the TCP payload is 94 to 96 % of the rate, from 100 Mb/s to 1
Gb/s."""

# The first process of a host: makes the machine look like another one, and becomes its ssh server.
_INIT = """\
set -e
hostname {name}
mount --rbind /sys/fs/cgroup {directory}/cgroup
mount -t sysfs sysfs /sys
mount --rbind {directory}/cgroup /sys/fs/cgroup
umount -l {directory}/cgroup
mount --bind {directory}/hosts /etc/hosts
mkdir -p /tmp/hsperfdata_root
mount -t tmpfs -o mode=755 tmpfs /tmp/hsperfdata_root
{mounts}
read _
exec {sshd} -D -e -f {directory}/sshd_config
"""

_SERVER = """\
Port 22
HostKey {directory}/host_key
PidFile none
AuthorizedKeysFile {directory}/key.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
PermitUserRC no
MaxStartups 100
"""

_CLIENT = """\
Host *
  User root
  IdentityFile {directory}/key
  IdentitiesOnly yes
  UserKnownHostsFile {directory}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


class Holder:
    """The hosts, while they run."""

    def __init__(self, directory: Path, names: Sequence[str], wish: Simulation) -> None:
        self._directory = directory
        self._names = names
        self._wish = wish
        self._rate = wish.network
        self._disks = Disks(directory, names, wish.disks or 0, wish.disk_rate)
        self._groups: Groups | None = None
        self._made: dict[str, Sequence[Disk]] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._reservation = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._way: str | None = None
        self._switch: tuple[str, ...] = ()
        self._cards: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._hosts: dict[str, int] = {}
        self._slow: dict[str, set[str]] = {}

    def start(self) -> Mapping[str, Any]:
        """Make everything; return the answer to whoever asked. Raises Refused."""
        number = self._free_network()
        prefix = f"10.213.{number}"
        _remove_forgotten()
        self._groups = Groups(f"{SIMULATED}{number}", self._wish.cpus, self._wish.memory, hierarchies())
        self._groups.forget_rates()
        addresses = {name: f"{prefix}.{place}" for place, name in enumerate(self._names, start=1)}
        self._write_files(addresses)
        switch = self._spawn("unshare", "--net", "sleep", "infinity")
        within = self._switch = ("nsenter", "-t", str(switch.pid), "-n")
        run(*within, "ip", "link", "add", "switch", "type", "bridge")
        run(*within, "ip", "link", "set", "switch", "up")
        outside = self._way = f"{SIMULATED}{number}"
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", "uplink", "netns", str(switch.pid))
        run(*within, "ip", "link", "set", "uplink", "master", "switch", "up")
        run("ip", "addr", "add", f"{prefix}.254/24", "dev", outside)
        run("ip", "link", "set", outside, "up")
        for place, (name, address) in enumerate(addresses.items(), start=1):
            self._start_host(name, address, f"card{place}")
        for name, address in addresses.items():
            self._wait_for(name, address)
        disks = {
            name: [{"directory": str(disk.directory), "device": self._disks.hold(disk, self._groups)} for disk in made]
            for name, made in self._made.items()
        }
        return {"addresses": addresses, "config": str(self._directory / "client"), "disks": disks}

    def end(self) -> None:
        """Stop everything and remove the files."""
        if self._way is not None:  # The kernel would get round to it a moment later.
            subprocess.run(("ip", "link", "del", self._way), stderr=subprocess.DEVNULL, check=False)
        for process in reversed(self._processes):
            process.kill()
        for process in self._processes:
            process.wait()
        if self._groups is not None:
            self._disks.release(self._groups)
            self._remove(self._groups)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _remove(self, groups: Groups) -> None:
        """Remove the groups. Their processes may be about to end."""
        deadline = time.monotonic() + _END_SECONDS
        while not groups.remove() and time.monotonic() < deadline:
            time.sleep(0.01)

    def _free_network(self) -> int:
        """Return the number of a network that neither another simulation nor this machine itself has."""
        used = run("ip", "-4", "-o", "addr", "show")
        for number in _NETWORKS:
            if f" 10.213.{number}." in used:
                continue
            if _reserve(self._reservation, number):
                return number
        raise Refused("all networks from 10.213.1.0 to 10.213.254.0 are taken")

    def _write_files(self, addresses: Mapping[str, str]) -> None:
        directory = self._directory
        for name in ("host_key", "key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "howdah simulation", "-f", str(directory / name))
        key = (directory / "host_key.pub").read_text()
        (directory / "known_hosts").write_text("".join(f"{address} {key}" for address in addresses.values()))
        hosts = "".join(f"Host {name}\n  HostName {address}\n  Port 22\n" for name, address in addresses.items())
        (directory / "client").write_text(hosts + _CLIENT.format(directory=directory))
        (directory / "sshd_config").write_text(_SERVER.format(directory=directory))
        # Whoever asks for the name of an address is told the address, which means something outside, too.
        lines = "".join(f"{address} {address} {name}\n" for name, address in addresses.items())
        (directory / "hosts").write_text(f"127.0.0.1 localhost\n::1 localhost\n{lines}")
        (directory / "cgroup").mkdir()
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)

    def disturb(self, kind: str, name: str, rate: float | None, resource: str) -> None:
        """Cut a host's cable, join it again, slow one of its resources, give all of them their own rates again, or take
        its last disk away. Raises Refused."""
        card = self._cards[name][0]
        if kind == "slow":
            self._slow.setdefault(name, set()).add(resource)
            self._pace(name, resource, rate)
        elif kind == "restore":
            for key in sorted(self._slow.pop(name, set())):
                self._pace(name, key, getattr(self._wish, key))
        elif kind == "disk":
            lost = self._made[name][-1].directory
            # What reads or writes there from now on is told of an error of the device.
            run("nsenter", "-t", str(self._hosts[name]), "-m", "xfs_io", "-x", "-c", "shutdown", str(lost))
        else:
            run(*self._switch, "ip", "link", "set", card, "down" if kind == "cut" else "up")

    def _pace(self, name: str, resource: str, rate: float | None) -> None:
        """Set the rate of a host's card, of each of its disks, or of its processors; None for no limit."""
        assert self._groups is not None
        if resource == "network":
            self._shape(*self._cards[name], None if rate is None else round(rate))
        elif resource == "cpus":
            self._groups.set_cpus(name, rate)
        else:
            for disk in self._made[name]:
                self._disks.set_rate(disk.device(), None if rate is None else round(rate), self._groups)

    def _shape(self, card: str, within: Sequence[str], rate: int | None) -> None:
        """Set the rate of a card; None removes it."""
        for there, device in ((self._switch, card), (within, "eth0")):
            if rate is not None:
                bucket = ("tbf", "rate", f"{rate}bit", "burst", _BURST, "latency", _LATENCY)
                run(*there, "tc", "qdisc", "replace", "dev", device, "root", *bucket)
            elif "tbf" in run(*there, "tc", "qdisc", "show", "dev", device):
                run(*there, "tc", "qdisc", "del", "dev", device, "root")

    def _start_host(self, name: str, address: str, card: str) -> None:
        switch = self._switch
        assert self._groups is not None
        self._made[name] = self._disks.make(name)
        init = _INIT.format(
            name=name,
            directory=shlex.quote(str(self._directory)),
            sshd=_SSHD,
            mounts="\n".join(disk.mounting() for disk in self._made[name]),
        )
        joining = " ".join(f"echo $$ > {group}/cgroup.procs &&" for group in self._groups.make(name))
        apart = ("--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        unshare = ("unshare", *apart, "--propagation", "private", "sh", "-c", init)
        host = self._spawn("sh", "-c", f'{joining} exec "$@"', "sh", *unshare, log=f"{name}.log")
        within = ("nsenter", "-t", str(host.pid), "-n")
        run(*switch, "ip", "link", "add", card, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        run(*switch, "ip", "link", "set", card, "master", "switch", "up")
        run(*within, "ip", "link", "set", "lo", "up")
        run(*within, "ip", "addr", "add", f"{address}/24", "dev", "eth0")
        run(*within, "ip", "link", "set", "eth0", "up")
        if self._rate is not None:
            self._shape(card, within, self._rate)
        self._cards[name] = (card, within)
        self._hosts[name] = host.pid
        assert host.stdin is not None
        host.stdin.write(b"\n")
        host.stdin.flush()

    def _spawn(self, *command: str, log: str = "switch.log") -> subprocess.Popen[bytes]:
        """Start a process in a network of its own, which dies with this one."""
        with (self._directory / log).open("ab") as said:
            process = subprocess.Popen(
                ("setpriv", "--pdeathsig", "KILL", *command), stdin=subprocess.PIPE, stdout=said, stderr=said
            )
        self._processes.append(process)
        ours = Path("/proc/self/ns/net").readlink()
        deadline = time.monotonic() + _START_SECONDS
        while True:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Refused((self._directory / log).read_text(errors="replace").strip() or f"{command[0]} has ended")
            if Path(f"/proc/{process.pid}/ns/net").readlink() != ours:
                return process
            time.sleep(0.005)

    def _wait_for(self, name: str, address: str) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection((address, 22), 1.0).close()
                return
            except OSError as error:
                if time.monotonic() > deadline or any(one.poll() is not None for one in self._processes):
                    said = (self._directory / f"{name}.log").read_text(errors="replace").strip()
                    raise Refused(said or f"{name} does not answer: {error}") from error
            time.sleep(0.02)


def _reserve(reservation: socket.socket, number: int) -> bool:
    """Return whether the network `number` was free; it is this process's until the socket is closed."""
    try:
        reservation.bind(f"\0howdah-simulation-{number}")
    except OSError:
        return False
    return True


def _remove_forgotten() -> None:
    """Remove the control groups of simulations whose holders were killed."""
    known = hierarchies()
    for name in group_names(known):
        number = name.removeprefix(SIMULATED)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reservation:
            if number.isdecimal() and name != number and _reserve(reservation, int(number)):
                Groups(name, None, None, known).remove()


def _obey(holder: Holder) -> None:
    """Obey the requests on standard input, one line of JSON each, and answer them, until the input ends. "stay" is the
    last request: the hosts then stay until SIGTERM, whatever happens to the process that asked for them."""
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "stay":
            while True:
                signal.pause()
        try:
            holder.disturb(asked["do"], asked["host"], asked["rate"], asked["resource"])
        except (Refused, OSError) as error:
            _say({"error": str(error)})
        else:
            _say({})


def _say(answer: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Hold the hosts that the first line of JSON on standard input asks for, and obey the lines after it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Of the user's terminal: whoever asked decides.
    asked = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        holder = Holder(Path(asked["directory"]), asked["names"], Simulation(**asked["wish"]))
    except (Refused, OSError) as error:
        _say({"error": str(error)})
        return 0
    try:
        try:
            answer = holder.start()
        except (Refused, OSError) as error:
            answer = {"error": str(error)}
        _say(answer)
        if "error" not in answer:
            _obey(holder)
    finally:
        holder.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
