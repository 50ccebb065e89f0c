"""`python failing.py BACKING MOUNT FAULT`: a file system that fails when it is told to. It ends when it is unmounted.

What is in the directory BACKING is at MOUNT, through FUSE. While the file FAULT has a line `OPERATION ERROR SKIP`, such
as `write EIO 2`, the operation fails with that error, but for its first two times; with ` TIMES PART` at its end so
often, and on paths that have this part. With SHORT for the error, a read or a write does half of what is asked for.
FAULT.failed gets a line for each. Nothing is cached, so that every system call gets here, and what it fails with gets
back.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mfusepy  # type: ignore[import-untyped]

_RENAME_NOREPLACE = 1
_STATUS = ("st_mode", "st_nlink", "st_uid", "st_gid", "st_size", "st_ino", "st_blocks", "st_dev")
_TIMES = ("st_atime", "st_mtime", "st_ctime")


class _Faults:
    """What is to fail now."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._line = ""
        self._seen = 0

    def check(self, operation: str, path: str | None) -> bool:
        """Whether it is to do half of what is asked for; an open file whose name was taken away has no path."""
        line = self._file.read_text()
        if line != self._line:
            self._line, self._seen = line, 0
        if line.split()[:1] != [operation]:
            return False
        error, skip, times, part = (*line.split()[1:], "", "")[:4]
        if part in (path or ""):
            self._seen += 1
            if self._seen > int(skip) and (not times or self._seen <= int(skip) + int(times)):
                with self._file.with_suffix(".failed").open("a") as failed:
                    failed.write(f"{operation}\n")
                if error == "SHORT":
                    return True
                raise OSError(getattr(errno, error), os.strerror(getattr(errno, error)))
        return False


def _half(count: int) -> int:
    return max(1, count // 2)


class _Mirror(mfusepy.Operations):  # type: ignore[misc]
    """Does to the backing directory what is asked of the mounted one. It follows no link, which may lead to the latter:
    then it would wait for itself."""

    use_ns = True

    def __init__(self, backing: Path, faults: _Faults) -> None:
        self._backing = backing
        self._check = faults.check

    def _at(self, path: str) -> Path:
        return self._backing / path.lstrip("/")

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        self._check("getattr", path)
        status = self._at(path).lstat()
        times = {name: getattr(status, f"{name}_ns") for name in _TIMES}
        return {**{name: getattr(status, name) for name in _STATUS}, **times}

    def access(self, path: str, amode: int) -> None:
        self._check("access", path)

    def readdir(self, path: str, fh: int) -> Iterator[str]:
        self._check("readdir", path)
        yield from (".", "..", *(one.name for one in self._at(path).iterdir()))

    def open(self, path: str, flags: int) -> int:
        self._check("open", path)
        return os.open(self._at(path), flags)

    def create(self, path: str, mode: int, flags: int) -> int:
        self._check("create", path)
        return os.open(self._at(path), flags, mode)

    def read(self, path: str | None, size: int, offset: int, fh: int) -> bytes:
        short = self._check("read", path)
        return os.pread(fh, _half(size) if short else size, offset)

    def write(self, path: str | None, data: bytes, offset: int, fh: int) -> int:
        short = self._check("write", path)
        return os.pwrite(fh, data[: _half(len(data))] if short else data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        self._check("truncate", path)
        os.truncate(self._at(path), length)

    def flush(self, path: str, fh: int) -> None:
        self._check("flush", path)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        self._check("fsync", path)

    def fsyncdir(self, path: str, datasync: int, fh: int) -> None:
        self._check("fsyncdir", path)

    def release(self, path: str, fh: int) -> None:
        os.close(fh)

    def link(self, target: str, source: str) -> None:
        self._check("link", target)
        self._at(target).hardlink_to(self._at(source))

    def symlink(self, target: str, source: str) -> None:
        self._check("symlink", target)
        self._at(target).symlink_to(source)

    def readlink(self, path: str) -> str:
        self._check("readlink", path)
        return os.fspath(self._at(path).readlink())

    def rename(self, old: str, new: str, flags: int = 0) -> None:
        self._check("rename", old)
        if flags & ~_RENAME_NOREPLACE:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if flags and os.path.lexists(self._at(new)):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        self._at(old).rename(self._at(new))

    def unlink(self, path: str) -> None:
        self._check("unlink", path)
        self._at(path).unlink()

    def mkdir(self, path: str, mode: int) -> None:
        self._check("mkdir", path)
        self._at(path).mkdir(mode)

    def rmdir(self, path: str) -> None:
        self._check("rmdir", path)
        self._at(path).rmdir()

    def chmod(self, path: str, mode: int) -> None:
        self._check("chmod", path)
        self._at(path).chmod(mode)

    def chown(self, path: str, uid: int, gid: int) -> None:
        self._check("chown", path)
        os.chown(self._at(path), uid, gid, follow_symlinks=False)

    def utimens(self, path: str, times: tuple[int, int]) -> None:
        self._check("utimens", path)
        os.utime(self._at(path), ns=times, follow_symlinks=False)

    def setxattr(self, path: str, name: str, value: bytes, options: int, position: int = 0) -> None:
        self._check("setxattr", path)
        os.setxattr(self._at(path), name, value, options, follow_symlinks=False)

    def getxattr(self, path: str, name: str, position: int = 0) -> bytes:
        self._check("getxattr", path)
        return os.getxattr(self._at(path), name, follow_symlinks=False)

    def listxattr(self, path: str) -> list[str]:
        self._check("listxattr", path)
        return os.listxattr(self._at(path), follow_symlinks=False)

    def removexattr(self, path: str, name: str) -> None:
        self._check("removexattr", path)
        os.removexattr(self._at(path), name, follow_symlinks=False)

    def statfs(self, path: str) -> dict[str, Any]:
        self._check("statfs", path)
        status = os.statvfs(self._backing)
        return {name: getattr(status, name) for name in dir(status) if name.startswith("f_")}


class _Mounted(mfusepy.FUSE):  # type: ignore[misc]
    """Hands on the flags of a rename, which mfusepy drops."""

    def rename_fuse_3(self, old: bytes, new: bytes, flags: int) -> int:
        self.operations.rename(os.fsdecode(old), os.fsdecode(new), flags)
        return 0


if __name__ == "__main__":
    _Mounted(
        _Mirror(Path(sys.argv[1]), _Faults(Path(sys.argv[3]))),
        sys.argv[2],
        foreground=True,
        nothreads=True,
        attr_timeout=0,
        entry_timeout=0,
        negative_timeout=0,
        direct_io=True,
        hard_remove=True,
    )
