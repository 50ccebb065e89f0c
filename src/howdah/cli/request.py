"""From the options that make a cluster to a ClusterRequest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from howdah.cluster.request import ClusterRequest
from howdah.errors import UsageError
from howdah.model.storage import HDFS, parse_storages


def cluster_request(name: str, settings: Mapping[str, str], options: Mapping[str, Any]) -> ClusterRequest:
    """The request that the options of `making_options` amount to. Raises UsageError for what cannot be."""
    home = options["hadoop_home"]
    if options["hadoop"] == "system" and home is None:
        home = os.environ.get("HADOOP_HOME")
        if not home:
            raise UsageError("--hadoop system needs HADOOP_HOME, which is not set", hint="Or use --hadoop-home DIR.")
    work = options["work_dir"]
    storage = options["storage"] or HDFS
    parse_storages(storage)
    return ClusterRequest(
        name=name,
        nodes=options["nodes"] or 1,
        hadoop=options["hadoop"],
        hadoop_home=None if home is None else str(Path(home).absolute()),
        stock=options["defaults"] == "stock",
        without=tuple(options["without"]),
        settings=dict(settings),
        jvm_flags=tuple(options["jvm_flag"]),
        storage=storage,
        work_directory=None if work is None else str(Path(work).absolute()),
        offline=options["offline"],
    )
