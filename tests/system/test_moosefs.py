"""Our file system on a shared one: MooseFS, mounted three times in three mount namespaces, as three hosts would.

One master, three chunk servers with two copies of everything; all in a network namespace of their own. Needs root.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from howdah.hadoop.distribution import managed
from howdah.hadoop.jars import own_jar
from howdah.hadoop.site import render_site
from howdah.model.storage import FILESYSTEM_JAR
from tests.system.running import Howdah

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount"),
    pytest.mark.skipif(shutil.which("mfsmaster") is None, reason="MooseFS is not installed (make setup-tests)"),
]

ADDRESS = "10.77.0.1"
SERVERS = 3
HOSTS = 3
MIB = 1 << 20


@dataclass
class Shared:
    """MooseFS, its processes, and the namespaces that have it mounted at `mount`."""

    mount: Path
    servers: list[subprocess.Popen[bytes]]
    hosts: list[subprocess.Popen[bytes]]
    command: list[str]

    def on(self, host: int, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """`hadoop fs` on one of the hosts."""
        inside = ["nsenter", "-t", str(self.hosts[host].pid), "-m", "-n"]
        return subprocess.run(
            [*inside, *self.command, *arguments], input=stdin, capture_output=True, check=False, timeout=120
        )

    def start(self, host: int, *arguments: str) -> subprocess.Popen[bytes]:
        """The same, without waiting for its end."""
        inside = ["nsenter", "-t", str(self.hosts[host].pid), "-m", "-n"]
        pipe = subprocess.PIPE
        return subprocess.Popen([*inside, *self.command, *arguments], stdin=pipe, stdout=pipe, stderr=pipe)

    def plain(self, host: int, *command: str) -> subprocess.CompletedProcess[bytes]:
        """Any command on one of the hosts."""
        inside = ["nsenter", "-t", str(self.hosts[host].pid), "-m", "-n"]
        return subprocess.run([*inside, *command], capture_output=True, check=False, timeout=60)


def configured(root: Path) -> list[list[str]]:
    """Writes the configuration of master and chunk servers; the commands that start them."""
    (root / "exports.cfg").write_text("10.77.0.0/24 / rw,alldirs,admin,maproot=0:0\n")
    (root / "master").mkdir()
    (root / "master" / "metadata.mfs").write_text("MFSM NEW")
    own = "WORKING_USER = root\nWORKING_GROUP = root\n"
    ports = {"MATOML": 29419, "MATOCS": 29420, "MATOCL": 29421}
    listen = "".join(f"{who}_LISTEN_HOST = {ADDRESS}\n{who}_LISTEN_PORT = {port}\n" for who, port in ports.items())
    (root / "master.cfg").write_text(f"{own}DATA_PATH = {root}/master\nEXPORTS_FILENAME = {root}/exports.cfg\n{listen}")
    commands = [["mfsmaster", "-c", f"{root}/master.cfg", "-f", "start"]]
    for number in range(SERVERS):
        for name in (f"server{number}", f"disk{number}"):
            (root / name).mkdir()
        (root / f"disks{number}.cfg").write_text(f"{root}/disk{number}\n")
        (root / f"server{number}.cfg").write_text(
            f"{own}DATA_PATH = {root}/server{number}\nHDD_CONF_FILENAME = {root}/disks{number}.cfg\n"
            f"HDD_LEAVE_SPACE_DEFAULT = 64MiB\nMASTER_HOST = {ADDRESS}\nMASTER_PORT = 29420\n"
            f"CSSERV_LISTEN_HOST = {ADDRESS}\nCSSERV_LISTEN_PORT = {29431 + number}\n"
        )
        commands.append(["mfschunkserver", "-c", f"{root}/server{number}.cfg", "-f", "start"])
    return commands


def hadoop_fs(root: Path, mount: Path) -> list[str]:
    """The command `hadoop fs` with our file system, whose root has to be mounted."""
    conf = root / "conf"
    conf.mkdir()
    keys = {
        "fs.posixfs.impl": "org.howdah.filesystem.PosixFileSystem",
        "fs.posixfs.mount": str(mount),
        "fs.posixfs.mount.required": "true",
        "fs.posixfs.checksum": "true",
        "fs.defaultFS": "posixfs:///",
    }
    (conf / "core-site.xml").write_text(render_site(keys))
    path = f"{managed('3.4.2', Path.home() / '.howdah' / 'cache').classpath(conf)}:{own_jar(FILESYSTEM_JAR)}"
    return ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", path, "org.apache.hadoop.fs.FsShell"]


def wait_for_mount(shared: Shared, host: int) -> None:
    for _ in range(300):
        if shared.plain(host, "mountpoint", "-q", str(shared.mount)).returncode == 0:
            return
        time.sleep(0.1)
    pytest.fail(f"MooseFS was not mounted on host {host} within 30 s")


@pytest.fixture(scope="module")
def shared(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    howdah("hadoop", "fetch", "3.4.2", timeout=500).ok()
    if not Path("/dev/fuse").exists() or subprocess.run(["unshare", "-n", "-m", "true"], check=False).returncode != 0:
        pytest.skip("this machine has no FUSE or no namespaces")
    root = tmp_path_factory.mktemp("moosefs")
    mount = root / "mount"
    mount.mkdir()
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return started[-1]

    try:
        network = start("unshare", "-n", "sleep", "3600")
        time.sleep(0.5)
        inside = ["nsenter", "-t", str(network.pid), "-n"]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
        subprocess.run([*inside, "ip", "addr", "add", f"{ADDRESS}/24", "dev", "lo"], check=True)
        servers = []
        for command in configured(root):
            servers.append(start(*inside, *command))
            time.sleep(1.5)
        there = Shared(mount, servers, [], hadoop_fs(root, mount))
        for host in range(HOSTS):
            there.hosts.append(start(*inside, "unshare", "-m", "sleep", "3600"))
            time.sleep(0.5)
            namespace = ["nsenter", "-t", str(there.hosts[host].pid), "-m", "-n"]
            start(*namespace, "mfsmount", str(mount), "-H", ADDRESS, "-P", "29421", "-f")
            wait_for_mount(there, host)
        assert there.plain(0, "mfssetgoal", "-r", "2", str(mount)).returncode == 0
        yield there
        for host in range(HOSTS):
            there.plain(host, "umount", "-l", str(mount))
        assert list(mount.iterdir()) == [], "nothing was written to the disk below the mount point"
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def content(number: int) -> bytes:
    return random.Random(number).randbytes(8 * MIB + number)


def test_what_one_host_writes_the_others_read(shared: Shared) -> None:
    writers = [shared.start(host, "-put", "-", f"/written-by-{host}") for host in range(HOSTS)]
    for host, writer in enumerate(writers):
        _, said = writer.communicate(content(host), timeout=120)
        assert writer.returncode == 0, said.decode()
    for host in range(HOSTS):
        other = (host + 1) % HOSTS
        read = shared.on(host, "-cat", f"/written-by-{other}")
        assert read.returncode == 0, read.stderr.decode()
        assert hashlib.sha256(read.stdout).digest() == hashlib.sha256(content(other)).digest()


def test_of_renames_to_one_name_one_is_done(shared: Shared) -> None:
    for host in range(HOSTS):
        assert shared.on(host, "-touchz", f"/source-{host}").returncode == 0
    renames = [shared.start(host, "-mv", f"/source-{host}", "/target") for host in range(HOSTS)]
    for rename in renames:
        rename.communicate(timeout=120)
    assert sorted(rename.returncode == 0 for rename in renames) == [False, False, True]
    left = shared.on(0, "-ls", "-C", "/").stdout.decode().split()
    assert len([name for name in left if name.startswith("/source-")]) == HOSTS - 1


def test_with_a_lost_chunk_server_reading_and_writing_go_on(shared: Shared) -> None:
    assert shared.on(0, "-put", "-", "/before", stdin=content(7)).returncode == 0
    # nsenter has become the server itself.
    shared.servers[1].send_signal(signal.SIGKILL)
    shared.servers[1].wait()
    assert shared.on(1, "-cat", "/before").stdout == content(7)
    written = shared.on(2, "-put", "-", "/after", stdin=content(8))
    assert written.returncode == 0, written.stderr.decode()
    assert shared.on(0, "-cat", "/after").stdout == content(8)


def test_a_host_that_lost_the_mount_writes_nothing_anywhere(shared: Shared) -> None:
    assert shared.plain(2, "umount", "-l", str(shared.mount)).returncode == 0
    for command in (("-put", "-", "/lost"), ("-mkdir", "/lost"), ("-ls", "/")):
        said = shared.on(2, *command, stdin=b"lost")
        assert said.returncode != 0
        assert b"no file system is mounted there" in said.stderr
    assert shared.plain(2, "ls", "-A", str(shared.mount)).stdout == b""
    assert shared.on(0, "-cat", "/before").stdout == content(7), "other hosts have it still"
