"""Sections that let a reader check and repeat: environment, settings, command, run directories."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from howdah.model.environment import Difference, Environment, by_rank, differences
from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Code, Fold, Section, Table, Text, columns
from howdah.report.document.results import CALIBRATION, Replicates
from howdah.report.document.wording import MISSING, count, listing, moment, quantity
from howdah.store import StoredRun

NOWHERE = Environment({}, {})
_WAYS = 10
"""The ways between many hosts that are shown."""
_VALUES = 4
"""The values of one fact that are shown, if hosts differ."""
_NAMED = 4
"""The hosts that are named with a value."""
LISTED = 40
"""The maximum number of differences that are listed."""


def environment_section(group: Replicates, prefix: str) -> Section:
    """Return the environment of the shown run, and every difference to the other runs of its group."""
    shown = group.shown
    blocks: list[Block] = []
    reading = shown.environment.get("before")
    if reading is None:
        blocks.append(Caveat("run", "The environment of this run was not recorded: it cannot be checked or repeated."))
    else:
        blocks.extend(_environment_caveats(group))
        rows = tuple(_fact_rows(reading))
        facts = Table("Facts of the hosts and of Hadoop", columns("Fact", "Value"), rows)
        blocks.append(Fold(f"Hosts and Hadoop: {count(len(rows), 'fact')}", (facts,)))
    blocks.extend(_network(shown))
    settings = tuple((path, as_text(value)) for path, value in flat(shown.run.trial.settings))
    heads = columns("Setting", "Value")
    table = Table(f"Settings of the trial {shown.run.trial.identity}", heads, settings)
    blocks.append(Fold(f"Trial: {count(len(settings), 'setting')}", (table,)))
    cluster = tuple((path, as_text(value)) for path, value in flat(shown.run.cluster))
    if cluster:
        blocks.append(Fold("Cluster", (Table("The cluster", columns("Fact", "Value"), cluster),)))
    return Section(f"{prefix}environment", "Environment", tuple(blocks))


def _network(run: StoredRun) -> Iterator[Block]:
    """Yield what each host sent to the others before the run: a square of a few hosts, the slowest ways of many."""
    ways = {
        (one.host, one.role.removeprefix("to ")): one.value
        for one in run.samples
        if (one.phase, one.metric) == (CALIBRATION, "network_way")
    }
    if not ways:
        return
    hosts = list(dict.fromkeys(source for source, _ in ways))
    if len(ways) == len(hosts) * (len(hosts) - 1):
        heads = columns("From ↓ to →", *(f"#{host}" for host in hosts))
        rows = [
            (source, *(quantity(ways[source, target], "B/s") if target != source else MISSING for target in hosts))
            for source in hosts
        ]
    else:
        slowest = sorted(ways.items(), key=lambda one: one[1])[:_WAYS]
        heads = columns("From", "To", "#Rate")
        rows = [(source, target, quantity(rate, "B/s")) for (source, target), rate in slowest]
    which = "" if len(rows) == len(hosts) else f", the slowest {len(rows)}"
    table = Table(f"One TCP stream from host to host, while the other hosts sent, too{which}", heads, tuple(rows))
    yield Fold(f"Network between hosts: {count(len(ways), 'way')}", (table,))


def _fact_rows(reading: Environment) -> Iterator[tuple[str, str]]:
    """Yield the facts of hosts and of Hadoop. Facts of several hosts are one row, with who has which value."""
    if len(reading.hosts) < 2:
        for entry in differences(NOWHERE, reading):
            yield entry.path, as_text(entry.right)
        return
    by_path: dict[str, dict[str, list[str]]] = {}
    for host, facts in reading.hosts.items():
        for entry in differences(NOWHERE, Environment({"": facts}, {})):
            path = entry.path.removeprefix("hosts..")
            by_path.setdefault(path, {}).setdefault(as_text(entry.right), []).append(host)
    for path, values in sorted(by_path.items()):
        yield f"hosts.*.{path}", _shared(values, len(reading.hosts))
    for entry in differences(NOWHERE, Environment({}, reading.hadoop)):
        yield entry.path, as_text(entry.right)


def _shared(values: Mapping[str, Sequence[str]], hosts: int) -> str:
    """Return the values that a fact has on some hosts, the most frequent first."""
    if len(values) == 1 and len(next(iter(values.values()))) == hosts:
        return next(iter(values))
    most = sorted(values.items(), key=lambda one: -len(one[1]))
    shown = [f"{value} ({listing(list(names), most=_NAMED)})" for value, names in most[:_VALUES]]
    left = len(most) - _VALUES
    return "; ".join((*shown, *([f"{count(left, 'other value')} on other hosts"] if left > 0 else [])))


def provenance_section(group: Replicates, prefix: str) -> Section:
    """Return the command to repeat the shown run, and the source of every number of the group."""
    shown = group.shown
    rows = tuple(
        (
            run.run.id,
            run.run.outcome.kind,
            moment(run.run.start.utc),
            run.run.howdah,
            listing([f"{path}={value}" for path, value in _seeds(run)]) or MISSING,
            _jars(run),
            str(run.path),
        )
        for run in group.runs
    )
    heads = columns("Run", "Outcome", "Start", "Howdah", "Seed", "#Jars hashed", "Directory")
    blocks = (
        Text("The command that made the shown run:"),
        Code(shlex.join(shown.run.command)),
        Table("Run directories: all that this page was made from", heads, rows),
    )
    return Section(f"{prefix}repeat", "Repeat it", blocks)


def environment_differences(runs: Sequence[StoredRun]) -> tuple[Difference, ...]:
    """Return the differences between the first run's environment and any other's, each path once."""
    readings = by_rank([reading for run in runs if (reading := run.environment.get("before")) is not None])
    found: dict[str, Difference] = {}
    for reading in readings[1:]:
        for entry in differences(readings[0], reading):
            found.setdefault(entry.path, entry)
    return tuple(found[path] for path in sorted(found))


def difference_table(caption: str, found: Sequence[Difference], left: str, right: str) -> Table:
    """Return a table with one row per difference. Those beyond `LISTED` are counted in the caption."""
    rows = tuple((entry.path, as_text(entry.left), as_text(entry.right)) for entry in found[:LISTED])
    more = f" (the first {LISTED} of {len(found)})" if len(found) > LISTED else ""
    return Table(caption + more, columns("What", left, right), rows)


def flat(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested mappings as dotted paths, sorted."""
    for key in sorted(mapping, key=str):
        value, path = mapping[key], f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}.")
        else:
            yield path, value


