"""Build a ClusterRequest from the options that make a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from howdah.cluster.request import ClusterRequest, Links
from howdah.cluster.supervision.stageout import parse_copy
from howdah.errors import UsageError
from howdah.hadoop.configuration.plan import NONE, USUAL_PROTECTION
from howdah.hadoop.configuration.site_realm import read_site_realm
from howdah.hadoop.configuration.tuning import select
from howdah.host.batch import BATCH_SYSTEMS
from howdah.model.storage import HDFS, parse_storages
from howdah.store import howdah_home

_HADOOP_SPLITS = re.compile(r"[^\w./+@=~-]")


def cluster_request(
    name: str,
    settings: Mapping[str, str],
    options: Mapping[str, Any],
    persist: str | None = None,
    stage_out: Sequence[str] = (),
) -> ClusterRequest:
    """Return the request of `making_options`, with data kept in `persist`, and `stage_out` copied at the end. Raises
    UsageError for options that contradict each other."""
    from howdah.cluster.allocation import find_allocation

    home = options["hadoop_home"]
    if options["hadoop"] == "system" and home is None:
        home = os.environ.get("HADOOP_HOME")
        if not home:
            raise UsageError("--hadoop system needs HADOOP_HOME, which is not set", hint="Or use --hadoop-home DIR.")
    work = options["work_dir"]
    storage = options["storage"] or HDFS
    for option, given in (("--persist", persist), ("--stage-out", stage_out)):
        if given and not parse_storages(storage).hdfs:
            raise UsageError(f"{option} is for data of HDFS, and this cluster has none", hint="Leave one of them out.")
    if stage_out and options["on"].partition(":")[0] not in BATCH_SYSTEMS:
        raise UsageError(
            "--stage-out is for batch jobs, whose hosts are taken away", hint="`howdah stage out` copies at any time."
        )
    allocation = find_allocation(options["on"], Links(options["silence"], options["network"], options["site"]))
    if work is not None and not allocation.is_here:
        raise UsageError(
            "--work-dir is for this machine", hint="The list of hosts says where data is: `scratch: DIR` in its file."
        )
    select(stock=options["defaults"] == "stock", without=tuple(options["without"]))
    for what, place in (
        ("--work-dir", work),
        ("--hadoop-home", home),
        ("HOWDAH_HOME", howdah_home()),
        ("--persist", persist),
    ):
        _check_place(what, place)
    return ClusterRequest(
        name=name,
        nodes=options["nodes"] or allocation.usual_nodes,
        allocation=options["on"],
        silence=options["silence"],
        network=options["network"],
        site=None if options["site"] is None else str(Path(options["site"]).absolute()),
        protection=_protection(options),
        realm=_realm(options),
        hadoop=options["hadoop"],
        hadoop_home=None if home is None else str(Path(home).absolute()),
        stock=options["defaults"] == "stock",
        without=tuple(options["without"]),
        settings=dict(settings),
        jvm_flags=tuple(options["jvm_flag"]),
        persist=None if persist is None else str(Path(persist).absolute()),
        copies=tuple(parse_copy(one) for one in stage_out),
        storage=storage,
        work_directory=None if work is None else str(Path(work).absolute()),
        offline=options["offline"],
    )


def _protection(options: Mapping[str, Any]) -> str | None:
    asked: str | None = options["protection"]
    if options["insecure"] and (asked or options["secure"]):
        raise UsageError("--insecure does not go with --secure or --protection", hint="Leave one out.")
    if options["insecure"]:
        return NONE
    return asked or (USUAL_PROTECTION if options["secure"] else None)


def _realm(options: Mapping[str, Any]) -> str | None:
    if options["realm"] is None:
        return None
    if options["insecure"]:
        raise UsageError("--insecure does not go with --realm", hint="Leave one out.")
    directory = Path(options["realm"]).expanduser().absolute()
    read_site_realm(directory)
    return str(directory)


def _check_place(what: str, place: str | Path | None) -> None:
    """Raise UsageError for a path that Hadoop would take for several paths, or for part of a command or a URI."""
    found = None if place is None else _HADOOP_SPLITS.search(str(Path(place).absolute()))
    if found is not None:
        raise UsageError(
            f"{what} is {place}, which has {found[0]!r}: Hadoop's scripts and settings take such a path apart",
            hint="Letters, digits and any of . _ - + @ = ~ are fine; a symbolic link without it will do.",
        )
