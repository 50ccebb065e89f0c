"""Build a report from run directories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from howdah.errors import UsageError
from howdah.model.accelerator import NONE
from howdah.model.comparison import Summary
from howdah.model.metric import Metric
from howdah.model.quantity import format_bytes, format_seconds
from howdah.model.run import Caveat, Run
from howdah.model.storage import HDFS
from howdah.report.document.blocks import Block, Figure, Fold, Glance, Legend, Report, Section, Table, Text, columns
from howdah.report.document.drawing import Dot, DotGroup, Dots
from howdah.report.document.labels import label_of
from howdah.report.document.results import (
    Measure,
    Replicates,
    definition,
    group,
    measures,
    registered,
    run_value,
    summary,
    unregistered,
    values,
)
from howdah.report.document.wording import (
    MISSING,
    centre,
    centre_words,
    count,
    drift,
    interval,
    listing,
    moment,
    percent,
    quantity,
    sentence,
)
from howdah.report.page.acceleration import acceleration_section
from howdah.report.page.data import data_section
from howdah.report.page.detail import (
    Detail,
    counters_section,
    detail_facts,
    limits_section,
    time_section,
    timeline_section,
)
from howdah.report.page.energy import ENERGY, energy_section
from howdah.report.page.glance import badge_of, glance_of
from howdah.report.page.provenance import as_text, environment_section, flat, provenance_section
from howdah.stats.power import LEVEL
from howdah.store import StoredRun

ELAPSED = ("job_seconds", "client_seconds")
"""Metrics of the time that a reader waits. The report says that a run "took" them."""

FOREIGN = 0.25
"""The share of a phase's processor time used by other programs above which the reader is warned."""

MOST_CAVEATS = 12
"""The maximum number of the runs' own caveats, if many runs are compared."""

_NOT_OF_OUTPUT = frozenset(
    ("exit code", "clock", "settings", "cache", "processors", "shuffle directory", "hadoop", "jvm", "fault")
)
"""Names of the checks of how a run was made."""

_ID = re.compile(r"\b(job|application)_\d+_\d+")
_OF_ONE_RUN = re.compile(r" \(process \d+\)|; its log: \S+| at \d\d:\d\d:\d\d")
"""Parts of a sentence about a lost daemon that no other run has."""

ENOUGH_TO_DRIFT = 5
"""The number of runs from which a trend is reported. With fewer, chance easily makes a trend and nothing shows one."""

WIDE_SPREAD = 0.10
"""The coefficient of variation above which the reader is warned. Ten runs then give no better than about ± 7 %."""


def build_report(runs: Sequence[StoredRun]) -> Report:
    """Return the report of `runs`. Runs of one trial are summarised together; each trial has its own sections.

    Raises:
        UsageError: no runs.
    """
    if not runs:
        raise UsageError("no run to report on")
    groups = group(runs)
    several = len(groups) > 1
    sections: list[Section] = [_overview(groups)] if several else []
    facts: list[dict[str, Any]] = []
    glances: list[Glance] = []
    for place, members in enumerate(groups, 1):
        prefix = f"trial-{place}-" if several else ""
        detail = Detail(members.shown)
        if several:
            identity = members.first.run.trial.identity
            sections.append(Section(f"{prefix}head", f"Trial {place}: {identity}", ()))
        caveats = tuple(caveats_of(members))
        sections.extend(_sections(members, detail, prefix, caveats))
        facts.append(_facts(members, detail))
        glances.append(glance_of(members, detail, caveats))
    names = sorted({members.first.run.trial.workload for members in groups})
    headlines = [headline(members) for members in groups]
    together = f"{count(len(groups), 'trial')} of {listing(names)}, {count(len(runs), 'run')}. They are not pooled."
    tiles = tuple(replace(one.tiles[0], name=f"trial {place}") for place, one in enumerate(glances[:4], 1) if one.tiles)
    whole = Glance(badge_of(groups), tiles, sum(one.caveats for one in glances))
    return Report(
        title=f"{listing(names)}: {count(len(runs), 'run')}",
        headline=together if several else headlines[0],
        glance=whole if several else glances[0],
        sections=tuple(sections),
        facts={"schema": 1, "kind": "report", "headline": together if several else headlines[0], "trials": facts},
    )


