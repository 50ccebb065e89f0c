"""The known storages, by the scheme of their URI."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import UsageError
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.webhdfs import WebHdfs
from howdah.host import Host
from howdah.model.storage import HDFS, POSIX, POSIX_SCHEME
from howdah.storage import Storage
from howdah.storage.hdfs import Hdfs
from howdah.storage.local import LocalFiles
from howdah.storage.posix import PosixFiles


def open_storages(
    settings: Mapping[str, str], namenode: NameNode, webhdfs: WebHdfs, host: Host
) -> Mapping[str, Storage]:
    """Return the storages of a cluster with the client configuration `settings`, by name, the default first.

    `host` is one of the cluster's hosts. Raises UsageError if the scheme of the default is not known here.
    """
    default = settings.get("fs.defaultFS", "file:///")
    posix = f"fs.{POSIX_SCHEME}.impl" in settings
    if default.startswith(("hdfs://", "viewfs://")):
        hdfs = Hdfs(namenode, webhdfs, default, settings)
        return {HDFS: hdfs, POSIX: PosixFiles(host, settings)} if posix else {HDFS: hdfs}
    if posix and default.rstrip("/") == f"{POSIX_SCHEME}:":
        files: dict[str, Storage] = {POSIX: PosixFiles(host, settings)}
        if "dfs.namenode.rpc-address" in settings:
            files[HDFS] = Hdfs(namenode, webhdfs, f"hdfs://{settings['dfs.namenode.rpc-address']}", settings)
        return files
    raise UsageError(
        f"the cluster's fs.defaultFS is {default}; only hdfs://, viewfs:// and {POSIX_SCHEME}:/// are known as storages"
    )


def files_at(host: Host, directory: str) -> Storage:
    """Return the storage `file:` below `directory` of `host`. Raises UsageError if `directory` is no absolute path."""
    if not directory.startswith("/"):
        raise UsageError(f"{directory!r} is not an absolute path")
    return LocalFiles(host, directory)
