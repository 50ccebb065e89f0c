"""Plans and findings of experiments in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from howdah.cli.columns import say
from howdah.cli.experiments.experiment_progress import arm_words, runs_words, time_words
from howdah.cli.reporting import width
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.trials import Status
from howdah.model.experiment import Findings
from howdah.model.quantity import format_bytes, format_seconds
from howdah.model.run import Caveat
from howdah.report.document.blocks import Code, Text
from howdah.report.document.wording import count, short_names
from howdah.report.experiment.answer import headline, simple_cells
from howdah.report.experiment.candidate import candidate_blocks
from howdah.report.render.text import wrapped
from howdah.stats.design import Levels

_TAKES = {"job": "another job", "cluster": "a new cluster", "person": "work by hand"}


def print_plan(plan: ExperimentPlan) -> None:
    """Print factors, arms, the first block, and the expected time, disk space and statistical power."""
    experiment, stop = plan.experiment, plan.experiment.stop
    say(experiment.question, bold=True)
    options = " ".join(f"{key} {value}" for key, value in experiment.options.items())
    say(f"{plan.title}{' of ' + options if options else ''}; the primary metric is {plan.primary}.\n")
    factors = Table("Factor", "Levels, the baseline's first", "A change takes", box=None, pad_edge=False)
    for factor in experiment.factors:
        factors.add_row(factor.name, ", ".join(factor.levels), _TAKES[plan.costs[factor.name]])
    console = Console(width=width(), highlight=False)
    console.print(factors)
    if experiment.design == "search":
        click.echo(
            f"\nDesign search: {stop.most} runs at most of {len(plan.arms)} combinations, seed {experiment.seed}."
        )
    else:
        _print_order(plan, console)
    click.echo()
    for line in _expected(plan):
        click.echo(line)
    say(f"Disk: {format_bytes(plan.disk_bytes)} at the fullest moment of a run.")
    say(f"A run that takes longer than {format_seconds(plan.limit_seconds)} is stopped.")
    if experiment.confirm and experiment.design not in ("cic-2014", "together"):
        say("If something is shown to be better, fresh runs against the baseline and the runner-up follow.")


def _print_order(plan: ExperimentPlan, console: Console) -> None:
    experiment, stop = plan.experiment, plan.experiment.stop
    arms, blocks = len(plan.arms), stop.least
    if experiment.design == "cic-2014":
        words = f"{arms} arms, three runs each in a row: {len(plan.slots)} runs, or more if an arm spreads."
    else:
        words = (
            f"{arms} arms in {blocks} blocks or more, at most {stop.most}: {len(plan.slots)} runs or more. "
            f"Order drawn with seed {experiment.seed}."
        )
    say(f"\nDesign {experiment.design}: {words}")
    order = Table("Block 1", "Levels that differ from the baseline's", box=None, pad_edge=False)
    for slot in plan.slots:
        if slot.block == 0:
            order.add_row(str(slot.place + 1), _difference(plan.arms[slot.arm], plan.arms[0]))
    console.print(order)
    for chain in plan.aliases:
        say(f"Cannot be told apart: {', '.join(chain)}.")


def _difference(arm: Levels, baseline: Levels) -> str:
    return arm_words(arm, baseline, {})


def _expected(plan: ExperimentPlan) -> tuple[str, ...]:
    """Return lines about time and noise, as earlier runs had them."""
    earlier = plan.earlier
    if earlier is None:
        return ("Time and noise: not known, there are no earlier runs of this workload and size.",)
    status = Status.after(plan, ())
    low, high = (format_seconds(earlier.seconds * runs) for runs in (status.least, status.most))
    runs = str(status.least) if status.least == status.most else f"{status.least} to {status.most}"
    lines = [
        f"Time: {low if low == high else f'{low} to {high}'}, for {runs} runs of {format_seconds(earlier.seconds)}, as "
        f"{count(earlier.runs, 'earlier run')} took; starting clusters is not counted."
    ]
    found = [(blocks, plan.detectable(blocks)) for blocks in (plan.experiment.stop.least, plan.experiment.stop.most)]
    told = [f"{100 * (ratio - 1):.1f} % with {blocks} blocks" for blocks, ratio in found if ratio is not None]
    if told:
        lines.append(f"Smallest effect that it shows with a power of 0.8, by itself: {', '.join(told)}.")
    elif plan.has_verdicts:
        lines.append("Noise: not known, no trial was run twice.")
    return tuple(lines)


def print_findings(found: Findings, confirmed: Findings | None) -> None:
    """Print the answer, and every effect with its verdict, the largest first."""
    say(found.experiment.question)
    say(headline(found, confirmed), bold=True)
    outcomes = Counter(one.outcome.kind for one in found.results)
    counts = ", ".join(f"{number} {kind}" for kind, number in sorted(outcomes.items())) or "no runs yet"
    blocks = "" if found.experiment.design == "search" else f"; {found.blocks} whole blocks"
    say(f"{found.title}, {found.phase}/{found.metric.name}; {counts}{blocks}.\n")
    if not found.findings:
        _print_candidate(found, confirmed)
        return
    table = Table("Factor", "Level", "Against", "÷ baseline", "95 % interval", "Verdict", box=None, pad_edge=False)
    names = short_names([one.factor for one in found.findings])
    for one in found.findings:
        effect = one.effect
        ratio = "–" if effect is None else f"{effect.ratio:.3f}"
        interval = "–" if effect is None else f"{effect.interval.low:.3f} to {effect.interval.high:.3f}"
        table.add_row(names[one.factor], one.level, one.baseline, ratio, interval, one.verdict)
    console = Console(width=width(), highlight=False)
    console.print(table)
    _print_pairs(found, console)
    if len(found.findings) > 1:
        say(
            "\nVerdicts allow for there being several (Holm, 5 % overall), so an interval may exclude 1 without a "
            "verdict."
        )
    _print_candidate(found, confirmed)


def _print_candidate(found: Findings, confirmed: Findings | None) -> None:
    """Print the best settings, whether fresh runs confirm them, and the command to type; nothing if none is better."""
    if found.candidate == found.arms[0] or not found.results:
        return
    click.echo()
    for block in candidate_blocks(found, confirmed):
        if isinstance(block, Text):
            click.echo(wrapped(block.text, width()))
        elif isinstance(block, Caveat):
            click.echo(wrapped(block.text, width(), "!  "))
        elif isinstance(block, Code):
            say(f"  {block.text}", bold=True)


def _print_pairs(found: Findings, console: Console) -> None:
    """Print the effects of levels with and without each other, for pairs whose interaction is shown."""
    told = [simple for one in found.interactions for simple in one.simple]
    if not told:
        return
    say("\nThe effects of these levels depend on each other, so that those above are averages:\n")
    table = Table("Level", "With", "÷ baseline", "95 % interval", "Verdict", box=None, pad_edge=False)
    names = short_names([factor for one in told for factor in (one.level[0], one.given[0])])
    for one in told:
        level, given = (f"{names[factor]} {value}" for factor, value in (one.level, one.given))
        table.add_row(level, given, *simple_cells(one), one.verdict)
    console.print(table)


def print_status(parts: Sequence[Status], *, waits: bool, runs_now: bool, resume: str) -> None:
    """Print the progress of each part: the experiment, and the one that confirms it.

    `waits` says that the confirming experiment comes next but has not begun.
    """
    for one in parts:
        say(one.plan.experiment.question, bold=True)
        outcomes = ", ".join(f"{number} {kind}" for kind, number in sorted(one.outcomes.items())) or "none yet"
        if one.next is None:
            say(f"Finished: {len(one.done)} runs ({outcomes}).")
            continue
        say(f"{runs_words(one)} ({outcomes}){time_words(one)}.")
        arm = one.plan.arms[one.next.arm]
        say(f"{'Now' if runs_now else 'Next'}: {_difference(arm, one.plan.arms[0])}.")
    if waits:
        say("Next: fresh runs of its best settings.")
    if runs_now:
        say("\nIt runs now.")
    elif waits or any(one.next is not None for one in parts):
        say(f"\nStopped. Resume: {resume}")


def print_experiments(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one line per experiment: its name, its progress and its question."""
    table = Table("Experiment", "Runs", "State", "Question", box=None, pad_edge=False)
    for row in rows:
        if "problem" in row:
            table.add_row(row["name"], "", "unreadable", row["problem"])
            continue
        state = "finished" if row["finished"] else "runs now" if row["runs_now"] else "stopped"
        simulated = "simulated: " if row["simulated"] else ""
        table.add_row(row["name"], str(row["runs"]), state, f"{simulated}{row['question']}")
    Console(width=width(), highlight=False).print(table)
