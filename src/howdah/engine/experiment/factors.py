"""The factors that are no Hadoop property, by name: their levels, and the effect of each level.

To add a factor, write an entry of `FACTORS`. Everything else that an experiment names is a Hadoop property.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from howdah.cluster.allocation import find_allocation
from howdah.cluster.request import ClusterRequest
from howdah.engine.run.faults import Fault, parse_fault
from howdah.errors import UsageError
from howdah.hadoop.configuration.cluster import Scope, scope_of
from howdah.hadoop.configuration.security import PROTECTIONS, check_protection
from howdah.hadoop.distribution.jars import SECURE_IO_JAR, SECURITY_JAR, how_to_get_jars, place_of
from howdah.host import Host, operations
from howdah.host.batch import BATCH_SYSTEMS
from howdah.model.accelerator import ACCELERATOR_JAR, ACCELERATORS, NONE, settings_for
from howdah.model.quantity import parse_bytes
from howdah.model.storage import FILESYSTEM_JAR, parse_storages
from howdah.spec.simulation import with_key
from howdah.spec.slips import did_you_mean

Cost = Literal["job", "cluster", "person"]
"""The cost of changing a factor: another job, a cluster that is started from scratch, or a person's work."""

_SETTINGS = r"(?!hosts\.|hadoop\.).*"

CONFIGURATION = "configuration"
"""The factor whose levels are named settings."""

ALLOCATION = "on"
"""The factor for the source of the hosts."""

WORK_DIRECTORY = "work"
"""The level of `shuffle_dir` that is the cluster's own directory."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a run: the cluster, the Hadoop keys, and the fault in the measured phase. If `cold`, files are
    out of the page cache when each phase of the workload begins."""

    made: ClusterRequest
    conf: Mapping[str, str] = field(default_factory=dict)
    cold: bool = False
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class NamedFactor:
    """One factor. `apply` returns the conditions with a level of the factor, and raises UsageError for a text that is
    no level. `refusal` returns why a host cannot offer a level, and `hint` says what to do then.

    `follows` matches settings and facts (`daemons/KEY`, `PHASE/KEY`, `hadoop.…`, `hosts.…`) that change with the level,
    besides the Hadoop keys of the factor.
    """

    name: str
    cost: Cost
    levels: str
    what: str
    apply: Callable[[str, Conditions], Conditions]
    refusal: Callable[[Host, str], str | None] | None = None
    follows: str | None = None
    hint: str | None = None


def conditions(settings: Mapping[str, str], made: ClusterRequest) -> Conditions:
    """Return the conditions that `settings`, factors and Hadoop properties by name, make of the request `made`. Raises
    UsageError for a bad level, and for a property that a factor sets as well."""
    found = Conditions(made)
    keys = {name: level for name, level in settings.items() if name not in FACTORS}
    # Hosts first: unless there is more to say of nodes, there is one for each.
    for name, level in sorted(settings.items(), key=lambda one: one[0] != ALLOCATION):
        if name not in FACTORS:
            continue
        found = FACTORS[name].apply(level, found)
        for key in keys.keys() & found.conf.keys():
            raise UsageError(f"{name} {level} sets {key}, which is given as {keys[key]}, too", hint="Leave one out.")
    return replace(found, conf={**found.conf, **keys})


def check_fault(found: Conditions) -> None:
    """Raise UsageError if the fault of `found` cannot happen to the hosts of the cluster that is made for it."""
    fault, allocation = found.fault, found.made.allocation
    if fault is None or fault.host is None or allocation.partition(":")[0] in BATCH_SYSTEMS:
        return
    find_allocation(allocation).check_fault(fault.on(fault.host))


def check_factors(levels: Mapping[str, str], host: Host) -> None:
    """Refuse unknown factors by name, and levels that `host` cannot offer. Raises UsageError with the reason."""
    for name, level in levels.items():
        if name not in FACTORS:
            raise UsageError(f"there is no factor {name!r}", hint=did_you_mean(name, FACTORS))
        factor = FACTORS[name]
        if factor.refusal is not None and (reason := factor.refusal(host, level)) is not None:
            raise UsageError(f"{name} cannot be {level} here: {reason}", hint=factor.hint)


def cost_of(factor: str) -> Cost:
    """Return the cost of changing a factor or a Hadoop property."""
    if factor in FACTORS:
        return FACTORS[factor].cost
    return "cluster" if scope_of(factor) is Scope.CLUSTER else "job"


def _whole(name: str, text: str, least: int = 1) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < least:
        raise UsageError(f"{name} is {text!r}, which is not a whole number of at least {least}")
    return int(text)


def _with_conf(found: Conditions, **keys: str) -> Conditions:
    return replace(found, conf={**found.conf, **keys})


def _nodes(level: str, found: Conditions) -> Conditions:
    return replace(found, made=replace(found.made, nodes=_whole("nodes", level)))


