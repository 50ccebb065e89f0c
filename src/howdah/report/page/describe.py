"""One run for a terminal: the same facts as its report, without figures."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from howdah.model.accelerator import NONE
from howdah.model.run import Caveat
from howdah.model.storage import HDFS
from howdah.report.document.blocks import Block, Glance, Report, Section, Table, Text, columns
from howdah.report.document.results import Replicates
from howdah.report.document.wording import MISSING, listing, moment, quantity, sentence
from howdah.report.page.build import caveats_of, headline, metrics_blocks, outcome_words
from howdah.report.page.data import data_words, known_data, output_replicas
from howdah.report.page.detail import Detail
from howdah.report.page.glance import badge_of
from howdah.report.phases.times import step_seconds
from howdah.store import StoredRun


def describe_run(run: StoredRun) -> Report:
    """Return the run in sections of text, caveats and tables, with the caveats of its page."""
    members = Replicates((run,))
    detail = Detail(run)
    caveats = tuple(caveats_of(members))
    sections = [
        Section("run", "Run", (*_identity(run), *caveats)),
        Section("phases", "Phases", tuple(_phases(detail))),
    ]
    if run.run.checks:
        rows = tuple((c.name, "✓ passed" if c.passed else "✕ failed", c.detail) for c in run.run.checks)
        sections.append(Section("checks", "Checks", (Table("Checks", columns("Check", "Result", "Seen"), rows),)))
    if run.run.outcome.kind == "valid":
        blocks = tuple(block for block in metrics_blocks((run,)) if isinstance(block, (Table, Caveat)))
        sections.append(Section("metrics", "Metrics", blocks))
    words = headline(members)
    facts = {"schema": 1, "kind": "run", "headline": words, **_facts(run)}
    return Report(run.run.id, words, Glance(badge_of([members]), (), len(caveats)), tuple(sections), facts)


def _identity(run: StoredRun) -> Iterator[Block]:
    end, replicas, simulated = run.run.end, output_replicas(run), run.run.simulated
    rows = [
        ("outcome", f"{outcome_words(run.run)}{', simulated' if simulated else ''}"),
        ("trial", run.run.trial.identity),
        ("started", moment(run.run.start.utc)),
        ("lasted", MISSING if end is None else quantity(end.monotonic - run.run.start.monotonic, "s")),
        ("primary metric", run.run.primary or MISSING),
        ("command", shlex.join(run.run.command)),
        *([("storage", run.run.trial.storage)] if run.run.trial.storage != HDFS else ()),
        *([("data", data_words(dataset))] if (dataset := known_data(run)) is not None else ()),
        *([("output", f"replicas {replicas}, as asked for")] if replicas is not None and not simulated else ()),
        *([("accelerator", run.run.trial.accelerator)] if run.run.trial.accelerator != NONE else ()),
        ("labels", listing([f"{name}={value}" for name, value in run.run.labels.items()]) or MISSING),
        ("directory", str(run.path)),
    ]
    yield Table("Run", columns("", ""), tuple(rows))


def _phases(detail: Detail) -> Iterator[Block]:
    times = {time.phase: quantity(time.seconds, "s") for time in detail.times}
    rows: list[tuple[str, ...]] = []
    for phase in detail.run.run.phases:
        steps = [step_seconds(entry.job).items() for entry in detail.jobs if entry.phase == phase.name]
        words = "; ".join(listing([f"{name} {quantity(seconds, 's')}" for name, seconds in job]) for job in steps)
        rows.append((phase.name, phase.kind, times.get(phase.name, MISSING), words or MISSING, phase.error or ""))
    if rows:
        heads = columns("Phase", "Kind", "#Seconds", "Task-seconds", "Error")
        yield Table("Phases", heads, tuple(rows))
    else:
        yield Text("No phase began.")
    for problem in detail.problems:
        yield Caveat("run", sentence(problem))


def _facts(run: StoredRun) -> dict[str, object]:
    return {
        "id": run.run.id,
        "path": str(run.path),
        "workload": run.run.trial.workload,
        "trial": run.run.trial.identity,
        "outcome": run.run.outcome.kind,
        "reason": run.run.outcome.reason,
        "dataset": None if run.run.dataset is None else dict(run.run.dataset),
    }
