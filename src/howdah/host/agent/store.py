"""Software that is kept on a host by its content: files by their SHA-256, and trees of hard links to them.

```
STORE/files/SHA256             a whole file, checked
      files/SHA256.BOOT.part   a file that is being sent to the host with this boot ID, which may share the store with
                               other hosts; the part that is there need not be sent again
      trees/NAME/…             directories whose files are links to those
      archives/…, namespaces/… made here by the users of this software, for later use
```
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from typing import Any, Callable, Dict

from .files import make

_STRIDE = 1 << 20
_KINDS = ("trees", "archives", "namespaces")
_A_DAY = 86400.0
# The class archive notes when each jar was changed; a tree that is laid again is to fit it.
_WHEN = 1_000_000_000


def have(store: str, digests: list[str]) -> dict[str, int]:
    """Return how many bytes of each of these files need not be sent any more: -1 for all of them."""
    found = {}
    for digest in digests:
        if os.path.exists(path_of(store, digest)):
            found[digest] = -1
        else:
            found[digest] = _size(_part(store, digest))
    return found


def put(store: str, digest: str, offset: int, content: bytes, last: bool) -> None:
    """Add `content` at `offset`, which is the end of the present part. With the last content, the file is checked.

    Raises ValueError if the file does not have this SHA-256; it is gone then, and can be sent again.
    """
    part = _part(store, digest)
    make(os.path.dirname(part))
    with open(part, "r+b" if offset else "wb") as out:
        out.seek(offset)
        out.truncate()
        out.write(content)
    if not last:
        return
    if _sha256(part) != digest:
        os.remove(part)
        raise ValueError("what has arrived has another SHA-256 than {}".format(digest))
    os.utime(part, (_WHEN, _WHEN))
    os.replace(part, path_of(store, digest))


def lay(store: str, name: str, files: dict[str, str]) -> str:
    """Return the directory of the tree `name`, created if it is missing: `files` are SHA-256 by path in the tree. Trees
    with other names share the files that they have in common."""
    tree = "{}/trees/{}".format(store, name)
    if use(tree):
        return tree
    make(os.path.dirname(tree))
    fresh = tempfile.mkdtemp(".new", name, os.path.dirname(tree))
    for path, digest in files.items():
        place = os.path.join(fresh, path)
        make(os.path.dirname(place))
        os.link(path_of(store, digest), place)
    try:
        os.rename(fresh, tree)
    except OSError:  # Another cluster was faster.
        shutil.rmtree(fresh)
        if not os.path.isdir(tree):
            raise
    return tree


def use(path: str) -> bool:
    """Record that the entry at `path` was used now; return whether it is there."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def contents(store: str) -> list[dict[str, Any]]:
    """Return the entries of a store. Each has `name` and `bytes`. `used` is the time of the last use, in seconds since
    1970. `busy` is whether a process of this host has the entry on its command line. Files that were sent and are in no
    tree are one entry, `files`."""
    lines, found = _command_lines(), []
    for kind in _KINDS:
        for name in _names(os.path.join(store, kind)):
            path = os.path.join(store, kind, name)
            when = os.stat(path).st_mtime
            busy = any(path.encode() in line for line in lines)
            found.append({"name": "{}/{}".format(kind, name), "bytes": _bytes(path), "used": when, "busy": busy})
    loose = _loose(store, time.time())
    if loose:
        size = sum(os.stat(path).st_size for path in loose)
        found.append({"name": "files", "bytes": size, "used": max(map(_changed, loose)), "busy": False})
    return found


def discard(store: str, names: list[str]) -> None:
    """Remove entries of `contents`, and files that no tree has and that were sent more than a day ago."""
    for name in names:
        kind, _, rest = name.partition("/")
        if kind in _KINDS and rest and rest not in (".", "..") and "/" not in rest:
            _remove(os.path.join(store, kind, rest))
        elif name != "files":
            raise ValueError("no such entry: {}".format(name))
    for path in _loose(store, time.time() - _A_DAY):
        os.remove(path)


def _remove(path: str) -> None:
    gone = "{}.{}.gone".format(path, os.getpid())
    os.rename(path, gone)  # Nobody finds half of it.
    if os.path.isdir(gone):
        shutil.rmtree(gone)
    else:
        os.remove(gone)


def _loose(store: str, before: float) -> list[str]:
    """Return files that were sent and that no tree has, whole or in part, since before a moment."""
    found = []
    for name in _names(os.path.join(store, "files")):
        path = os.path.join(store, "files", name)
        if os.stat(path).st_nlink == 1 and _changed(path) <= before:
            found.append(path)
    return found


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except FileNotFoundError:
        return []


def _changed(path: str) -> float:
    return os.stat(path).st_ctime  # Its mtime is one that fits class archives.


def _bytes(path: str) -> int:
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(path) for name in names)


def _command_lines() -> list[bytes]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/{}/cmdline".format(name), "rb") as line:
                    found.append(line.read())
            except OSError:  # It has just ended.
                pass
    return found


def path_of(store: str, digest: str) -> str:
    """Return the path of the whole file, even if it does not exist yet."""
    return "{}/files/{}".format(store, digest)


def _part(store: str, digest: str) -> str:
    with open("/proc/sys/kernel/random/boot_id") as source:
        return "{}.{}.part".format(path_of(store, digest), source.read().strip())


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as content:
        for stride in iter(lambda: content.read(_STRIDE), b""):
            digest.update(stride)
    return digest.hexdigest()


OPERATIONS: Dict[str, Callable[..., Any]] = {
    "store.have": have,
    "store.lay": lay,
    "store.put": put,
    "store.use": use,
    "store.contents": contents,
    "store.discard": discard,
}
