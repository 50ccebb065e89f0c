"""Files and directories of the host."""

from __future__ import annotations

import binascii
import errno
import hashlib
import os
import pwd
import shutil
import stat
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

from .kernel import mount_of, parse_mountinfo

_TRIES = 20


def read(path: str, offset: int = 0, limit: Optional[int] = None) -> bytes:
    """Return the bytes of a file from `offset`, at most `limit`. A negative offset counts from the end."""
    with open(path, "rb") as source:
        if offset < 0:
            offset = max(0, os.fstat(source.fileno()).st_size + offset)
        source.seek(offset)
        return source.read() if limit is None else source.read(limit)


def write(path: str, content: bytes, mode: int = 0o600) -> None:
    """Create or replace a file, whole or not at all. A file that somebody has laid in its way is not written to."""
    fresh = path + ".new"
    if os.path.lexists(fresh):  # Left by a writer that was killed.
        os.remove(fresh)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode), "wb") as out:
        out.write(content)
    os.replace(fresh, path)


def create(path: str, content: bytes) -> bool:
    """Create a file, whole or not at all; return False if it exists already. If many hosts try, one of them makes the
    link, on every file system that has links."""
    fresh = "{}.{}.{}".format(path, os.getpid(), binascii.hexlify(os.urandom(4)).decode())
    try:
        write(fresh, content)
        os.link(fresh, path)
    except FileExistsError:
        return False
    finally:
        remove(fresh)
    return True


def make(path: str, mode: int = 0o700) -> None:
    """Create a directory and its parents; an existing one is fine. Only new directories get `mode`."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for directory in reversed(missing):
        try:
            os.mkdir(directory)
        except FileExistsError:
            if not os.path.isdir(directory):
                raise
        else:  # Nobody else has made it meanwhile.
            os.chmod(directory, mode)


def remove(path: str) -> None:
    """Remove a file or a whole tree; a missing one is fine. Symbolic links are not followed."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def exposed(path: str) -> Optional[str]:
    """Return who else could change the contents of a directory, in words, or None. Its owner could, and the owner of
    one above it. Everybody could, if one above lets everybody rename its entries. The targets of links are checked,
    too. Root is trusted, and so are the members of a group that may write (as in OpenSSH's StrictModes, but for the
    group)."""
    trusted = {0, os.geteuid()} | _unmapped()
    lexical = os.path.abspath(path)
    for place in dict.fromkeys([*_upwards(lexical), *_upwards(os.path.realpath(lexical))]):
        try:
            seen = os.lstat(place)
        except FileNotFoundError:
            continue
        if seen.st_uid not in trusted:
            return "{} belongs to {}".format(place, _user(seen.st_uid))
        if stat.S_ISDIR(seen.st_mode) and seen.st_mode & stat.S_IWOTH and not seen.st_mode & stat.S_ISVTX:
            return "everybody may rename what is in {}".format(place)
    return None


def _upwards(path: str) -> Iterator[str]:
    yield path
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        yield path


def _unmapped() -> Set[int]:
    """Return the number of nobody in a container of a user's own, and nothing elsewhere. The machine's root has no
    number in such a container, and is shown as nobody."""
    try:
        with open("/proc/self/uid_map") as source:
            whole = source.read().split()[:3] == ["0", "0", "4294967295"]
        with open("/proc/sys/kernel/overflowuid") as source:
            return set() if whole else {int(source.read())}
    except OSError:
        return set()


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return "user {}".format(number)


OWNER_FILE = ".howdah-owner"


def claim(path: str, owner: str) -> Optional[str]:
    """Create a directory from scratch, empty but for a file that names its owner. An existing directory is removed only
    if it is empty, or if `owner` had it. Otherwise nothing happens; the answer is its owner, empty if unknown."""
    if os.path.lexists(path) and not (_is_own(path) and os.access(path, os.R_OK | os.W_OK | os.X_OK)):
        return ""
    if os.path.isdir(path) and set(os.listdir(path)) - {OWNER_FILE + ".new"}:
        other = _owner(path)
        if other != owner:
            return other
    remove_claimed(path, owner)
    make(path)
    os.chmod(path, 0o700)  # An empty one that was there may have had another mode.
    write(os.path.join(path, OWNER_FILE), owner.encode())
    return None


def _is_own(path: str) -> bool:
    """Return whether the path is a directory that this user has made, and no link."""
    seen = os.lstat(path)
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid()


def remove_claimed(path: str, owner: str) -> Optional[str]:
    """Remove a directory that `owner` claimed, if it is there. A directory of another owner stays; the answer is its
    owner, empty if unknown. A directory on a disk that is gone counts as removed."""
    for left in reversed(range(_TRIES)):
        try:
            return _remove_claimed(path, owner)
        except FileNotFoundError:  # Somebody else removes it, too, or a process that ends removes its own files.
            if not left:
                raise
    return None


