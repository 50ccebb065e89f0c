"""The top of a report on runs: whether they are valid, their result, their bottleneck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from howdah.model.run import Caveat
from howdah.report.document.blocks import Badge, Glance, Tile
from howdah.report.document.labels import label_of
from howdah.report.document.results import Measure, Replicates, measures, registered, summary
from howdah.report.document.wording import centre, count, interval, listing, percent, quantity
from howdah.report.page.detail import Detail


def glance_of(members: Replicates, detail: Detail, caveats: Sequence[Caveat]) -> Glance:
    """Return the top of the report on the runs of one trial; `detail` is of the shown run."""
    return Glance(badge_of([members]), tuple(_tiles(members, detail)), len(caveats))


def badge_of(groups: Sequence[Replicates]) -> Badge:
    """Return whether all runs are valid, none, or some."""
    outcomes = Counter(run.run.outcome.kind for members in groups for run in members.runs)
    valid, whole = outcomes["valid"], sum(outcomes.values())
    label = label_of(*(run.run for members in groups for run in members.runs))
    if label.synthetic:
        return Badge("simulated", "simulated")
    if valid == whole:
        return label.on(Badge("good", "valid"))
    if valid:
        return label.on(Badge("unsure", f"{valid} of {whole} valid"))
    return label.on(Badge("bad", listing(list(outcomes))))


def _tiles(members: Replicates, detail: Detail) -> Iterator[Tile]:
    primary = members.primary
    if primary is not None:
        yield from _measured(members, primary)
        yield from _limit(detail, primary.phase)
    checks = [check for run in members.runs for check in run.run.checks]
    if checks:
        passed = sum(check.passed for check in checks)
        wrong = listing(sorted({check.name for check in checks if not check.passed}))
        yield Tile("checks", f"{passed} of {len(checks)}", f"failed: {wrong}" if wrong else "passed")


def _measured(members: Replicates, primary: Measure) -> Iterator[Tile]:
    """Yield the primary metric, and the rate of its phase."""
    known = registered(members.valid)
    others = (
        one
        for one in measures(members.valid)
        if one.phase == primary.phase and known[one.metric].unit == "B/s" and known[one.metric].better == "higher"
    )
    for measure in dict.fromkeys((primary, *list(others)[:1])):
        found, metric = summary(members.valid, measure), known.get(measure.metric)
        if found is not None and metric is not None:
            note = f"95 %: {interval(found.interval, metric.unit)}" if found.interval else ""
            runs = count(found.n, "run")
            yield Tile(str(measure), quantity(centre(found), metric.unit), f"{note}, {runs}" if note else runs)


def _limit(detail: Detail, phase: str) -> Iterator[Tile]:
    """Yield the resource that was nearest to its bound."""
    for limit in detail.limits:
        known = [load for load in limit.loads if load.share is not None]
        if limit.phase == phase and known:
            busiest = max(known, key=lambda load: load.share or 0.0)
            yield Tile(f"{busiest.name} in {phase}", percent(busiest.share), limit.verdict.partition(": ")[2])