def as_text(value: Any) -> str:
    """Return a fact for reading: lists in one line, None as a dash."""
    if value is None:
        return MISSING
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(item) for item in value)
    return str(value)


def _environment_caveats(group: Replicates) -> Iterator[Block]:
    found = environment_differences(group.valid)
    if found:
        paths = listing([entry.path for entry in found])
        text = f"These runs did not all have the same environment, though they are summarised together: {paths} differ."
        yield Caveat("run", text)
        yield difference_table("Differences between the first run and others", found, "First run", "Another run")
    before, after = (group.shown.environment.get(name) for name in ("before", "after"))
    if before is not None and after is not None and (changed := differences(before, after)):
        paths = listing([entry.path for entry in changed])
        yield Caveat("run", f"The environment changed while the shown run lasted: {paths}.")
    elif not found:
        yield Text(f"No difference in the recorded environment{_over(group)}.")


def _over(group: Replicates) -> str:
    """Return words for the runs or times between which the environment stayed the same."""
    both = {"before", "after"} <= group.shown.environment.keys()
    words = [f"between the {len(group.valid)} valid runs"] if len(group.valid) > 1 else []
    return " " + " or ".join([*words, *(["from before to after the shown run"] if both else [])])


def _seeds(run: StoredRun) -> list[tuple[str, Any]]:
    return [(path, value) for path, value in flat(run.run.trial.settings) if path.rpartition(".")[2].endswith("seed")]


def _jars(run: StoredRun) -> str:
    """Return how many jars of Hadoop have hashes in the run's environment."""
    reading = run.environment.get("before")
    jars = reading.hadoop.get("jars") if reading is not None else None
    return f"{len(jars):,}" if isinstance(jars, Mapping) else MISSING
