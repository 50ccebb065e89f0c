"""The methods section of a paper about runs, as plain text.

It has machines, software, data, settings, and how the numbers were made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from howdah.model.quantity import format_bytes
from howdah.report.document.results import Replicates, group, registered, summary
from howdah.report.document.wording import centre, count, interval, listing, moment, percent, quantity
from howdah.report.page.build import headline
from howdah.store import StoredRun

_STATISTICS = (
    "Means are geometric; their 95 % intervals are Student's t on the logarithms. No run was left out for its value."
)


def methods(runs: Sequence[StoredRun]) -> str:
    """Return a paragraph for each trial. Facts that a run has not recorded are left out."""
    return "\n\n".join(" ".join(_sentences(members)) for members in group(runs)) + "\n"


def _sentences(members: Replicates) -> Iterator[str]:
    shown = members.first
    yield headline(members)
    yield _times(members)
    if shown.run.simulated:
        yield "They are simulated: no cluster ran them."
        return
    yield from _software(shown)
    yield from _machines(shown)
    yield from _data(shown)
    yield from _settings(shown)
    measure = members.primary
    if measure is not None:
        metric, found = registered(members.valid)[measure.metric], summary(members.valid, measure)
        yield f"We measured {measure}: {metric.definition.removesuffix('.')}."
        if found is not None and found.interval is not None and found.cv is not None:
            span = interval(found.interval, metric.unit)
            mean = quantity(centre(found), metric.unit)
            yield f"Its mean is {mean} (95 % interval {span}, n = {found.n}, CV {percent(found.cv)})."
    checks = list(dict.fromkeys(check.name for run in members.valid for check in run.run.checks))
    if checks:
        yield f"Every run that counts passed these checks: {listing(checks, most=20)}."
    yield _STATISTICS
    versions = listing(sorted({run.run.howdah for run in members.runs}))
    yield f"Howdah {versions} made the runs; their directories have all settings, histories and time series."


def _times(members: Replicates) -> str:
    first, last = (moment(run.run.start.utc) for run in (members.runs[0], members.runs[-1]))
    if len(members.runs) == 1:
        return f"The run began at {first}."
    others = Counter(run.run.outcome.kind for run in members.runs if run not in members.valid)
    left = listing([f"{number} {kind}" for kind, number in others.items()])
    more = f" {left}: no number is of these." if others else ""
    return f"{len(members.runs)} runs began from {first} to {last}.{more}"


def _software(run: StoredRun) -> Iterator[str]:
    cluster = run.run.cluster
    hadoop, jdk = cluster.get("hadoop", {}), cluster.get("jdk", {})
    if "version" in hadoop:
        java = f" on JDK {jdk['version']} ({jdk['vendor']})" if "version" in jdk else ""
        nodes = f", {count(cluster['nodes'], 'node')}" if "nodes" in cluster else ""
        yield f"The cluster was Apache Hadoop {hadoop['version']}{java}{nodes}."
    allocation = cluster.get("allocation", {})
    if allocation.get("kind") == "sim":
        yield "Its hosts were simulated on one machine."
    if cluster.get("security", "none") != "none":
        yield f"It had Kerberos, with protection {cluster['security']}."


def _machines(run: StoredRun) -> Iterator[str]:
    reading = run.environment.get("before")
    if reading is None:
        return
    kinds = Counter(_machine(facts) for facts in reading.hosts.values())
    for words, number in kinds.items():
        which = "The machine" if len(reading.hosts) == 1 else f"{number} of {len(reading.hosts)} machines"
        yield f"{which} had {words}."


def _machine(facts: Mapping[str, Any]) -> str:
    cpu = facts.get("cpu", {})
    words = [f"{count(cpu['threads'], 'processor')} ({cpu.get('model', 'unknown')})"] if "threads" in cpu else []
    if "total" in facts.get("memory", {}):
        words.append(f"{format_bytes(facts['memory']['total'])} of memory")
    disks = facts.get("disks", {})
    if disks:
        words.append(count(len(disks), "disk"))
    system = [facts["os"]] if facts.get("os") else []
    if "release" in facts.get("kernel", {}):
        system.append(f"{facts['kernel']['name']} {facts['kernel']['release']}")
    return listing([*words, " with ".join(system)] if system else words, most=9)


def _data(run: StoredRun) -> Iterator[str]:
    dataset = run.run.dataset or {}
    stored = dataset.get("stored", {})
    if "bytes" not in stored:
        return
    copies = f", {count(stored['replication'], 'replica')}" if stored.get("replication") else ""
    blocks = f", blocks of {format_bytes(stored['block_size'])}" if stored.get("block_size") else ""
    made = "were used again" if dataset.get("reused") else f"came from {dataset.get('generator', 'a generator')}"
    yield f"The data ({format_bytes(stored['bytes'])} in {count(stored['files'], 'file')}{copies}{blocks}) {made}."


def _settings(run: StoredRun) -> Iterator[str]:
    settings = run.run.trial.settings
    asked: dict[str, Any] = dict(settings.get("workload", {}).get("conf", {}))
    kind = run.run.cluster.get("defaults", {}).get("kind")
    if kind is not None:
        usual = {"tuned": "Howdah's tuned defaults", "stock": "the defaults of stock Hadoop"}.get(kind, kind)
        yield f"Settings were {usual}{', and these for the job:' if asked else '.'}"
    elif asked:
        yield "These settings were asked for:"
    if asked:
        yield f"{listing([f'{key} = {value}' for key, value in sorted(asked.items())], most=50)}."
    own = {key: value for key, value in settings.get("workload", {}).items() if key != "conf" and value is not None}
    if own:
        told = [f"{key} {json.dumps(value)}" for key, value in own.items()]
        yield f"Options of the workload: {listing(told, most=50)}."
    if settings.get("accelerator", "none") != "none":
        yield f"Howdah's accelerator was used ({settings['accelerator']})."
    if settings.get("cache") == "dropped":
        yield "The page cache was emptied before each measured phase."