def _on(level: str, found: Conditions) -> Conditions:
    try:
        nodes = find_allocation(level).usual_nodes
    except UsageError:
        if level not in BATCH_SYSTEMS:
            raise
        nodes = found.made.nodes  # Whoever only looks, once the job has ended, need not be in one.
    return replace(found, made=replace(found.made, allocation=level, nodes=nodes))


def _no_job(host: Host, level: str) -> str | None:  # noqa: ARG001
    if level in BATCH_SYSTEMS:
        try:
            find_allocation(level)
        except UsageError as error:
            return error.message
    return None


def _hadoop(level: str, found: Conditions) -> Conditions:
    return replace(found, made=replace(found.made, hadoop=level, hadoop_home=None))


def _vcores(level: str, found: Conditions) -> Conditions:
    # By default YARN looks at memory alone, and vcores mean nothing.
    dominant = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
    keys = {
        "yarn.nodemanager.resource.cpu-vcores": str(_whole("vcores", level)),
        "yarn.scheduler.capacity.resource-calculator": dominant,
    }
    return _with_conf(found, **keys)


def _memory(level: str, found: Conditions) -> Conditions:
    return _with_conf(found, **{"yarn.nodemanager.resource.memory-mb": str(parse_bytes(level) >> 20)})


def _replication(level: str, found: Conditions) -> Conditions:
    return _with_conf(found, **{"dfs.replication": str(_whole("replication", level))})


def _jvm(level: str, found: Conditions) -> Conditions:
    flags = () if level == "usual" else tuple(level.split())
    if any(not flag.startswith("-") for flag in flags):
        raise UsageError(f"jvm is {level!r}, which is not a list of JVM flags", hint="Write usual, or -XX:+UseG1GC.")
    return replace(found, made=replace(found.made, jvm_flags=flags, task_flags=flags))


def _cpus(level: str, found: Conditions) -> Conditions:
    if found.made.allocation.partition(":")[0] == "sim":
        return _of_hosts("cpus")(level, found)
    return replace(found, made=replace(found.made, processors=_whole("cpus", level)))


def _few_processors(host: Host, level: str) -> str | None:
    there = operations.capacity(host).processors
    return f"{host.name} has {there} processors" if float(level) > there else None


def _shuffle_directory(level: str, found: Conditions) -> Conditions:
    if level != WORK_DIRECTORY and not level.startswith("/"):
        raise UsageError(f"shuffle_dir is {level!r}, which is no absolute path, nor {WORK_DIRECTORY}")
    directory = None if level == WORK_DIRECTORY else level
    return replace(found, made=replace(found.made, shuffle_directory=directory))


def _no_directory(host: Host, level: str) -> str | None:
    if level == WORK_DIRECTORY or operations.is_writable(host, level):
        return None
    return f"{host.name} has no directory {level} that one can write to"


def _cache(level: str, found: Conditions) -> Conditions:
    _one_of("cache", level, ("warm", "dropped"))
    return replace(found, cold=level == "dropped")


def _no_dropping(host: Host, level: str) -> str | None:
    if level == "warm" or operations.is_writable(host, "/proc/sys/vm/drop_caches"):
        return None
    return f"only root may empty the page cache of {host.name} (/proc/sys/vm/drop_caches)"


def _faults(level: str, found: Conditions) -> Conditions:
    return replace(found, fault=parse_fault(level))


def _defaults(level: str, found: Conditions) -> Conditions:
    _one_of("defaults", level, ("tuned", "stock"))
    return replace(found, made=replace(found.made, stock=level == "stock"))


def _accelerator(level: str, found: Conditions) -> Conditions:
    _one_of("accelerator", level, tuple(ACCELERATORS))
    return _with_conf(found, **settings_for(level))


def _not_built(host: Host, level: str) -> str | None:
    if level == NONE or operations.resolve_path(host, str(place_of(ACCELERATOR_JAR))) is not None:
        return None
    return f"{ACCELERATOR_JAR}.jar has not been built"


def _storage(level: str, found: Conditions) -> Conditions:
    parse_storages(level)
    return replace(found, made=replace(found.made, storage=level))


def _no_storage(host: Host, level: str) -> str | None:
    directory = parse_storages(level).directory
    if directory is None:
        return None
    if operations.resolve_path(host, str(place_of(FILESYSTEM_JAR))) is None:
        return f"{FILESYSTEM_JAR}.jar has not been built. {how_to_get_jars()}"
    return _no_directory(host, directory)


def _one_of(name: str, level: str, known: tuple[str, ...]) -> None:
    if level not in known:
        raise UsageError(f"there is no {name} {level!r} here", hint=did_you_mean(level, known))


def _not_alone(level: str, _: Conditions) -> Conditions:
    raise UsageError(f"{CONFIGURATION} is {level!r}, whose settings stand in an experiment file alone")


def _of_hosts(key: str) -> Callable[[str, Conditions], Conditions]:
    """Return an `apply` for `key`, a resource that simulated hosts get from the machine."""
    return lambda level, found: replace(
        found, made=replace(found.made, allocation=with_key(found.made.allocation, key, level))
    )


