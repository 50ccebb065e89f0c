"""MooseFS on one machine, for tests and benchmarks: a shared file system that several hosts have mounted.

One master and three chunk servers run in their own network namespace; each host is a mount namespace. Needs root, and
Debian's packages moosefs-master, moosefs-chunkserver and moosefs-client.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "10.77.0.1"
SERVERS = 3


@dataclass(frozen=True, slots=True)
class MooseFS:
    """The processes of MooseFS: its chunk servers, the hosts that have it mounted at `mount`, and the clients.

    The processes `hosts` keep the namespaces; the processes `clients` serve the mounts.
    """

    mount: Path
    servers: Sequence[subprocess.Popen[bytes]]
    hosts: Sequence[subprocess.Popen[bytes]]
    clients: Sequence[subprocess.Popen[bytes]]

    def inside(self, host: int) -> list[str]:
        """Return the prefix of a command that is to run on a host."""
        return ["nsenter", "-t", str(self.hosts[host].pid), "-m", "-n"]

    def plain(self, host: int, *command: str) -> subprocess.CompletedProcess[bytes]:
        """Run any command on one of the hosts."""
        return subprocess.run([*self.inside(host), *command], capture_output=True, check=False, timeout=60)


@contextmanager
def moosefs(root: Path, hosts: int, copies: int, address: str | None = None) -> Iterator[MooseFS]:
    """Start MooseFS with its data below `root`, mounted on `hosts` hosts, and stop it at the end.

    With an `address` of this machine, it is served there, and its hosts have this machine's network. Raises
    RuntimeError if MooseFS does not come up. At the end the directory of the mount must be empty: nothing was written
    to the disk below it.
    """
    mount = root / "mount"
    mount.mkdir()
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return started[-1]

    try:
        inside: list[str] = []
        if address is None:
            address = ADDRESS
            network = start("unshare", "-n", "sleep", "infinity")
            _wait_until_apart(network, "net")
            inside = ["nsenter", "-t", str(network.pid), "-n"]
            subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
            subprocess.run([*inside, "ip", "addr", "add", f"{ADDRESS}/24", "dev", "lo"], check=True)
        servers = []
        for command in _configured(root, address):
            servers.append(start(*inside, *command))
            time.sleep(1.5)
        clients: list[subprocess.Popen[bytes]] = []
        namespaces = [start(*inside, "unshare", "-m", "sleep", "infinity") for _ in range(hosts)]
        there = MooseFS(mount, servers, namespaces, clients)
        for namespace in namespaces:
            _wait_until_apart(namespace, "mnt")
        for host in range(hosts):
            # nsenter becomes the client itself.
            clients.append(start(*there.inside(host), *mount_command(mount, address)))
            _wait_for_mount(there, host)
        if there.plain(0, "mfssetgoal", "-r", str(copies), str(mount)).returncode != 0:
            raise RuntimeError(f"MooseFS does not keep {copies} copies")
        yield there
        for host in range(hosts):
            there.plain(host, "umount", "-l", str(mount))
        if list(mount.iterdir()):
            raise RuntimeError(f"something was written to the disk below {mount}")
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _wait_until_apart(process: subprocess.Popen[bytes], kind: str) -> None:
    """Return when `unshare`, or what it has become, has a namespace of its own."""
    for _ in range(3000):
        if Path(f"/proc/{process.pid}/ns/{kind}").readlink() != Path(f"/proc/self/ns/{kind}").readlink():
            return
        time.sleep(0.01)
    raise RuntimeError(f"unshare has made no namespace {kind}")


def mount_command(mount: Path, address: str) -> tuple[str, ...]:
    """Return the command that mounts MooseFS, and serves the mount until it is killed."""
    return ("mfsmount", str(mount), "-H", address, "-P", "29421", "-f")


def _configured(root: Path, address: str) -> list[list[str]]:
    """Write the configuration of master and chunk servers; return the commands that start them."""
    (root / "exports.cfg").write_text(f"{address.rpartition('.')[0]}.0/24 / rw,alldirs,admin,maproot=0:0\n")
    (root / "master").mkdir()
    (root / "master" / "metadata.mfs").write_text("MFSM NEW")
    own = "WORKING_USER = root\nWORKING_GROUP = root\n"
    ports = {"MATOML": 29419, "MATOCS": 29420, "MATOCL": 29421}
    listen = "".join(f"{who}_LISTEN_HOST = {address}\n{who}_LISTEN_PORT = {port}\n" for who, port in ports.items())
    (root / "master.cfg").write_text(f"{own}DATA_PATH = {root}/master\nEXPORTS_FILENAME = {root}/exports.cfg\n{listen}")
    commands = [["mfsmaster", "-c", f"{root}/master.cfg", "-f", "start"]]
    for number in range(SERVERS):
        for name in (f"server{number}", f"disk{number}"):
            (root / name).mkdir()
        (root / f"disks{number}.cfg").write_text(f"{root}/disk{number}\n")
        (root / f"server{number}.cfg").write_text(
            f"{own}DATA_PATH = {root}/server{number}\nHDD_CONF_FILENAME = {root}/disks{number}.cfg\n"
            f"HDD_LEAVE_SPACE_DEFAULT = 64MiB\nMASTER_HOST = {address}\nMASTER_PORT = 29420\n"
            f"CSSERV_LISTEN_HOST = {address}\nCSSERV_LISTEN_PORT = {29431 + number}\n"
        )
        commands.append(["mfschunkserver", "-c", f"{root}/server{number}.cfg", "-f", "start"])
    return commands


def _wait_for_mount(there: MooseFS, host: int) -> None:
    for _ in range(300):
        if there.plain(host, "mountpoint", "-q", str(there.mount)).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"MooseFS was not mounted on host {host} within 30 s")
