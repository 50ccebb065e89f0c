"""The storages there are, by the scheme of their URI."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import UsageError
from howdah.hadoop.namenode import NameNode
from howdah.hadoop.webhdfs import WebHdfs
from howdah.host import Host
from howdah.storage import Storage
from howdah.storage.hdfs import Hdfs
from howdah.storage.local import LocalFiles


def open_storage(settings: Mapping[str, str], namenode: NameNode, webhdfs: WebHdfs) -> Storage:
    """The default file system of a cluster with the client configuration `settings`.

    Raises UsageError for a scheme that is not known here.
    """
    default = settings.get("fs.defaultFS", "file:///")
    if default.startswith("hdfs://"):
        return Hdfs(namenode, webhdfs, default, settings)
    raise UsageError(f"the cluster's fs.defaultFS is {default}; only hdfs:// is known as a storage")


def open_local(host: Host, directory: str) -> Storage:
    """The storage `file:` below `directory` of `host`. Raises UsageError when that is no absolute path."""
    if not directory.startswith("/"):
        raise UsageError(f"{directory!r} is not an absolute path")
    return LocalFiles(host, directory)