def _remove_claimed(path: str, owner: str) -> Optional[str]:
    if not os.path.lexists(path):
        return None
    try:
        os.listdir(path)
    except OSError as error:
        if error.errno == errno.EIO:
            return None
    other = _owner(path)
    if other != owner:
        return other
    for name in os.listdir(path):
        if name != OWNER_FILE:  # The last: what cannot be removed now is its owner's still.
            remove(os.path.join(path, name))
    mark = os.path.join(path, OWNER_FILE)
    os.remove(mark)
    try:
        os.rmdir(path)
    except OSError:
        write(mark, owner.encode())
        raise
    return None


def _owner(path: str) -> str:
    try:
        return read(os.path.join(path, OWNER_FILE), limit=4096).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
        return ""


def rename(path: str, to: str) -> None:
    """Rename a file on the same file system, replacing a file with the new name."""
    os.replace(path, to)


def listing(path: str) -> List[Dict[str, Any]]:
    """Return name, type (`file`, `directory`, `link`, `other`) and size of each entry, sorted by name. Entries that
    vanish meanwhile are left out."""
    entries = []
    with os.scandir(path) as found:
        for entry in found:
            kind = "link" if entry.is_symlink() else "directory" if entry.is_dir() else "file"
            if kind == "file" and not entry.is_file():
                kind = "other"
            try:
                size = entry.stat(follow_symlinks=False).st_size
            except FileNotFoundError:
                continue
            entries.append({"name": entry.name, "type": kind, "size": size})
    return sorted(entries, key=lambda item: item["name"])


def walk(path: str) -> Dict[str, List[int]]:
    """Return size, and time of the last change in nanoseconds, of every file below `path`, by its path below it; "" for
    a file. Raises ValueError for anything but files and directories. A link to a directory raises it, too: nobody knows
    whether the data behind it belong there."""
    seen = os.stat(path)
    if stat.S_ISREG(seen.st_mode):
        return {"": [seen.st_size, seen.st_mtime_ns]}
    found: Dict[str, List[int]] = {}
    for place, directories, names in os.walk(path, onerror=_raise):
        for name in directories:
            if os.path.islink(os.path.join(place, name)):
                raise ValueError("{} is a link to a directory".format(os.path.join(place, name)))
        for name in names:
            whole = os.path.join(place, name)
            seen = os.stat(whole)
            if not stat.S_ISREG(seen.st_mode):
                raise ValueError("{} is no ordinary file".format(whole))
            found[os.path.relpath(whole, path)] = [seen.st_size, seen.st_mtime_ns]
    return found


def _raise(error: OSError) -> None:
    raise error


def resolve(path: str) -> Optional[str]:
    """Return the real path, links followed, or None if nothing is there."""
    real = os.path.realpath(os.path.expanduser(path))
    return real if os.path.exists(real) else None


def is_writable(path: str) -> bool:
    """Return whether this user may write to an existing file, or in an existing directory."""
    return os.access(path, os.W_OK)


def mounted_type(path: str) -> Optional[str]:
    """Return the type of the file system of a directory, as `df -T` names it; None for the file system of `/`."""
    real = os.path.realpath(path)
    if os.stat(real).st_dev == os.stat("/").st_dev:
        return None
    with open("/proc/self/mountinfo") as source:
        mount = mount_of(real, parse_mountinfo(source.read()))
    return None if mount is None else str(mount["type"])


def find_command(name: str) -> Optional[str]:
    """Return the path of `name` on the agent's PATH, or None."""
    return shutil.which(name)


def checksum(path: str) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as source:
        for block in iter(lambda: source.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def space(path: str) -> Dict[str, int]:
    """Return bytes and inodes of the file system that holds `path` (or its nearest existing parent), and its device
    number."""
    while not os.path.exists(path):
        path = os.path.dirname(path) or "/"
    facts = os.statvfs(path)
    return {
        "total": facts.f_blocks * facts.f_frsize,
        "free": facts.f_bavail * facts.f_frsize,
        "inodes_free": facts.f_favail,
        "inodes_total": facts.f_files,
        "device": os.stat(path).st_dev,
    }


def environment(name: str) -> Optional[str]:
    """Return a variable of the agent's environment."""
    return os.environ.get(name)


OPERATIONS: Dict[str, Callable[..., Any]] = {
    "files.read": read,
    "files.write": write,
    "files.create": create,
    "files.make": make,
    "files.remove": remove,
    "files.exposed": exposed,
    "files.claim": claim,
    "files.remove_claimed": remove_claimed,
    "files.rename": rename,
    "files.list": listing,
    "files.walk": walk,
    "files.resolve": resolve,
    "files.is_writable": is_writable,
    "files.mounted_type": mounted_type,
    "files.find_command": find_command,
    "files.checksum": checksum,
    "files.space": space,
    "environment.get": environment,
}