def headline(members: Replicates) -> str:
    """Return the result of one trial in a sentence."""
    runs, valid = members.runs, members.valid
    what = _what(members.first.run)
    if not valid:
        reasons = listing([f"{run.run.id} {outcome_words(run.run)}" for run in runs], most=3)
        return sentence(f"{what}: no valid run, so no number. {reasons}")
    measure = members.primary
    found = summary(valid, measure) if measure else None
    metric = registered(valid).get(measure.metric) if measure else None
    if measure is None or found is None or metric is None:
        return sentence(f"{what}: {count(len(valid), 'valid run')}, no value of a primary metric")
    verb = " took" if metric.name in ELAPSED else f": {measure.phase} at" if metric.unit == "B/s" else f": {measure}"
    number = centre(found)
    long = metric.unit == "s" and number >= 120
    words = (
        f"{what}{verb} {format_seconds(number) if long else quantity(number, metric.unit)} ({_spread(found, metric)})"
    )
    label = label_of(*(run.run for run in runs))
    if label.synthetic:
        return sentence(f"Simulated, nothing was run: {words}")
    return sentence(f"{label.prefix}{words}{_rate(members, measure)}; {_validated(valid)}")


def _spread(found: Summary, metric: Metric) -> str:
    """Return the spread of the runs in words."""
    if found.interval is not None:
        return f"95 % interval {interval(found.interval, metric.unit)}, {found.n} runs"
    if found.n == 1:
        return "1 run, no interval"
    lowest, highest = quantity(found.minimum, metric.unit), quantity(found.maximum, metric.unit)
    return f"{lowest} to {highest}, {found.n} runs: too few for an interval"


def outcome_words(run: Run) -> str:
    """Return the outcome, with the reason if there is one."""
    return run.outcome.kind + (f" ({run.outcome.reason})" if run.outcome.reason else "")


def metrics_blocks(runs: Sequence[StoredRun]) -> Iterator[Block]:
    """Yield every result with its spread, and the meaning of each metric."""
    known = registered(runs)
    found = measures(runs)
    if found:
        yield _value_table(runs[0], found) if len(runs) == 1 else _mean_table(runs, found)
    if missing := unregistered(runs):
        yield Caveat("run", f"Samples of {listing(missing)} are not shown: the run does not define these metrics.")
    shown = {measure.metric for measure in found} | {sample.metric for run in runs for sample in run.samples}
    meanings = tuple(
        (metric.name, metric.unit, metric.better, metric.definition, metric.source)
        for metric in known.values()
        if metric.name in shown
    )
    if meanings:
        table = Table("What each metric means", columns("Metric", "Unit", "Better", "Definition", "Source"), meanings)
        yield Fold("Definitions", (table,))


def run_table(members: Replicates) -> Table:
    """Return a table of every run with its outcome, and the value of the primary metric if it has one."""
    measure = members.primary
    metric = registered(members.valid).get(measure.metric) if measure else None
    rows = []
    for place, run in enumerate(members.runs, 1):
        value = run_value(run, measure) if measure and run.run.outcome.kind == "valid" else None
        shown = quantity(value, metric.unit) if metric else MISSING
        rows.append((str(place), run.run.id, moment(run.run.start.utc), shown, outcome_words(run.run)))
    return Table("Runs in order", columns("#No.", "Run", "Start", f"#{measure or 'Value'}", "Outcome"), tuple(rows))


def dots_group(members: Replicates, measure: Measure, name: str, colour: str, unit: str) -> DotGroup:
    """Return the valid runs' values as dots."""
    found = summary(members.valid, measure)
    dots = [
        Dot(value, f"{run.run.id}: {quantity(value, unit)}")
        for run in members.valid
        if (value := run_value(run, measure)) is not None
    ]
    mean, span = (None, None) if found is None else (found.geometric_mean, found.interval)
    return DotGroup(name, colour, tuple(dots), mean, span)


