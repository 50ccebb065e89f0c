"""Checks that a cluster really works: the daemons answer, and nothing is assumed after a pause."""

from __future__ import annotations

import time
from collections.abc import Callable

from howdah.errors import ClusterProblem
from howdah.hadoop.interfaces.history_server import HistoryServer
from howdah.hadoop.interfaces.http import Garbled, Rejected, Unreachable
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.resourcemanager import ResourceManager
from howdah.hadoop.interfaces.webhdfs import WebHdfs

_INTERVAL_SECONDS = 0.1
_PROBE = b"written and read back by howdah up\n"


def wait_until_healthy(
    namenode: NameNode,
    resourcemanager: ResourceManager,
    history: HistoryServer,
    hdfs: WebHdfs | None,
    *,
    nodes: int,
    timeout: float,
    check_alive: Callable[[], None],
    announce: Callable[[str], None],
) -> None:
    """Return when the cluster is healthy. All DataNodes are live and out of safe mode, all NodeManagers are registered,
    and the history server answers. A file was written to HDFS and read back; `hdfs` is None if there is no HDFS.
    `check_alive` raises as soon as a daemon has ended.

    Raises:
        ClusterProblem: the cluster is not healthy within `timeout` seconds; the message says what is missing.
    """
    deadline = time.monotonic() + timeout
    waiting: dict[str, Callable[[], str | None]] = {
        **({} if hdfs is None else {"hdfs": lambda: _hdfs_lacks(namenode, nodes)}),
        "yarn": lambda: _yarn_lacks(resourcemanager, nodes),
        "history": lambda: _history_lacks(history),
    }
    lacks: dict[str, str] = {}
    while waiting:
        check_alive()
        for part, ask in list(waiting.items()):
            try:
                missing = ask()
                if missing is None and part == "hdfs" and hdfs is not None:  # While YARN's daemons still start.
                    _write_and_read(hdfs)
            except (Unreachable, Rejected, Garbled) as error:  # It is still starting.
                missing = error.message
            if missing is None:
                del waiting[part]
                announce(part)
                if part == "hdfs":
                    announce("file")
            else:
                lacks[part] = missing
        if waiting and time.monotonic() > deadline:
            raise ClusterProblem(
                f"not healthy after {timeout:.0f} s: " + "; ".join(lacks[part] for part in waiting),
            )
        time.sleep(_INTERVAL_SECONDS)


def _hdfs_lacks(namenode: NameNode, nodes: int) -> str | None:
    status = namenode.status()
    if len(status.live) < nodes:
        return f"{len(status.live)} of {nodes} DataNodes are live"
    return status.safe_mode


def _yarn_lacks(resourcemanager: ResourceManager, nodes: int) -> str | None:
    active = resourcemanager.metrics().active_nodes
    return None if active >= nodes else f"{active} of {nodes} NodeManagers are registered"


def _history_lacks(history: HistoryServer) -> str | None:
    history.info()
    return None


def _write_and_read(hdfs: WebHdfs) -> None:
    path = "/tmp/howdah-health"
    hdfs.write(path, _PROBE, overwrite=True)
    if (back := hdfs.read(path)) != _PROBE:
        raise ClusterProblem(f"a file of {len(_PROBE)} bytes was written to HDFS and {len(back)} other bytes came back")
    hdfs.delete(path)
