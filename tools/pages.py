"""Make the generated pages of docs/reference. A test checks that they are current.

The pages are commands, factors, the file system's keys, metrics and tuned defaults.

.venv/bin/python tools/pages.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click

from howdah.cli.main import howdah
from howdah.engine.evidence import metrics
from howdah.engine.experiment.factors import FACTORS
from howdah.hadoop.configuration.roles import NAMENODE
from howdah.hadoop.configuration.sizing import size_cluster
from howdah.hadoop.configuration.tuning import TUNINGS, TuningFacts
from howdah.hadoop.distribution.jdk import Jdk
from howdah.model.accelerator import ACCELERATOR_JAR, ACCELERATORS, PLUGINS, settings_for
from howdah.workload.registry import WORKLOADS

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def commands() -> str:
    """Return every command's help text."""
    parts = ["# Commands\n", "Made from the program by `tools/pages.py`.\n"]

    def add(command: click.Command, path: str, parent: click.Context | None) -> None:
        settings = {"terminal_width": 100, "max_content_width": 100, **command.context_settings}
        context = click.Context(command, info_name=path, parent=parent, **settings)
        parts.append(f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n")
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                add(inner, name, context)

    add(howdah, "howdah", None)
    return "\n".join(parts)


def metrics_page() -> str:
    """Return the metrics that every run has, and those of each workload."""
    parts = ["# Metrics\n\nMade from the registry by `tools/pages.py`. `run.json` repeats those of its run.\n"]
    own = ((f"Of `{name}`", workload.metrics) for name, workload in sorted(WORKLOADS.items()))
    for title, found in (("Of every run", metrics.COMMON), *own):
        if found:
            rows = "".join(
                f"| `{one.name}` | {one.unit} | {one.better} | {one.definition} | {one.source} |\n" for one in found
            )
            head = "| metric | unit | better | definition | source |\n|---|---|---|---|---|\n"
            parts.append(f"## {title}\n\n{head}{rows}")
    return "\n".join(parts)


def factors_page() -> str:
    """Return the factors of experiments that are no Hadoop property."""
    takes = {"job": "another job", "cluster": "another cluster", "person": "somebody's hands"}
    rows = "".join(
        f"| `{one.name}` | {one.what} | {', '.join(f'`{level}`' for level in one.levels.split(', '))} "
        f"| {takes[one.cost]} |\n"
        for one in FACTORS.values()
    )
    plugins = "".join(
        f"| `{level}` | `{key}` | `{value}` |\n" for level in ACCELERATORS for key, value in settings_for(level).items()
    )
    return (
        "# Factors by name\n\nMade from the program by `tools/pages.py`. Every other factor of an "
        "[experiment](experiment.md) is a Hadoop property.\n\n"
        f"| factor | what it is | levels, for example | a change takes |\n|---|---|---|---|\n{rows}\n"
        "`disks`, `disk_rate`, `host_memory` and `network` need `on: sim:N`. A "
        "run in which a daemon was to be killed and the job ended before is `invalid`; so is one whose daemons may use "
        "other processors than `cpus` says.\n\n"
        f"`accelerator` needs `{ACCELERATOR_JAR}.jar` (`make jars`), which every JVM of a cluster that Howdah starts "
        "has on its class path; to other clusters it is sent with each job. `howdah run WORKLOAD --accelerator sort` "
        "is short for `--factor accelerator=sort`. Its levels set:\n\n"
        f"| level | key | value |\n|---|---|---|\n{plugins}\n"
        f"The sort and the shuffle count what they did ({' and '.join(f'`{one.group}`' for one in PLUGINS)}). A run "
        "whose jobs had map output that they did not serve, or not all of it, has a caveat that says so; in an "
        "experiment, the level then has no verdict. Jobs without reduces and those of Spark have no use for them; a "
        "run that measures such a phase says that, too.\n"
    )


NEEDED = (
    (
        "*.address *.rpc-address *.http-address *.hostname *.webapp.address *.port *.port-range *.queues *.dir *-dir "
        "*-dirs *.use.datanode.hostname *.ip-hostname-check fs.defaultFS yarn.nodemanager.aux-services "
        "mapreduce.framework.name mapreduce.application.classpath fs.posixfs.impl fs.AbstractFileSystem.posixfs.impl "
        "fs.posixfs.mount fs.posixfs.mount.* yarn.scheduler.capacity.root.default.capacity howdah.shuffle.shared",
        "Addresses, as on any cluster. Known gap: there are ports for 20 jobs at once.",
    ),
    (
        "dfs.replication",
        "The number of replicas, 3 at most, as many as there are DataNodes; HDFS could keep no more. "
        "`hadoop fs -stat %r` prints it.",
    ),
    ("fs.posixfs.block.size", "The size of blocks of HDFS, for equal splits: 128 MiB, unless you set another."),
    ("hadoop.security.authentication", "Hadoop's default."),
    (
        "dfs.heartbeat.interval dfs.namenode.heartbeat.recheck-interval yarn.nm.liveness-monitor.expiry-interval-ms "
        "yarn.client.nodemanager-connect.* yarn.resourcemanager.connect.retry-interval.ms "
        "ipc.client.connect.max.retries ipc.client.connect.retry.interval dfs.namenode.safemode.extension",
        "How long a daemon that does not answer is waited for: lost nodes are noticed after some 20 s instead of 10 "
        "minutes, and their tasks run again.",
    ),
    (
        "dfs.hosts.exclude yarn.resourcemanager.nodes.exclude-path dfs.namenode.decommission.interval",
        "Which hosts have left by `howdah shrink`: none at first. HDFS checks every 2 s, instead of 30, whether a host "
        "may go.",
    ),
    (
        "dfs.client.block.write.replace-datanode-on-failure.policy",
        "On fewer than four nodes, a write goes on with fewer replicas when a DataNode is lost, instead of failing.",
    ),
    (
        "yarn.nodemanager.disk-health-checker.* yarn.nodemanager.vmem-check-enabled "
        "yarn.scheduler.capacity.maximum-am-resource-percent",
        "Jobs run that Hadoop's defaults refuse or kill: on a disk that is more than 90 % full, in JVMs with much "
        "virtual memory, and next to another job on a small cluster.",
    ),
    ("yarn.nodemanager.container.stderr.pattern", "Which output of a failed container the message quotes."),
)
"""The keys that a cluster sets besides its tuned defaults, and their effect on the results of programs."""


def tuned_defaults() -> str:
    """Return the settings of each tuned default, on an example machine."""
    sizing = size_cluster(nodes=1, processors=2, memory=24 << 30, available=22 << 30, disk=80 << 30)
    jdk = Jdk("/usr/lib/jvm/java-17", (17, 0, 15), "Debian", "x86_64", ())
    facts = TuningFacts(sizing, jdk, "CACHE/archives/ARCHIVE.jsa")
    parts = [
        "# Tuned defaults\n",
        "A cluster of Howdah sets these keys, stock Hadoop does not. Made from `hadoop/configuration/tuning.py` by"
        " `tools/pages.py`; the values are those for one node on a machine with 2 processors and 24 GiB.\n",
        "`--without NAME` leaves one out; `--defaults stock` leaves all out; `--conf KEY=VALUE` wins over all."
        " Their effects are in [performance](../performance/control-plane.md).\n",
        "No tuned default changes what a program computes or writes. What would change it is given to Howdah's own"
        " workloads only, job by job: `howdah exec`, `howdah shell` and `howdah run command` have Hadoop's defaults"
        " there. A run keeps what its jobs were given in `conf/clients/`.\n",
    ]
    for one in TUNINGS:
        parts.append(f"## {one.name}\n\n{one.why[0].upper()}{one.why[1:]}.\n")
        parts.append(f"Changes results: no. {one.results}.\n")
        rows = [f"| `{key}` | `{value}` |" for key, value in one.settings(facts).items()]
        rows += [f"| `{key}`, of Howdah's workloads only | `{value}` |" for key, value in one.workloads(sizing).items()]
        flags = (
            ("tasks", one.task_flags),
            ("application masters", one.master_flags),
            ("daemons", lambda facts, one=one: one.daemon_flags(facts, NAMENODE)),
            ("clients", one.client_flags),
        )
        rows += [f"| JVM flags of {who} | `{' '.join(make(facts))}` |" for who, make in flags if make(facts)]
        parts.append("| key | value |\n|---|---|\n" + "\n".join(rows) + "\n")
    parts.append("## What else a cluster sets\n\nSo that it runs where it is, with `--defaults stock` too.\n")
    others = (f"| {', '.join(f'`{key}`' for key in keys.split())} | {results} |" for keys, results in NEEDED)
    parts.append("| keys | results |\n|---|---|\n" + "\n".join(others) + "\n")
    return "\n".join(parts)


KEYS = REFERENCE.parents[1] / "java/filesystem/src/main/java/org/howdah/filesystem/Key.java"


_TEXT = r'"((?:[^"\\]|\\.)*)"'


def filesystem_page() -> str:
    """Return the keys of lustrefs and posixfs, from the Java source that reads them."""
    source = re.sub(r'"\s*\+\s*"', "", KEYS.read_text("utf-8"))
    rows = []
    for name, usual, meaning in re.findall(rf"^  [A-Z_]+\(\s*{_TEXT},\s*{_TEXT},\s*{_TEXT}\)", source, re.MULTILINE):
        shown = f"`{usual}`" if usual else ""
        rows.append(f"| `{name}` | {shown} | {meaning.replace(chr(92), '')} |\n")
    return (
        "# Keys of the file system\n\nEach stands after `fs.posixfs.` and after `fs.lustrefs.`; one that does not exist"
        " is an error. Made from `Key.java` by `tools/pages.py`. What they are for is in"
        " [the how-to](../how-to/filesystem.md).\n\n| key | unless set | meaning |\n|---|---|---|\n" + "".join(rows)
    )


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "factors.md": factors_page,
    "filesystem.md": filesystem_page,
    "metrics.md": metrics_page,
    "tuned-defaults.md": tuned_defaults,
}


if __name__ == "__main__":
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")