def _overview(groups: Sequence[Replicates]) -> Section:
    """Return a section that compares the trials: their settings, and their primary metrics on one axis."""
    settings = [dict(flat(members.first.run.trial.settings)) for members in groups]
    paths = sorted({path for found in settings for path in found})
    differing = [path for path in paths if len({as_text(found.get(path)) for found in settings}) > 1]
    rows, drawn = [], []
    for place, (members, own) in enumerate(zip(groups, settings, strict=True), 1):
        measure = members.primary
        found = summary(members.valid, measure) if measure else None
        unit = registered(members.valid)[measure.metric].unit if measure else ""
        numbers = (centre_words(found, unit), interval(found.interval, unit)) if found else (MISSING, MISSING)
        words = ", ".join(f"{path}={as_text(own.get(path))}" for path in differing)
        rows.append(
            (str(place), str(measure or MISSING), *numbers, f"{len(members.valid)} of {len(members.runs)}", words)
        )
        if measure is not None:
            drawn.append((measure, unit, dots_group(members, measure, f"trial {place}", "contender", unit)))
    heads = columns(
        "Trial", "Primary metric", "#Value", "#95 % interval", "#Valid runs", "What differs in its settings"
    )
    blocks: list[Block] = [Table("Primary metric of each trial", heads, tuple(rows))]
    sizes = {(members.first.run.dataset or {}).get("bytes") for members in groups}
    if len({(measure, unit) for measure, unit, _ in drawn}) == 1 and len(sizes) > 1:
        blocks.append(Text("Their data is not of one size, so their values are not drawn on one axis."))
    elif len({(measure, unit) for measure, unit, _ in drawn}) == 1:
        measure, unit, _ = drawn[0]
        dots = Dots(str(measure), unit, tuple(group for _, _, group in drawn))
        blocks.append(Figure("overview-dots", "Every run", "The table above has the numbers.", (_RUN_KEY,), dots))
    return Section("overview", "Trials", tuple(blocks))


_RUN_KEY = Legend("contender", "a run, in the order made, top to bottom; line and band: geometric mean, 95 % interval")


def _sections(members: Replicates, detail: Detail, prefix: str, caveats: Sequence[Caveat]) -> Iterator[Section]:
    """Yield the sections of a trial, each with its caveats. Caveats of the primary metric are at the top."""
    measure = members.primary
    top = {"run", *((str(measure), measure.phase, measure.metric) if measure else ())}
    phases = {time.phase for time in detail.times}
    yield _result_section(members, detail, prefix, [one for one in caveats if one.about in top])
    elsewhere = [one for one in caveats if one.about not in top]
    yield _preceded(time_section(detail, prefix), [one for one in elsewhere if one.about in phases])
    timeline = timeline_section(detail, prefix)
    if timeline is not None:
        yield timeline
    accelerated = acceleration_section(detail, prefix)
    if accelerated is not None:
        yield accelerated
    yield limits_section(detail, prefix)
    drawn = energy_section(members, detail, prefix, [one for one in elsewhere if one.about == ENERGY])
    if drawn is not None:
        yield drawn
    others = [one for one in elsewhere if one.about not in phases and (drawn is None or one.about != ENERGY)]
    if members.valid or others:
        yield Section(f"{prefix}metrics", "All metrics", (*others, *metrics_blocks(members.valid)))
    counters = counters_section(detail, prefix)
    if counters is not None:
        yield counters
    data = data_section(members, prefix)
    if data is not None:
        yield data
    yield environment_section(members, prefix)
    yield provenance_section(members, prefix)


def _preceded(section: Section, caveats: Sequence[Caveat]) -> Section:
    return replace(section, blocks=(*caveats, *section.blocks))


def _result_section(members: Replicates, detail: Detail, prefix: str, caveats: Sequence[Caveat]) -> Section:
    blocks: list[Block] = []
    if prefix:
        blocks.append(Text(headline(members)))
    measure = members.primary
    metric = registered(members.valid).get(measure.metric) if measure else None
    if measure is not None and metric is not None:
        blocks.append(definition(str(measure), metric))
    blocks.extend(caveats)
    if measure is not None and metric is not None and len(values(members.valid, measure)) > 1:
        blocks.append(_dots_figure(members, measure, metric, prefix))
    blocks.append(run_table(members))
    blocks.append(_checks(members.shown))
    if len(members.runs) > 1:
        middle = "the median run" if len(members.valid) > 2 else "one of the runs"
        shown = "the first run" if measure is None else middle
        blocks.append(Text(f"The sections on time, limits and counters show {shown}, {detail.run.run.id}.", small=True))
    return Section(f"{prefix}result", "Result", tuple(blocks))


def _dots_figure(members: Replicates, measure: Measure, metric: Metric, prefix: str) -> Figure:
    dots = dots_group(members, measure, str(measure), "contender", metric.unit)
    found = summary(members.valid, measure)
    assert found is not None
    lowest, highest, middle = (quantity(n, metric.unit) for n in (found.minimum, found.maximum, centre(found)))
    mean = "median" if found.geometric_mean is None else "geometric mean"
    words = f"{count(found.n, 'run')} from {lowest} to {highest}, {mean} {middle}"
    if found.interval is not None:
        words += f", 95 % interval {interval(found.interval, metric.unit)}"
    return Figure(f"{prefix}dots", "Every run", f"{words}.", (_RUN_KEY,), Dots(str(measure), metric.unit, (dots,)))


