"""Software that is kept on a host by its content: files by their SHA-256, and trees of hard links to them.

STORE/files/SHA256             a whole file, checked
      files/SHA256.BOOT.part   one that is being sent to the host with this boot id, which may not be alone in the store
                               that it has; what there is of it need not be sent again
      trees/NAME/…             directories whose files are links to those
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from typing import Any, Callable, Dict

from .files import make

_STRIDE = 1 << 20
# The class archive notes when each jar was changed; a tree that is laid again is to fit it.
_WHEN = 1_000_000_000


def have(store: str, digests: list[str]) -> dict[str, int]:
    """How many bytes of each of these files have to be sent no more: -1 for all of them."""
    found = {}
    for digest in digests:
        if os.path.exists(path_of(store, digest)):
            found[digest] = -1
        else:
            found[digest] = _size(_part(store, digest))
    return found


def put(store: str, digest: str, offset: int, content: bytes, last: bool) -> None:
    """Adds `content` at `offset`, which is where the part ends that is there. With the last one, the file is checked.

    Raises ValueError where the file is not the one with this SHA-256; it is gone then, and can be sent again.
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
    """The directory of the tree `name`, made where it is not there yet: `files` are SHA-256 by path in it. Trees with
    other names share what files they have in common."""
    tree = "{}/trees/{}".format(store, name)
    if os.path.isdir(tree):
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


def path_of(store: str, digest: str) -> str:
    """Where the whole file is, or will be."""
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


OPERATIONS: Dict[str, Callable[..., Any]] = {"store.have": have, "store.lay": lay, "store.put": put}
