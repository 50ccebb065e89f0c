"""The storages there are, by the scheme of their URI."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import UsageError
from howdah.hadoop.namenode import NameNode
from howdah.hadoop.webhdfs import WebHdfs
from howdah.storage import Storage
from howdah.storage.hdfs import Hdfs


def open_storage(settings: Mapping[str, str], namenode: NameNode, webhdfs: WebHdfs) -> Storage:
    """The default file system of a cluster with the client configuration `settings`.

    Raises UsageError for a scheme that is not known here.
    """
    default = settings.get("fs.defaultFS", "file:///")
    if default.startswith("hdfs://"):
        return Hdfs(namenode, webhdfs, default, settings)
    raise UsageError(f"the cluster's fs.defaultFS is {default}; only hdfs:// is known as a storage")