def caveats_of(members: Replicates) -> Iterator[Caveat]:
    """Yield the reasons to doubt the headline: spread, drift, load of others, invalid runs, own caveats and damage."""
    valid, measure = members.valid, members.primary
    found = summary(valid, measure) if measure else None
    if found is not None and found.n == 1:
        text = "One run cannot tell the spread: another run may be slower or faster by an unknown amount."
        yield Caveat(str(measure), text)
    if found is not None and found.cv is not None and found.cv > WIDE_SPREAD:
        yield Caveat(str(measure), f"The runs differ much: coefficient of variation {percent(found.cv)}.")
    yield from drift_caveats([valid], measure)
    yield from foreign_caveats(members.valid, measure)
    unused = [run for run in members.runs if run not in valid]
    if unused:
        listed = listing([f"{run.run.id} {outcome_words(run.run)}" for run in unused])
        yield Caveat("run", f"{count(len(unused), 'run')} not used: {listed}.")
    yield from own_caveats(members.runs)
    for run in members.runs:
        for problem in run.problems:
            yield Caveat("run", sentence(f"{run.run.id}: {problem}"))


def drift_caveats(sides: Sequence[Sequence[StoredRun]], measure: Measure | None) -> Iterator[Caveat]:
    """Yield a caveat if the runs drift, instead of scattering around their side's mean. Intervals suppose no drift."""
    if measure is None:
        return
    placed = sorted(
        (run.run.start.utc, side, value)
        for side, runs in enumerate(sides)
        for run in runs
        if (value := run_value(run, measure)) is not None
    )
    found = [value for _, _, value in placed]
    if len(found) < ENOUGH_TO_DRIFT or min(found) <= 0:
        return
    from howdah.stats.order import trend  # late: it needs numpy

    moved = trend([side for _, side, _ in placed], found)
    if moved is not None and moved.p < LEVEL:
        yield Caveat(str(measure), f"{drift(moved)} Intervals suppose that they do not.")


def own_caveats(runs: Sequence[StoredRun], most: int | None = None) -> Iterator[Caveat]:
    """Yield the caveats that the runs have themselves, each once. Those that differ only in ids, processes, times and
    logs become one.

    Beyond `most` caveats, those of the fewest runs are only counted.
    """
    said: dict[tuple[str, str], list[Caveat]] = {}
    for run in runs:
        for caveat in run.run.caveats:
            words = _OF_ONE_RUN.sub("", _ID.sub(r"\1_…", caveat.text))
            said.setdefault((caveat.about, words), []).append(caveat)
    shown = sorted(said, key=lambda one: -len(said[one]))[:most]
    for (about, words), found in said.items():
        if (about, words) in shown:
            of = f" ({len(found)} of {len(runs)} runs)" if len(runs) > 1 else ""
            yield Caveat(about, sentence(found[0].text if len(set(found)) == 1 else words) + of)
    if len(shown) < len(said):
        yield Caveat("run", f"The runs' own pages have {count(len(said) - len(shown), 'more caveat')}.")


def foreign_caveats(runs: Sequence[StoredRun], measure: Measure | None) -> Iterator[Caveat]:
    """Yield a caveat about runs in whose measured phase other programs used the processors."""
    if measure is None or not measure.phase:
        return
    shares = ((run.run.id, Detail(run).foreign(measure.phase)) for run in runs)
    found = [(name, share) for name, share in shares if share is not None and share > FOREIGN]
    if found:
        listed = listing([f"{percent(share)} in {name}" for name, share in found])
        text = f"Something else on the machine used much of the processor time of {measure.phase}: {listed}."
        yield Caveat(measure.phase, text)


def _checks(run: StoredRun) -> Block:
    if run.run.simulated:
        return Text("There was no output to check.")
    if not run.run.checks:
        return Caveat("run", "Nothing was verified in this run.")
    rows = tuple((check.name, "✓ passed" if check.passed else "✕ failed", check.detail) for check in run.run.checks)
    return Table("Checks of the output", columns("Check", "Result", "Seen"), rows)


def _what(run: Run) -> str:
    """Return words such as `TeraSort of 1.00 GB on 3 nodes in posix:/mnt/shared`, as far as the run has them."""
    words = run.title
    size = (run.dataset or {}).get("bytes")
    if isinstance(size, (int, float)):
        words += f" of {format_bytes(size)}"
    nodes = run.cluster.get("nodes", run.cluster.get("nodes_running"))
    number = len(nodes) if isinstance(nodes, (list, tuple, dict)) else nodes
    if isinstance(number, int):
        words += f" on {count(number, 'node')}"
    if run.trial.storage != HDFS:
        words += f" in {run.trial.storage}"
    return words if run.trial.accelerator == NONE else f"{words} with accelerator {run.trial.accelerator}"


