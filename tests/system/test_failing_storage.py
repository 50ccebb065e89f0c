"""What our file system makes of a storage that fails: every call gets here from a FUSE file system. Needs root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.system.failing_mount import FAILING_MOUNT_IS_POSSIBLE, FailingMount, failing_mount
from tests.system.running import Howdah
from tests.system.shell import calls, hadoop_fs, of_the_jdk

pytestmark = [pytest.mark.daemons, *FAILING_MOUNT_IS_POSSIBLE]

FULL = "ClusterStorageCapacityExceededException"


class Failing:
    """A storage that fails, and a program that makes calls of our file system there."""

    def __init__(self, storage: FailingMount, conf: Path) -> None:
        self._storage, self._backing = storage, storage.backing
        self._calls = subprocess.Popen(
            calls(hadoop_fs(conf, storage.mount)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )

    def fill(self) -> None:
        """What is there before each test: a file, a directory with two, and one with a link to the file."""
        for there in self._backing.iterdir():
            shutil.rmtree(there) if there.is_dir() else there.unlink()
        (self._backing / "dir" / "sub").mkdir(parents=True)
        (self._backing / "dir" / "b").write_bytes(b"b")
        (self._backing / "dir" / "sub" / "a").write_bytes(b"a")
        (self._backing / "file").write_bytes(bytes(1000))
        (self._backing / "links").mkdir()
        (self._backing / "links" / "link").symlink_to("../file")

    def there(self) -> dict[str, int]:
        """Files and their lengths in bytes; directories, which have a length of -1."""
        found = (one for one in self._backing.rglob("*") if not one.is_symlink())
        return {str(one.relative_to(self._backing)): one.stat().st_size if one.is_file() else -1 for one in found}

    def call(self, call: str, fault: str = "") -> tuple[str, str]:
        """What came of a call during a fault: `ok`, or the class of an exception, and more."""
        self._storage.fail(fault)
        assert self._calls.stdin
        assert self._calls.stdout
        self._calls.stdin.write(f"{call}\n")
        outcome, _, more = self._calls.stdout.readline().rstrip("\n").partition("\t")
        self._storage.fail("")
        return outcome, more

    def close(self) -> None:
        self._calls.communicate(timeout=60)
        assert self._calls.returncode == 0


@pytest.fixture(scope="module")
def storage(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FailingMount]:
    with failing_mount(tmp_path_factory.mktemp("failing") / "storage") as storage:
        yield storage


@pytest.fixture(scope="module")
def mounted(storage: FailingMount, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    with closing(Failing(storage, tmp_path_factory.mktemp("conf") / "conf")) as failing:
        yield failing


@pytest.fixture
def failing(mounted: Failing) -> Failing:
    mounted.fill()
    return mounted


def changes_of(failing: Failing, fault: str, call: str, outcome: str, words: str) -> dict[str, int | None]:
    """What a call has changed that fails with this outcome; None for what is gone."""
    before = failing.there()
    said, more = failing.call(call, fault)
    assert (said, words in more) == (outcome, True), more
    after = failing.there()
    return {name: after.get(name) for name in before.keys() | after.keys() if after.get(name) != before.get(name)}


@pytest.mark.promise("A storage that fails is never taken for an empty one", "how-to/filesystem")
@pytest.mark.parametrize(
    ("fault", "call", "outcome", "words"),
    [
        ("read EIO 0", "read /file", "PathIOException", "read `posixfs:/file': the system says: Input/output error"),
        ("read ESTALE 0", "read /file", "PathIOException", "Stale file handle"),
        ("read EIO 0", "read-at /file", "PathIOException", "Input/output error"),
        ("read EIO 0", "read-ranges /file", "PathIOException", "Input/output error"),
        ("open ESTALE 0", "read /file", "PathIOException", "open `posixfs:/file': the system says: "),
        ("getxattr EIO 0", "read-compared /file", "PathIOException", "open `posixfs:/file'"),
        ("getxattr EIO 0", "checksum /file", "PathIOException", "checksum `posixfs:/file'"),
        ("read EIO 0", "checksum /file", "PathIOException", "checksum `posixfs:/file'"),
        ("getattr EIO 0", "status /file", "PathIOException", "stat `posixfs:/file'"),
        ("getattr ENOTCONN 0", "exists /file", "PathIOException", "Transport endpoint is not connected"),
        ("getattr ESTALE 0", "exists /nothing", "PathIOException", "Stale file handle"),
        ("getattr ESHUTDOWN 0", "exists /file", "PathIOException", "Cannot send after transport endpoint shutdown"),
        ("getattr ECONNABORTED 0", "exists /file", "PathIOException", "Software caused connection abort"),
        ("getattr EHOSTUNREACH 0", "exists /file", "PathIOException", "No route to host"),
        ("getxattr EUCLEAN 0", "read-compared /file", "PathIOException", "Structure needs cleaning"),
        ("access EIO 0", "access /file", "PathIOException", "access `posixfs:/file'"),
        ("access EACCES 0", "access /file", "AccessControlException", "may not rw-"),
        ("access EROFS 0", "access /file", "AccessControlException", "may not rw-"),
        ("readlink EIO 0", "list /links", "PathIOException", "list `posixfs:/links/link'"),
        ("readdir EIO 0", "list /dir", "PathIOException", "list `posixfs:/dir'"),
        ("readdir EIO 1", "walk /dir", "PathIOException", "list `posixfs:/dir/sub'"),
        ("readdir EIO 0", "glob /d*/b", "PathIOException", "list `posixfs:/'"),
        ("create EDQUOT 0", "write /new", FULL, "create posixfs:/new: Disk quota exceeded"),
        ("create ENOSPC 0", "write /new", FULL, "create posixfs:/new: No space left on device"),
        ("create EROFS 0", "write /new", "PathIOException", "Read-only file system"),
        ("create EIO 0", "write-atomically /new", "PathIOException", "create `posixfs:/new'"),
        ("write EDQUOT 0", "write-atomically /new", FULL, "write posixfs:/new: Disk quota exceeded"),
        ("flush EIO 0", "write-atomically /new", "PathIOException", "close `posixfs:/new'"),
        ("fsync EIO 0", "write-atomically /new", "PathIOException", "close `posixfs:/new'"),
        ("setxattr EIO 0", "write-atomically /new", "PathIOException", "close `posixfs:/new'"),
        ("rename EIO 0", "write-atomically /new", "PathIOException", "close `posixfs:/new'"),
        ("write EIO 0", "append /file", "PathIOException", "write `posixfs:/file'"),
        ("link ETIMEDOUT 0", "rename /file /new", "Refusal", "/new; look whether it is there: Connection timed out"),
        ("rename EIO 0", "rename /dir /new", "PathIOException", "rename `posixfs:/dir'"),
        ("unlink EIO 0", "delete /file", "PathIOException", "delete `posixfs:/file'"),
        ("unlink EROFS 0", "delete /file", "PathIOException", "Read-only file system"),
        ("readdir EIO 0", "delete /dir", "PathIOException", "delete `posixfs:/dir'"),
        ("mkdir EDQUOT 0", "mkdirs /made/deep", FULL, "mkdir posixfs:/made/deep: Disk quota exceeded"),
        ("truncate EIO 0", "truncate /file", "PathIOException", "truncate `posixfs:/file'"),
        ("chmod EIO 0", "chmod /file", "PathIOException", "chmod `posixfs:/file'"),
        ("chmod EPERM 0", "chmod /file", "AccessControlException", "Operation not permitted"),
        ("utimens EIO 0", "touch /file", "PathIOException", "touch `posixfs:/file'"),
        ("setxattr EDQUOT 0", "set /file", FULL, "Disk quota exceeded"),
        ("listxattr EIO 0", "get /file", "PathIOException", "getfattr `posixfs:/file'"),
        ("statfs EIO 0", "space /", "PathIOException", "status `posixfs:/'"),
    ],
)
def test_a_call_that_fails_is_an_error_of_hadoops_and_changes_nothing(
    failing: Failing, fault: str, call: str, outcome: str, words: str
) -> None:
    assert changes_of(failing, fault, call, outcome, words) == {}


@pytest.mark.parametrize(
    ("fault", "call", "outcome", "words", "changes"),
    [
        # What is not to be seen only when it is complete stays as far as it came.
        ("write EIO 0", "write /new", "PathIOException", "write `posixfs:/new'", {"new": 0}),
        ("write ENOSPC 0", "write /file", FULL, "write posixfs:/file: No space left on device", {"file": 0}),
        ("flush EDQUOT 0", "write /new", FULL, "close posixfs:/new: Disk quota exceeded", {"new": 1 << 20}),
        ("flush EIO 0", "append /file", "PathIOException", "close `posixfs:/file'", {"file": 1000 + (1 << 20)}),
        ("fsync EIO 0", "hsync /new", "PathIOException", "sync `posixfs:/new'", {"new": 1}),
        # The name is there; whether it stays is not known.
        ("fsyncdir EIO 0", "write-atomically /new", "PathIOException", "close `posixfs:/new'", {"new": 1 << 20}),
        ("fsyncdir EIO 0", "mkdirs-synced /made", "PathIOException", "mkdir `posixfs:/made'", {"made": -1}),
        ("unlink EIO 0", "rename /file /new", "Refusal", "look which of them is there", {"new": 1000}),
        ("mkdir EIO 1", "mkdirs /made/deep", "PathIOException", "mkdir `posixfs:/made/deep'", {"made": -1}),
    ],
)
def test_a_call_that_fails_half_way_is_an_error(
    failing: Failing, fault: str, call: str, outcome: str, words: str, changes: dict[str, int]
) -> None:
    assert changes_of(failing, fault, call, outcome, words) == changes


@pytest.mark.promise("A storage that fails is never taken for an empty one", "how-to/filesystem")
@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        ("delete /dir", ("ok", "true")),
        ("rename /file /dir", ("ok", "true")),
        ("mkdirs /dir", ("ok", "true")),
        ("list /dir", ("ok", "2")),
        ("write-once /file", ("FileAlreadyExistsException", "create posixfs:/file: it exists already")),
    ],
)
def test_what_cannot_be_asked_for_is_never_taken_for_nothing(
    failing: Failing, call: str, outcome: tuple[str, str]
) -> None:
    """Whichever look at the storage fails: it is said, or the answer is the one that there is without."""
    for looks in range(30):
        failing.fill()
        said, more = failing.call(call, f"getattr EIO {looks}")
        if "Input/output error" not in more:
            assert (said, more) == outcome
            assert looks > 0
            return
        assert said in ("PathIOException", "Refusal"), more
    pytest.fail("it never got as far as that")


def test_the_same_calls_succeed_without_a_fault(failing: Failing) -> None:
    for call in ("write /new", "read /file", "mkdirs /made/deep", "rename /file /dir", "delete /dir"):
        outcome, more = failing.call(call)
        assert (outcome, more) == ("ok", {"write": "", "read": "100"}.get(call.split()[0], "true"))


@pytest.mark.parametrize("checksum", ["false", "true"])
def test_what_a_storage_does_by_halves_is_gone_on_with(storage: FailingMount, tmp_path: Path, checksum: str) -> None:
    shell = hadoop_fs(tmp_path / "conf", storage.mount, checksum=checksum, buffer_size="1m")
    given, found, name = tmp_path / "given", tmp_path / "found", f"/halves-{checksum}"
    given.write_bytes(os.urandom(3_000_001))
    before = len(storage.failed())
    for fault, command in (("write", ("-put", given, name)), ("read", ("-get", name, found))):
        storage.fail(f"{fault} SHORT 0")
        subprocess.run([*shell, *map(str, command)], check=True, timeout=120)
        storage.fail("")
    assert storage.failed()[before:].count("write") > 20
    assert storage.failed()[before:].count("read") > 20
    assert (storage.backing / name[1:]).read_bytes() == given.read_bytes() == found.read_bytes()


@pytest.mark.promise("With `create.atomic`, a file appears only when it is complete", "how-to/filesystem")
def test_a_writer_that_is_killed_leaves_nothing_that_looks_complete(
    storage: FailingMount, failing: Failing, tmp_path: Path
) -> None:
    command = calls(hadoop_fs(tmp_path / "conf", storage.mount))
    killed = subprocess.run(command, input="halt /new\n", capture_output=True, text=True, timeout=60, check=False)
    assert (killed.returncode, killed.stdout) == (9, "")
    left = failing.there()
    [part] = [name for name in left if name.endswith(".writing")]
    assert part.startswith(".howdah-")
    assert left[part] == 1 << 20
    assert "new" not in left
    assert failing.call("write-atomically /new") == ("ok", "")
    assert failing.there()["new"] == 1 << 20


@pytest.mark.promise("No call starts a process", "how-to/filesystem")
def test_no_call_starts_a_process(storage: FailingMount, failing: Failing, tmp_path: Path) -> None:
    """Java's own record of what it started. Hadoop looks for `setsid` in any program, JNA once for its libraries."""
    command = hadoop_fs(tmp_path / "conf", storage.mount)
    text = Path(__file__).with_name("Calls.java").read_text()
    names = [call for call in re.findall(r'case "(.*)":', text) if call != "halt"]
    # Each on something that it leaves to the others, and what takes the file away at the end.
    elsewhere = {"list": "/dir", "walk": "/dir", "delete": "/dir", "mkdirs": "/made", "mkdirs-synced": "/made"}
    elsewhere |= {"write-once": "/once", "hsync": "/synced"}
    names.sort(key=lambda call: call in ("rename", "delete"))
    lines = "".join(f"{call} {elsewhere.get(call, '/file')} /new\n" for call in names)
    started = set(started_by(calls(command), lines, tmp_path / "calls.jfr"))
    assert started - set(started_by(calls(command), "", tmp_path / "none.jfr")) <= {"/sbin/ldconfig -p"}
    local = started_by([*command, "-ls", f"file://{tmp_path}"], "", tmp_path / "local.jfr")
    assert any("ls -ld" in one for one in local), "Hadoop's local file system does, and it is seen"


def started_by(command: list[str], lines: str, recording: Path) -> list[str]:
    """The commands of the processes that a program of Java starts."""
    java, *rest = command
    flight = ("-Xlog:jfr+startup=error", f"-XX:StartFlightRecording=filename={recording}")
    done = subprocess.run([java, *flight, *rest], input=lines, capture_output=True, text=True, timeout=120, check=True)
    for call, said in zip(lines.splitlines(), done.stdout.splitlines(), strict=bool(lines)):
        assert said.startswith("ok\t"), f"{call}: {said}"
    printed = subprocess.run(
        [of_the_jdk("jfr"), "print", "--events", "jdk.ProcessStart", str(recording)],
        capture_output=True,
        text=True,
        check=True,
    )
    return re.findall(r'command = "(.*)"', printed.stdout)
