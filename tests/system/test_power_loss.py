"""What is promised to be on the storage is there after the power was lost: a disk of its own that loses it. Needs root.

Ext4 and XFS can be told to stop at once and write nothing more, not even what their journal has in memory; mounted
again, the disk is as a loss of power would have left it. Nothing is written by itself within the minutes that a test
takes, so that whatever is not synchronised is lost for certain.
"""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.running import Howdah
from tests.system.shell import hadoop_fs

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount"),
    pytest.mark.skipif(shutil.which("mkfs.ext4") is None, reason="mkfs.ext4 is not installed"),
]

# Linux's EXT4_IOC_SHUTDOWN, and its flag by which the journal is not written either.
_SHUTDOWN, _NO_LOG_FLUSH = 0x8004587D, 2
CONTENT = random.Random(1).randbytes((3 << 20) + 1)


class Disk:
    """An ext4 file system in a file, mounted at `mount`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._image, self.mount = root / "image", root / "mount"
        self.mount.mkdir()
        with self._image.open("wb") as image:
            image.truncate(128 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(self._image)], check=True)
        self._mount()

    def _mount(self) -> None:
        subprocess.run(["mount", "-o", "loop,commit=600", str(self._image), str(self.mount)], check=True)

    def fs(self, *arguments: str, kind: str = "ext4", **keys: str) -> None:
        """`hadoop fs` with these keys; what it puts is `CONTENT`. The process's mount table calls the disk `kind`."""
        conf = self._root / f"conf-{len(list(self._root.iterdir()))}"
        command = [*hadoop_fs(conf, self.mount, **keys), *arguments]
        if kind != "ext4":
            script = f"sed 's/ - ext4 / - {kind} /' /proc/self/mountinfo > $0; mount --bind $0 /proc/$$/mountinfo"
            command = ["unshare", "-m", "sh", "-ec", f'{script}; exec "$@"', str(conf / "mountinfo"), *command]
        ended = subprocess.run(command, input=CONTENT, capture_output=True, check=False, timeout=120)
        assert ended.returncode == 0, ended.stderr.decode()

    def java(self, source: str) -> None:
        """Runs the class `Program` of this source."""
        conf = self._root / f"conf-{len(list(self._root.iterdir()))}"
        *options, _ = hadoop_fs(conf, self.mount)
        (conf / "Program.java").write_text(source)
        command = [*options, str(conf / "Program.java")]
        ended = subprocess.run(command, capture_output=True, check=False, timeout=120)
        assert ended.returncode == 0, ended.stderr.decode()

    def lose_power(self) -> None:
        """Loses what is not on the disk, and has it mounted again."""
        directory = os.open(self.mount, os.O_RDONLY)
        try:
            fcntl.ioctl(directory, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(directory)
        self.close()
        # A copy: the first may still be mounted in a mount namespace that another test has made meanwhile.
        lost, self._image = self._image, self._image.with_name(f"{self._image.name}-after")
        subprocess.run(["cp", "--sparse=always", str(lost), str(self._image)], check=True)
        self._mount()

    def close(self) -> None:
        subprocess.run(["umount", str(self.mount)], check=True)


@pytest.fixture
def disk(howdah: Howdah, tmp_path: Path) -> Iterator[Disk]:
    if subprocess.run(["losetup", "-f"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine has no loop devices")
    disk = Disk(tmp_path)
    try:
        yield disk
    finally:
        disk.close()


def test_what_nobody_asked_to_be_synchronised_is_lost(disk: Disk) -> None:
    """Shows that the disk loses anything at all."""
    disk.fs("-put", "-", "/file")
    assert (disk.mount / "file").read_bytes() == CONTENT
    disk.lose_power()
    assert not (disk.mount / "file").exists()


def test_files_and_directories_whose_names_are_synchronised_are_there(disk: Disk) -> None:
    disk.fs("-mkdir", "-p", "/made/within", sync_directories="true")
    disk.fs("-put", "-d", "-", "/made/name", sync_directories="true")
    disk.lose_power()
    assert (disk.mount / "made" / "within").is_dir()
    assert (disk.mount / "made" / "name").exists(), "its name; what is in it is lost"


@pytest.mark.promise("With `sync.on.close`, a closed file survives a power loss", "how-to/filesystem")
def test_a_file_that_is_synchronised_when_it_is_closed_is_whole(disk: Disk) -> None:
    disk.fs("-put", "-", "/file", sync_directories="true", sync_on_close="true")
    disk.fs("-mkdir", "/other", sync_directories="true")
    disk.fs("-mv", "/file", "/other/renamed", sync_directories="true")
    disk.lose_power()
    assert not (disk.mount / "file").exists()
    assert (disk.mount / "other" / "renamed").read_bytes() == CONTENT


@pytest.mark.promise("A file of `create.atomic` survives a power loss whole", "how-to/filesystem")
def test_a_file_that_appears_when_it_is_closed_is_whole(disk: Disk) -> None:
    disk.fs("-put", "-d", "-", "/file", sync_directories="true", create_atomic="true")
    disk.lose_power()
    assert (disk.mount / "file").read_bytes() == CONTENT
    assert [one.name for one in disk.mount.iterdir() if one.name.startswith((".", "_"))] == []


@pytest.mark.promise("On Lustre, CephFS and GPFS, `close` waits until the file is on the storage", "how-to/filesystem")
@pytest.mark.parametrize("keys", [{}, {"sync_on_close": "false"}])
def test_a_file_that_is_closed_on_lustre_is_whole_unless_the_key_forbids_it(disk: Disk, keys: dict[str, str]) -> None:
    """There is no Lustre here: the mount table calls the disk so."""
    disk.fs("-put", "-d", "-", "/file", kind="lustre", sync_directories="true", **keys)
    assert (disk.mount / "file").read_bytes() == CONTENT
    disk.lose_power()
    assert ((disk.mount / "file").read_bytes() == CONTENT) == (not keys)


# What `FileSystem.create` takes; no command of Hadoop's asks for it.
_APPEND = """
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;

class Program {
  public static void main(String[] arguments) throws Exception {
    FileSystem files = FileSystem.get(new Configuration());
    try (FSDataOutputStream out = files.create(new Path("/file"), null, EnumSet.of(FLAGS), 4096, (short) 1, 1L, null)) {
      out.write(new byte[] {1, 2, 3});
    }
  }
}
"""


@pytest.mark.parametrize("synced", [False, True])
def test_what_is_appended_with_synchronised_blocks_is_there(disk: Disk, synced: bool) -> None:
    disk.fs("-put", "-", "/file", sync_directories="true", sync_on_close="true")
    flags = ["CREATE", "APPEND", *(["SYNC_BLOCK"] if synced else [])]
    disk.java(_APPEND.replace("FLAGS", ", ".join(f"CreateFlag.{flag}" for flag in flags)))
    assert (disk.mount / "file").read_bytes() == CONTENT + b"\1\2\3"
    disk.lose_power()
    assert (disk.mount / "file").read_bytes() == CONTENT + (b"\1\2\3" if synced else b"")


_SYNC = """
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;

class Program {
  public static void main(String[] arguments) throws Exception {
    FSDataOutputStream out = FileSystem.get(new Configuration()).create(new Path("/file"));
    out.write(new byte[] {1, 2, 3});
    out.CALL();
    Runtime.getRuntime().halt(0);
  }
}
"""


@pytest.mark.promise("`hsync` survives a power loss", "how-to/filesystem")
@pytest.mark.parametrize("call", ["hsync", "hflush"])
def test_of_what_was_written_before_only_what_is_synchronised_is_there(disk: Disk, call: str) -> None:
    """Neither is closed."""
    disk.java(_SYNC.replace("CALL", call))
    assert (disk.mount / "file").read_bytes() == b"\1\2\3"
    disk.lose_power()
    there = disk.mount / "file"
    assert (there.read_bytes() if there.exists() else b"") == (b"\1\2\3" if call == "hsync" else b"")
