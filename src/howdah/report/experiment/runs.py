"""Facts about the runs of an experiment besides their primary metric: the bottleneck of each arm, and disturbances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from howdah.model.experiment import Findings, Result
from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Table, Text, columns
from howdah.report.document.wording import MISSING, count, listing, percent
from howdah.report.page.build import FOREIGN, MOST_CAVEATS, own_caveats
from howdah.report.page.detail import STOLEN_LIMIT, Detail
from howdah.report.phases.limits import RULE, stolen
from howdah.store import read_run

MOST_ARMS = 12
"""The number of arms up to which each has its own row. A factorial design may have hundreds."""


def limits(found: Findings, runs: Path) -> Iterator[Block]:
    """Yield the bottleneck of the measured phase in each arm, by the run with the middle value.

    `runs` is the directory of the runs.
    """
    rows = []
    arms = sorted({one.arm for one in found.results if one.value is not None})
    for arm in arms[:MOST_ARMS]:
        by_value = sorted((one.value, one.run) for one in found.results if one.arm == arm and one.value is not None)
        _, run = by_value[len(by_value) // 2]
        words = [one.verdict for one in Detail(read_run(runs / run)).limits if one.phase == found.phase]
        rows.append((arm_words(found, arm), words[0] if words else MISSING, run))
    if any(row[1] != MISSING for row in rows):
        yield Table(f"What limited {found.phase} in each arm", columns("Arm", "What", "Run"), tuple(rows))
        yield Text(f"Each arm by the run in the middle. {RULE}", small=True)


def disturbed(found: Findings, runs: Path) -> Iterator[Caveat]:
    """Yield caveats about runs during which other programs or virtual machines used the machine."""
    others, taken = [], []
    for one in found.results:
        if one.value is None:
            continue
        detail = Detail(read_run(runs / one.run))
        share, gone = detail.foreign(found.phase), _stolen(detail, found.phase)
        if share is not None and share > FOREIGN:
            others.append((share, one))
        if gone is not None and gone > STOLEN_LIMIT:
            taken.append((gone, one))
    for what, flagged in (
        ("something else on the machine used much of the processor time", others),
        ("other virtual machines took processor time", taken),
    ):
        if flagged:
            yield Caveat("run", f"In {count(len(flagged), 'run')} {what} of {found.phase}: {_named(flagged)}.")


def told_by_runs(found: Findings, runs: Path) -> Iterator[Caveat]:
    """Yield the caveats that the valid runs have themselves."""
    valid = [read_run(runs / one.run) for one in found.results if one.outcome.kind == "valid"]
    yield from own_caveats(valid, most=MOST_CAVEATS)


def _stolen(detail: Detail, phase: str) -> float | None:
    for one in detail.run.run.phases:
        if one.name == phase and one.end is not None:
            return stolen(detail.series, one.start.utc, one.end.utc)
    return None


def _named(flagged: list[tuple[float, Result]]) -> str:
    worst = sorted(flagged, key=lambda pair: -pair[0])
    return listing([f"{percent(share)} in {one.run}" for share, one in worst])


def arm_words(found: Findings, number: int) -> str:
    """Return the levels of an arm that differ from the baseline, in words."""
    arm, baseline = found.arms[number], found.arms[0]
    return ", ".join(f"{name} {level}" for name, level in arm.items() if level != baseline[name]) or "baseline"