def _rate(members: Replicates, primary: Measure) -> str:
    """Return the other rate of the primary's phase in words, such as bytes per second; empty if there is none."""
    known = registered(members.valid)
    others = measures(members.valid) if known[primary.metric].unit != "B/s" else ()
    for measure in others:
        metric = known[measure.metric]
        if measure.phase == primary.phase and metric.unit == "B/s" and metric.better == "higher":
            found = summary(members.valid, measure)
            if found is not None:
                return f", {quantity(centre(found), metric.unit)}"
    return ""


def _validated(valid: Sequence[StoredRun]) -> str:
    """Return words on whether every valid run's output was checked. Checks of settings, say, are not of the output."""
    looked = ([check.passed for check in run.run.checks if check.name not in _NOT_OF_OUTPUT] for run in valid)
    if all(passed and all(passed) for passed in looked):
        return "output validated"
    return "output not validated"


def _value_table(run: StoredRun, found: Sequence[Measure]) -> Table:
    """Return the values of one run: a row per metric, a column per phase."""
    known = registered([run])
    phases = list(dict.fromkeys(measure.phase for measure in found))
    names = dict.fromkeys((measure.metric, measure.role) for measure in found)
    order = {name: place for place, name in enumerate(known)}
    rows = []
    for metric, role in sorted(names, key=lambda name: (order[name[0]], name[1])):
        cells = (run_value(run, Measure(phase, metric, role)) for phase in phases)
        shown = (quantity(value, known[metric].unit) for value in cells)
        rows.append((Measure("", metric, role).name, known[metric].better, *shown))
    heads = columns("Metric", "Better", *(f"#{phase or 'whole run'}" for phase in phases))
    return Table("Values of the run", heads, tuple(rows))


def _mean_table(runs: Sequence[StoredRun], found: Sequence[Measure]) -> Table:
    """Return the means of several runs: a row per metric and phase."""
    known = registered(runs)
    rows = []
    for measure in found:
        metric, numbers = known[measure.metric], summary(runs, measure)
        if numbers is not None:
            unit = metric.unit
            shown = (quantity(value, unit) for value in (numbers.minimum, numbers.maximum))
            middle = (centre_words(numbers, unit), interval(numbers.interval, unit))
            where = (measure.phase or "whole run", measure.name, metric.better)
            rows.append((*where, *middle, *shown, percent(numbers.cv), str(numbers.n)))
    heads = columns("Phase", "Metric", "Better", "#Value", "#95 % interval", "#Lowest", "#Highest", "#CV", "#Runs")
    return Table("Geometric means over the valid runs", heads, tuple(rows))


def _facts(members: Replicates, detail: Detail) -> dict[str, Any]:
    known = registered(members.valid)
    results = []
    for measure in measures(members.valid):
        found, metric = summary(members.valid, measure), known[measure.metric]
        by_run = {run.run.id: run_value(run, measure) for run in members.valid}
        results.append(
            {
                "phase": measure.phase or None,
                "metric": metric.name,
                "role": measure.role or None,
                "unit": metric.unit,
                "better": metric.better,
                "summary": None if found is None else asdict(found),
                "values": {name: value for name, value in by_run.items() if value is not None},
            }
        )
    return {
        "workload": members.first.run.trial.workload,
        "trial": members.first.run.trial.identity,
        "storage": members.first.run.trial.storage,
        "accelerator": members.first.run.trial.accelerator,
        "headline": headline(members),
        "primary": str(members.primary) if members.primary else None,
        "runs": [
            {
                "id": run.run.id,
                "path": str(run.path),
                "outcome": run.run.outcome.kind,
                "reason": run.run.outcome.reason,
                "start": run.run.start.utc,
                "dataset": None if run.run.dataset is None else dict(run.run.dataset),
                "checks": [asdict(check) for check in run.run.checks],
                "caveats": [asdict(caveat) for caveat in run.run.caveats],
                "problems": list(run.problems),
            }
            for run in members.runs
        ],
        "metrics": results,
        "definitions": {metric.name: asdict(metric) for metric in known.values()},
        "settings": dict(members.shown.run.trial.settings),
        "cluster": dict(members.shown.run.cluster),
        "environment": {name: asdict(reading) for name, reading in members.shown.environment.items()},
        "command": list(members.shown.run.command),
        "shown": detail_facts(detail),
    }
