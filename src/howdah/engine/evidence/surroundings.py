"""The surroundings of a run that are kept: environment, configuration as written, and configuration of the live
daemons."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.logs import CONTAINER_LOGS
from howdah.engine.evidence.readback import DAEMON_FLAGS
from howdah.hadoop.configuration.site import read_client_files, redacted_file
from howdah.hadoop.distribution.distribution import sha256
from howdah.hadoop.distribution.spark import Spark
from howdah.hadoop.interfaces.effective import effective_configuration
from howdah.hadoop.interfaces.http import Unreachable
from howdah.host import Host, operations
from howdah.host.over import of_reachable, over
from howdah.model.environment import Environment
from howdah.model.redaction import REDACTED, is_sensitive
from howdah.model.run import Caveat
from howdah.store import RunWriter


def read_environment(cluster: LiveCluster, programs: Sequence[Path], spark: Spark | None) -> Environment:
    """Return the fingerprint of every reachable machine, of Hadoop, and of the workload's other software. `programs`
    are jars of Howdah."""

    daemons: dict[str, list[int]] = {}
    for one in cluster.seen_daemons():
        daemons.setdefault(one.machine, []).append(one.pid)

    def fingerprint(host: Host) -> dict[str, Any]:
        # By what they are for: their names are those of one cluster.
        paths = cluster.mounts(host.name)
        facts = operations.fingerprint(host, paths)
        java = operations.jvm(host, pids) if (pids := daemons.get(host.name)) else {}
        mounts = {paths[path]: mount for path, mount in facts["mounts"].items()}
        return {**facts, "mounts": mounts, **({"jvm": dict(java)} if java else {})}

    hosts = over(cluster.machines, fingerprint)
    distribution = cluster.distribution
    hadoop: dict[str, Any] = {
        "version": distribution.version,
        "source": distribution.source,
        "substitutes": dict(distribution.substitutes),
        "jars": {**distribution.hashes(), **{jar.name: sha256(jar) for jar in programs}},
        "jdk": {
            "version": ".".join(map(str, cluster.jdk.version)),
            "vendor": cluster.jdk.vendor,
            "home": str(cluster.jdk.home),
        },
    }
    if spark is not None:
        hadoop["spark"] = {"version": spark.version}
    return Environment(hosts, hadoop)


def keep_configuration(cluster: LiveCluster, writer: RunWriter) -> list[Caveat]:
    """Keep the files of the conf directory, the JVM flags of the daemons that Howdah started, and the answers of live
    daemons at `/conf`. Return a caveat for each daemon that does not answer."""
    for name, content in read_client_files(cluster.conf).items():
        writer.keep(f"conf/{name}", redacted_file(name, content))
    flags: dict[str, list[str]] = {}
    for host, daemons in cluster.daemons_by_host().values():
        lines = operations.command_lines(host, [daemon.pid for daemon in daemons])
        flags |= {f"{one.role}-{one.place}": flags_of(line) for one, line in zip(daemons, lines, strict=True)}
    writer.keep_json(f"conf/{DAEMON_FLAGS}", flags)
    missing = []
    for name, address in cluster.web_servers.items():
        try:
            settings = effective_configuration(address, cluster.access.of_role(name))
        except Unreachable as error:
            missing.append(Caveat("run", f"the effective configuration of {name} is missing: {error.message}"))
            continue
        writer.keep_json(
            f"conf/effective/{name}.json",
            {
                key: {"value": REDACTED if is_sensitive(key) else one.value, "source": one.source}
                for key, one in sorted(settings.items())
            },
        )
    return missing


def flags_of(line: Sequence[str]) -> list[str]:
    """Return the JVM flags among the words of a command line: all between `java` and the class path."""
    return list(itertools.takewhile(lambda word: word not in ("-cp", "-classpath"), line[1:]))


def keep_logs(cluster: LiveCluster, writer: RunWriter, applications: Collection[str] | None, most_bytes: int) -> None:
    """Keep the ends of the logs of the daemons, and of the containers of `applications` (None: of all)."""

    def keep_daemon(host: Host, path: str) -> None:
        if operations.resolve_path(host, path) is not None:  # It was started.
            writer.keep(f"logs/daemons/{Path(path).name}", operations.read_file(host, path, offset=-most_bytes))

    def keep_containers(host: Host, path: str) -> None:
        _keep_containers(host, writer, path, applications, most_bytes)

    for keep, places in ((keep_daemon, cluster.log_files), (keep_containers, cluster.container_logs)):
        for host, path in places:
            of_reachable(host, partial(keep, path=path))


def _keep_containers(
    host: Host, writer: RunWriter, root: str, applications: Collection[str] | None, most_bytes: int
) -> None:
    listing = host.call
    for application in listing("files.list", path=root):
        if applications is not None and application["name"] not in applications:
            continue
        for container in listing("files.list", path=f"{root}/{application['name']}"):
            directory = f"{root}/{application['name']}/{container['name']}"
            for file in listing("files.list", path=directory):
                if file["size"] and file["name"] in CONTAINER_LOGS:
                    content = operations.read_file(host, f"{directory}/{file['name']}", offset=-most_bytes)
                    writer.keep(f"logs/containers/{container['name']}/{file['name']}", content)