def _protection(level: str, found: Conditions) -> Conditions:
    return replace(found, made=replace(found.made, protection=check_protection(level)))


def _not_secured(host: Host, level: str) -> str | None:
    lacking = [
        jar for jar in (SECURITY_JAR, SECURE_IO_JAR) if operations.resolve_path(host, str(place_of(jar))) is None
    ]
    return None if level == PROTECTIONS[0] or not lacking else f"{lacking[0]}.jar has not been built"


FACTORS: Mapping[str, NamedFactor] = {
    one.name: one
    for one in (
        NamedFactor("nodes", "cluster", "1, 3", "nodes of the cluster", _nodes, follows=_SETTINGS),
        NamedFactor(
            ALLOCATION,
            "cluster",
            "local, channels:3",
            "where the hosts come from, with one node for each unless `nodes` says how many",
            _on,
            _no_job,
            follows=_SETTINGS,
        ),
        NamedFactor(
            "hadoop",
            "cluster",
            "3.4.2, 3.5.0",
            "managed version of Hadoop",
            _hadoop,
            follows=rf"hadoop\..*|{_SETTINGS}",
        ),
        NamedFactor("vcores", "cluster", "2, 4", "vcores of a node, which containers then count against", _vcores),
        NamedFactor("memory", "cluster", "4G, 8G", "memory of a node for containers", _memory),
        NamedFactor("replication", "job", "1, 3", "copies of every block (dfs.replication)", _replication),
        NamedFactor(
            "jvm",
            "cluster",
            "usual, -XX:+UseG1GC",
            "JVM flags of daemons, tasks and application masters, after the usual ones",
            _jvm,
            follows=r"daemons/jvm\..*|[^/]+/(mapred\.child\.java\.opts|mapreduce\.(map|reduce)\.java\.opts"
            r"|yarn\.app\.mapreduce\.am\.command-opts)",
        ),
        NamedFactor(
            "cpus",
            "cluster",
            "1, 2",
            "processors that daemons, containers and clients may use (CPU affinity); parts of one on simulated hosts",
            _cpus,
            _few_processors,
            # The agent that looks at the host is confined, too.
            rf"{_SETTINGS}|hosts\..*\.cpu\.(allowed|governor)",
        ),
        NamedFactor(
            "shuffle_dir",
            "cluster",
            f"{WORK_DIRECTORY}, /dev/shm",
            "where map outputs lie until they are fetched (yarn.nodemanager.local-dirs)",
            _shuffle_directory,
            _no_directory,
            r"[^/]+/(yarn\.nodemanager\.local-dirs|mapreduce\.cluster\.local\.dir|howdah\.shuffle\.shared)"
            r"|hosts\..*\.mounts\.shuffle\..*",
        ),
        NamedFactor(
            "cache",
            "job",
            "warm, dropped",
            "the page cache when a phase of the workload begins: as it is, or emptied before each",
            _cache,
            _no_dropping,
        ),
        NamedFactor(
            "faults",
            "job",
            "none, nodemanager@50%, cut:sim3@50%",
            "what happens to a host or to a daemon when the measured job has come so far",
            _faults,
        ),
        NamedFactor(
            "defaults", "cluster", "tuned, stock", "Howdah's settings, or stock Hadoop's", _defaults, follows=_SETTINGS
        ),
        NamedFactor(
            CONFIGURATION,
            "cluster",
            "mine, theirs",
            "settings by name, which stand under `configurations` in the file",
            _not_alone,
            follows=_SETTINGS,
        ),
        NamedFactor(
            "storage",
            "cluster",
            "hdfs, posix:/mnt/shared",
            "where the data is: HDFS, or a directory that every node sees, through our own file system",
            _storage,
            _no_storage,
            rf"hadoop\.jars\.{FILESYSTEM_JAR}\.jar|{_SETTINGS}",
        ),
        NamedFactor(
            "protection",
            "cluster",
            ", ".join(PROTECTIONS),
            "Kerberos, and how much of what daemons and clients say to each other it protects",
            _protection,
            _not_secured,
            _SETTINGS,
        ),
        NamedFactor(
            "accelerator",
            "job",
            ", ".join(ACCELERATORS),
            "plugins that serve jobs instead of the stock sort, shuffle and client of HDFS",
            _accelerator,
            _not_built,
            hint=how_to_get_jars(),
        ),
        *(
            NamedFactor(name, "cluster", levels, f"{what}, of simulated hosts", _of_hosts(key), follows=follows)
            for name, key, levels, what, follows in (
                ("disks", "disks", "1, 2", "disks of each host", rf"{_SETTINGS}|hosts\..*\.mounts\.disk \d+\..*"),
                ("disk_rate", "disk_rate", "50MB, 200MB", "bytes a second of each disk, both ways", _SETTINGS),
                ("host_memory", "memory", "4G, 8G", "memory of each host", _SETTINGS),
                ("network", "network", "100mbit, 1gbit", "rate of each host's network card", _SETTINGS),
            )
        ),
    )
}
