"""The empty namespace of HDFS: the NameNode's own format writes it once, and every new cluster gets a copy.

A format is a JVM that the NameNode has to wait for (2 to 3 s of CPU), and it writes four small files. The files of two
clusters differ in the IDs of the cluster and of its block pool. DataNodes know by these IDs whose blocks they hold; a
copy gets new ones.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace

from howdah.errors import HostProblem
from howdah.hadoop.distribution.distribution import Distribution
from howdah.host import Host, operations

_IMAGE = "fsimage_0000000000000000000"
_FILES = ("VERSION", "seen_txid", _IMAGE, f"{_IMAGE}.md5")
# What clients, jobs and DataNodes read has no part in a format. Any other setting of HDFS or of Hadoop may say where
# the namespace is, or whose, or with which permissions.
_APART = ("mapreduce.", "yarn.", "dfs.client.", "dfs.datanode.", "dfs.blocksize", "dfs.replication", "io.")


def namespace_key(distribution: Distribution, user: str, overrides: Mapping[str, str]) -> str | None:
    """Return a name for the empty namespace that `user` (its owner) gets from this distribution. Returns None if the
    user's own settings may shape the namespace, so that it must be formatted from scratch."""
    if not all(key.startswith(_APART) for key in overrides):
        return None
    hadoop = replace(distribution, plugins=())  # They have no part in a format.
    digest = hashlib.sha256(f"{hadoop.fingerprint()} {user}".encode()).hexdigest()
    return f"{distribution.version}-{digest[:16]}"


def keep_namespace(host: Host, name_directory: str, kept: str) -> None:
    """Copy a freshly formatted namespace from `name_directory` (`dfs.namenode.name.dir`) to the directory `kept`."""
    fresh = f"{kept}.{secrets.token_hex(4)}.new"
    operations.make_directory(host, fresh)
    for name in _FILES:
        operations.write_file(host, f"{fresh}/{name}", _read(host, f"{name_directory}/current/{name}"))
    operations.remove(host, kept)
    try:
        operations.rename(host, fresh, kept)
    except HostProblem:
        # Another cluster that came up at the same time was faster.
        operations.remove(host, fresh)


def lay_namespace(host: Host, kept: str, name_directory: str) -> bool:
    """Copy the namespace in `kept` to `name_directory`, with new IDs. Returns False, and writes nothing, if there is
    none or a damaged one."""
    try:
        files = {name: _read(host, f"{kept}/{name}") for name in _FILES}
    except HostProblem:
        return False
    digest = hashlib.md5(files[_IMAGE], usedforsecurity=False).hexdigest()
    version, changed = _with_new_ids(files["VERSION"].decode(errors="replace"))
    if (
        not files[f"{_IMAGE}.md5"].startswith(digest.encode())
        or changed != 2
        or not files["seen_txid"].strip().isdigit()
    ):
        return False
    operations.use_kept(host, kept)
    operations.make_directory(host, f"{name_directory}/current")
    for name, content in {**files, "VERSION": version.encode()}.items():
        operations.write_file(host, f"{name_directory}/current/{name}", content)
    return True


def _read(host: Host, path: str) -> bytes:
    return operations.read_file(host, path)


def _with_new_ids(version: str) -> tuple[str, int]:
    """Return the text of a VERSION file with new IDs, and their number. The IDs have the form of
    `NNStorage.newBlockPoolID` and `newClusterID`."""
    pool = rf"\g<1>{secrets.randbelow(2**31)}\g<2>{int(time.time() * 1000)}"
    version, pools = re.subn(r"(?m)^(blockpoolID=BP-)\d+(-.+-)\d+$", pool, version)
    version, clusters = re.subn(r"(?m)^(clusterID=CID-).+$", rf"\g<1>{uuid.uuid4()}", version)
    return version, pools + clusters
