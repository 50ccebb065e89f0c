"""Our file system on a shared one: MooseFS with two copies of everything, mounted on three hosts. Needs root."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system.running import Howdah
from tests.system.shell import calls, hadoop_fs
from tests.system.suites import failures
from tools.moosefs import MooseFS, moosefs

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount"),
    pytest.mark.skipif(shutil.which("mfsmaster") is None, reason="MooseFS is not installed (make setup-tests)"),
]

HOSTS = 3
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Shared:
    """A shared file system, and the command `hadoop fs` on it."""

    there: MooseFS
    command: list[str]

    def on(self, host: int, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """`hadoop fs` on one of the hosts."""
        command = [*self.there.inside(host), *self.command, *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)

    def start(self, host: int, *arguments: str) -> subprocess.Popen[bytes]:
        """The same, without waiting for its end."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*self.there.inside(host), *self.command, *arguments], stdin=pipe, stdout=pipe, stderr=pipe
        )


@pytest.fixture(scope="module")
def shared(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    if not Path("/dev/fuse").exists() or subprocess.run(["unshare", "-n", "-m", "true"], check=False).returncode != 0:
        pytest.skip("this machine has no FUSE or no namespaces")
    root = tmp_path_factory.mktemp("moosefs")
    with moosefs(root, HOSTS, copies=2) as there:
        yield Shared(there, hadoop_fs(root / "conf", there.mount, checksum="true"))


def content(number: int) -> bytes:
    return random.Random(number).randbytes(8 * MIB + number)


@pytest.mark.promise("What one host writes to a shared file system, the others read", "how-to/filesystem")
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


def test_who_reads_what_another_host_is_writing_finds_its_beginning(shared: Shared) -> None:
    whole = random.Random(4).randbytes(24 * MIB)
    writer = begin_writing(shared, 0, "/growing", whole[: 16 * MIB])
    # So the shell calls it until it is complete.
    growing = shared.there.mount / "growing._COPYING_"
    deadline = time.monotonic() + 60
    while not (size := seen_size(shared, 1, growing)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert size > 0, "what fills the writer's buffers is to be on the storage"
    read = shared.on(1, "-cat", f"/{growing.name}")
    assert read.returncode == 0, read.stderr.decode()
    assert size <= len(read.stdout) <= 16 * MIB
    assert read.stdout == whole[: len(read.stdout)]
    _, said = writer.communicate(whole[16 * MIB :], timeout=120)
    assert writer.returncode == 0, said.decode()
    assert shared.on(1, "-cat", "/growing").stdout == whole


def seen_size(shared: Shared, host: int, file: Path) -> int:
    """Of a file as a host sees it; 0 where it is not there."""
    said = shared.there.plain(host, "stat", "-c", "%s", str(file))
    return int(said.stdout) if said.returncode == 0 else 0


def test_what_one_host_appends_and_cuts_the_others_read(shared: Shared) -> None:
    assert shared.on(0, "-put", "-", "/log", stdin=content(5)).returncode == 0
    appended = shared.on(1, "-appendToFile", "-", "/log", stdin=content(6))
    assert appended.returncode == 0, appended.stderr.decode()
    assert shared.on(2, "-cat", "/log").stdout == content(5) + content(6)
    cut = shared.on(2, "-truncate", "-w", "1000", "/log")
    assert cut.returncode == 0, cut.stderr.decode()
    assert shared.on(0, "-cat", "/log").stdout == content(5)[:1000]


@pytest.mark.promise("A rename replaces nothing", "how-to/filesystem")
def test_of_renames_to_one_name_one_is_done(shared: Shared) -> None:
    for host in range(HOSTS):
        assert shared.on(host, "-touchz", f"/source-{host}").returncode == 0
    renames = [shared.start(host, "-mv", f"/source-{host}", "/target") for host in range(HOSTS)]
    for rename in renames:
        rename.communicate(timeout=120)
    assert sorted(rename.returncode == 0 for rename in renames) == [False, False, True]
    left = shared.on(0, "-ls", "-C", "/").stdout.decode().split()
    assert len([name for name in left if name.startswith("/source-")]) == HOSTS - 1


def test_of_creations_of_one_name_on_several_hosts_one_is_done(shared: Shared) -> None:
    names = [f"/locks/{number}" for number in range(50)]
    pipe, command = subprocess.PIPE, calls(shared.command)
    with ExitStack() as running:
        begun = [
            running.enter_context(
                subprocess.Popen([*shared.there.inside(host), *command], stdin=pipe, stdout=pipe, text=True)
            )
            for host in range(HOSTS)
        ]
        for one in begun:
            assert one.stdin
            assert one.stdout
            one.stdin.write("mkdirs /locks\n")
            one.stdin.flush()
            assert one.stdout.readline() == "ok\ttrue\n"
        for one in begun:
            assert one.stdin
            one.stdin.write("".join(f"write-once {name}\n" for name in names))
            one.stdin.flush()
        said = [[line.partition("\t")[0] for line in one.communicate(timeout=120)[0].splitlines()] for one in begun]
    for outcomes in zip(*said, strict=True):
        assert sorted(outcomes) == ["FileAlreadyExistsException"] * (HOSTS - 1) + ["ok"]
    assert len(said[0]) == len(names)
    assert all("ok" in outcomes for outcomes in said), "the hosts raced"
    sizes = shared.on(0, "-stat", "%b", *names).stdout.decode().split()
    assert sizes == [str(MIB)] * len(names)


@pytest.mark.promise("Hadoop's contract suites pass, on MooseFS and `lustrefs:` too", "how-to/filesystem")
def test_hadoops_suites_pass_on_it(shared: Shared) -> None:
    failed = failures(shared.there.mount / "suites", "moosefs", before=shared.there.inside(0))
    # Of MooseFS, root may read everything, whatever rights this machine has taken from it.
    assert failed == {f"test{what}StatusThrowsExceptionForUnreadableDir" for what in ("List", "Glob")}


@pytest.mark.promise("A chunk server that is killed stops neither readers nor writers", "how-to/filesystem")
def test_with_a_lost_chunk_server_reading_and_writing_go_on(shared: Shared) -> None:
    large = random.Random(6).randbytes(64 * MIB)
    assert shared.on(0, "-put", "-", "/before", stdin=content(7)).returncode == 0
    assert shared.on(0, "-put", "-", "/large", stdin=large).returncode == 0
    # What they have in their buffers is a small part of it.
    reader, first = begin_reading(shared, 1, "/large")
    writer = begin_writing(shared, 2, "/during", large[: 32 * MIB])
    # nsenter has become the server itself.
    shared.there.servers[1].send_signal(signal.SIGKILL)
    shared.there.servers[1].wait()
    rest, said = reader.communicate(timeout=240)
    assert reader.returncode == 0, said.decode()
    assert first + rest == large
    _, said = writer.communicate(large[32 * MIB :], timeout=240)
    assert writer.returncode == 0, said.decode()
    assert shared.on(0, "-cat", "/during").stdout == large
    assert shared.on(1, "-cat", "/before").stdout == content(7)
    written = shared.on(2, "-put", "-", "/after", stdin=content(8))
    assert written.returncode == 0, written.stderr.decode()
    assert shared.on(0, "-cat", "/after").stdout == content(8)


def begin_reading(shared: Shared, host: int, path: str) -> tuple[subprocess.Popen[bytes], bytes]:
    """A reader that waits for its output to be taken, and its first MiB."""
    reader = shared.start(host, "-cat", path)
    assert reader.stdout is not None
    return reader, reader.stdout.read(MIB)


def begin_writing(shared: Shared, host: int, path: str, first: bytes) -> subprocess.Popen[bytes]:
    """A writer that has taken these bytes, but for what the pipe holds, and waits for more."""
    writer = shared.start(host, "-put", "-", path)
    assert writer.stdin is not None
    writer.stdin.write(first)
    writer.stdin.flush()
    return writer


def test_who_reads_or_writes_when_the_mount_breaks_fails_and_leaves_nothing_that_looks_complete(
    shared: Shared,
) -> None:
    reader, _ = begin_reading(shared, 2, "/large")
    writer = begin_writing(shared, 2, "/cut", content(9))
    shared.there.clients[2].send_signal(signal.SIGKILL)
    shared.there.clients[2].wait()
    _, said = reader.communicate(timeout=120)
    assert reader.returncode != 0
    assert b"/large" in said
    assert b"Transport endpoint is not connected" in said or b"Software caused connection abort" in said
    _, said = writer.communicate(content(10), timeout=120)
    assert writer.returncode != 0
    assert b"/cut" in said
    left = shared.on(0, "-ls", "-C", "/").stdout.decode().split()
    assert "/cut" not in left
    said = shared.on(2, "-ls", "/").stderr
    assert b"Transport endpoint is not connected" in said


@pytest.mark.promise("When the mount is lost, nothing is written to the disk below it", "how-to/filesystem")
def test_a_host_that_lost_the_mount_writes_nothing_anywhere(shared: Shared) -> None:
    assert shared.there.plain(2, "umount", "-l", str(shared.there.mount)).returncode == 0
    for command in (("-put", "-", "/lost"), ("-mkdir", "/lost"), ("-ls", "/")):
        said = shared.on(2, *command, stdin=b"lost")
        assert said.returncode != 0
        assert b"no file system is mounted there" in said.stderr
    assert shared.there.plain(2, "ls", "-A", str(shared.there.mount)).stdout == b""
    assert shared.on(0, "-cat", "/before").stdout == content(7), "other hosts have it still"
