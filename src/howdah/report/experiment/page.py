"""The findings of an experiment as a page: the effects that matter, their size, and how certain they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from howdah.model.experiment import Effect, Finding, Findings, Result
from howdah.model.run import Caveat
from howdah.report.document.blocks import (
    KINDS,
    Badge,
    Block,
    Code,
    Figure,
    Fold,
    Glance,
    Legend,
    Report,
    Section,
    Table,
    Text,
    Tile,
    columns,
)
from howdah.report.document.drawing import Arm, Arms, Order, Ratio, Ratios, Turn
from howdah.report.document.labels import Label
from howdah.report.document.results import definition
from howdah.report.document.theme import VERDICTS
from howdah.report.document.wording import (
    MISSING,
    centre,
    change,
    count,
    drift,
    interval,
    listing,
    percent,
    probability_words,
    quantity,
    ratio,
    ratio_interval,
    short_names,
    shortened,
)
from howdah.report.experiment.answer import (
    SHOWN,
    effect_cells,
    effects_of,
    headline,
    is_confirmed,
    name_of,
    outcomes_of,
    simple_cells,
)
from howdah.report.experiment.candidate import candidate_blocks
from howdah.report.experiment.energy import measured_energy
from howdah.report.experiment.rates import bills, economy
from howdah.report.experiment.runs import MOST_ARMS, arm_words, disturbed, limits, told_by_runs
from howdah.report.page.provenance import difference_table
from howdah.stats.power import LEVEL
from howdah.stats.summary import summarise

METHOD = (
    "The model is log(value) = block + Σ levels + noise, one noise for all, by least squares; where a design changes "
    "several factors at once, effects are taken to multiply. An interval holds by itself with 95 %. A difference is "
    "declared at 5 % for all effects on this page together (Holm). Noise is judged by all runs and by those of the "
    "first blocks, which the stopping rule could not choose, and what is less certain holds (Stein, 1945). Detectable "
    "is the smallest ratio above 1 that such runs show four times out of five, all effects together."
)
SEARCH_METHOD = (
    "A Gaussian process over the factors, levels in their order, says what combinations that were not run may have. "
    "The next run is that with the largest expected improvement, a new combination each time until seven tenths of the "
    "runs are done. A run that takes far longer than the shortest is stopped early. The best-looking combination was "
    "chosen by its look, so that only fresh runs show how good it is."
)
_DESIGNS = {
    "one-at-a-time": "one factor at a time",
    "full": "every combination of levels",
    "fractional": "a fraction of the combinations, of resolution IV",
    "screening": "Plackett and Burman's",
    "blocks": "one factor at a time, with the baseline again after every fourth run",
    "together": "all factors at once",
    "cic-2014": "the policy cic-2014: each arm three times in a row, and all again while an arm's standard deviation "
    "passes 20 % of its mean, four times at most",
    "search": "a search, in which every run depends on those before it",
}


@dataclass(frozen=True, slots=True)
class Source:
    """The sources of an experiment's page: its file as text, its directory, the command to resume it, and its runs.

    `runs` holds the run directories; None if they no longer exist.
    """

    text: str
    directory: str
    resume: str
    runs: Path | None = None


def build_experiment(found: Findings, source: Source, confirmed: Findings | None = None) -> Report:
    """Return the page of `found`, and of the fresh runs of its best settings if there are any."""
    sections = [Section("matters", "What matters", tuple(_matters(found, source.runs)))]
    if found.interactions or found.aliases:
        sections.append(Section("together", "Factors together", tuple(_together(found))))
    if any(one.value is not None for one in found.results):
        sections.append(Section("runs", "The runs", tuple(_every_run(found, source.runs))))
    sections.append(Section("candidate", "The best settings", tuple(candidate_blocks(found, confirmed))))
    sections.append(Section("design", "How it was done", tuple(_design(found, source))))
    words = headline(found, confirmed)
    return Report(
        found.experiment.question,
        words,
        _glance(found, confirmed, sections),
        tuple(sections),
        _facts(found, words, confirmed),
    )


def _glance(found: Findings, confirmed: Findings | None, sections: Sequence[Section]) -> Glance:
    """Return the verdict, whether fresh runs confirm it, and the largest effects."""
    shown = [one for one in found.findings if one.verdict in SHOWN]
    badge = Badge("same", "no difference shown")
    if shown:
        one = shown[0].verdict
        badge = Badge(KINDS[one], one) if len(shown) == 1 else Badge("differs", "differences shown")
    if not shown and (not found.findings or any(one.verdict == "not enough data" for one in found.findings)):
        badge = Badge("unsure", "not enough data")
    if confirmed is not None:
        badge = Badge("good", "confirmed") if is_confirmed(confirmed) else Badge("unsure", "not confirmed")
    if not found.ended:
        badge = Badge("unsure", f"so far: {badge.word}")
    badge = Label(found.simulated, found.on_simulated_hosts).on(badge)
    judged = [(one, one.effect) for one in found.findings[:3] if one.effect is not None]
    names = shortened([name_of(one) for one, _ in judged])
    tiles = [_tile(name, one, effect, found) for name, (one, effect) in zip(names, judged, strict=True)]
    valid = sum(one.value is not None for one in found.results)
    tiles.append(Tile("runs", str(valid), f"{count(found.blocks, 'whole block')}" if found.findings else "of a search"))
    caveats = sum(isinstance(block, Caveat) for section in sections for block in section.blocks)
    return Glance(badge, tuple(tiles), caveats)


def _tile(name: str, one: Finding, effect: Effect, found: Findings) -> Tile:
    """Return the effect of a level, or its range if it depends on other levels."""
    apart = effects_of((one.factor, one.level), found)
    if not apart:
        span = effect.interval
        return Tile(name, change(effect.ratio), f"95 %: {change(span.low)} to {change(span.high)}")
    low, high = (edge(simple.ratio for simple in apart) for edge in (min, max))
    names = short_names([factor.name for factor in found.experiment.factors])
    on = listing(list(dict.fromkeys(names[simple.given[0]] for simple in apart)))
    return Tile(name, f"{change(low)} to {change(high)}", f"depends on {on}")


def _matters(found: Findings, runs: Path | None) -> Iterator[Block]:
    yield Text(f"{found.experiment.question} Measured is {found.phase}/{found.metric.name}.")
    yield definition(f"{found.phase}/{found.metric.name}", found.metric)
    yield from _caveats(found)
    if runs is not None and not found.simulated:
        yield from told_by_runs(found, runs)
        yield from disturbed(found, runs)
    judged = [(one, one.effect) for one in found.findings if one.effect is not None]
    if judged:
        rows = tuple(
            Ratio(
                f"{name_of(one)} against {one.baseline}",
                effect.ratio,
                effect.interval,
                f"{name_of(one)}: {ratio(effect.ratio)} ({ratio_interval(effect.interval)}), {one.verdict}",
                VERDICTS.get(one.verdict, "other"),
            )
            for one, effect in judged
        )
        words = {"faster": "better", "slower": "worse", "different": "different"}
        seen = [verdict for verdict in SHOWN if any(one.verdict == verdict for one, _ in judged)]
        keys = (
            *(Legend(VERDICTS[verdict], words[verdict]) for verdict in seen),
            Legend("other", "no difference shown"),
        )
        told = "; ".join(row.title for row in rows) + "."
        yield Figure("effects", "Level ÷ baseline, largest effect first", told, keys, Ratios("÷ baseline", rows))
    if not found.findings:
        return
    heads = columns(
        *("Factor", "Level", "Against", "#÷ baseline", "#95 % interval", "#p", "#Detectable", "Runs", "Verdict")
    )
    cells = tuple(
        (one.factor, one.level, one.baseline, *effect_cells(one.effect), outcomes_of(one), one.verdict)
        for one in found.findings
    )
    yield Table("Every level against the baseline's", heads, cells)
    for one in found.findings:
        if one.unlike:
            yield difference_table(
                f"What else differs between {name_of(one)} and {one.baseline}", one.unlike, "Baseline", "Level"
            )


def _caveats(found: Findings) -> Iterator[Caveat]:
    if found.simulated:
        yield Caveat("run", "No cluster ran this: the numbers come from the file of a synthetic one.")
    if not found.ended:
        yield Caveat(
            "run",
            "It has not ended. Do not stop it because a verdict looks good: looking again and again raises false "
            "alarms above 5 %.",
        )
    for one in found.findings:
        if one.unlike:
            paths = listing([entry.path for entry in one.unlike])
            yield Caveat(
                "run", f"{name_of(one)} differs from the baseline in more than that, so it has no verdict: {paths}."
            )
    if found.unserved:
        phases = listing(found.measured, most=len(found.measured)) or found.phase
        text = f"The accelerator did not serve all of {phases} in {count(len(found.unserved), 'run')}"
        yield Caveat("run", f"{text}, so what it does is not told by them: {listing(found.unserved)}.")
    if found.changed:
        where = "" if found.experiment.design == "search" else " of one arm"
        yield Caveat("run", f"Not the same in all runs{where}: {listing(found.changed)}.")
    wrong = [one for one in found.results if one.outcome.kind != "valid"]
    if wrong:
        arms = sorted({arm_words(found, one.arm) for one in wrong})
        words = "has" if len(wrong) == 1 else "have"
        yield Caveat("run", f"{count(len(wrong), 'run')} did not end well and {words} no number: of {listing(arms)}.")
    without = [one for one in found.results if one.outcome.kind == "valid" and one.value is None]
    if without:
        arms = sorted({arm_words(found, one.arm) for one in without})
        words = "has" if len(without) == 1 else "have"
        metric = f"{found.phase}/{found.metric.name}"
        text = f"{count(len(without), 'valid run')} {words} no {metric}, or several, and {words} no part in this"
        yield Caveat("run", f"{text}: of {listing(arms)}.")
    if found.experiment.design == "cic-2014":
        yield from _of_the_policy(found)
    if found.experiment.design == "screening":
        text = (
            "In a screening design, effects of two factors together hide in those of single ones: what matters here "
            "is to be looked at again."
        )
        yield Caveat("run", text)
    trend = found.trend
    if trend is not None and trend.p < LEVEL:
        text = drift(trend)
        if found.experiment.design != "cic-2014":  # Which has each arm in a row.
            text += " Blocks take most of it out of the effects."
        yield Caveat("run", text)
    far = [one.run for one in found.results if one.outlying]
    if far:
        words = (
            "lies far from the others of its arm, and counts" if len(far) == 1 else "lie far from the others, and count"
        )
        yield Caveat("run", f"{count(len(far), 'run')} {words} like them: {listing(far)}.")


def _of_the_policy(found: Findings) -> Iterator[Caveat]:
    """Yield caveats about the limits of a design with three runs in a row."""
    least = [one.effect.detectable for one in found.findings if one.effect is not None]
    if least:
        text = (
            "Three runs of each arm, one after the other, cannot tell an effect from what changed in time, and a "
            f"spread of 20 % is let pass: such runs show differences of {percent(max(least) - 1)} and more, if nothing "
            "else changed. There is no verdict for this reason; the design one-at-a-time can give one."
        )
        yield Caveat("run", text)
    tests = 1 + max((one.block for one in found.results), default=0)
    if tests > 1:
        text = f"Everything was tested {tests} times, as an arm spread by more than 20 %; only the last counts."
        yield Caveat("run", text)


def _together(found: Findings) -> Iterator[Block]:
    if found.interactions:
        yield Text(
            "The ratio shows how far two changes help or hinder each other. 1.00: independent. 1.14: together, the "
            "metric is 14 % higher than by the two effects alone."
        )
        mixed = any(one.aliases for one in found.interactions)
        heads = columns(
            "Level", "With", "#Ratio", "#95 % interval", "#p", "Verdict", *(("Mixed with",) if mixed else ())
        )
        rows = tuple(
            (
                " ".join(one.names[0]),
                " ".join(one.names[1]),
                *effect_cells(one.effect)[:3],
                one.verdict,
                *((listing(one.aliases) or MISSING,) if mixed else ()),
            )
            for one in found.interactions
        )
        yield Table("Pairs, the largest effect first", heads, rows)
    told = [simple for one in found.interactions for simple in one.simple]
    if told:
        heads = columns("Level", "With", "#÷ baseline", "#95 % interval", "Verdict")
        cells = tuple((" ".join(one.level), " ".join(one.given), *simple_cells(one), one.verdict) for one in told)
        yield Table("What each level does with and without the other", heads, cells)
        yield Text(
            "These are the pairs that are shown. Factors that are not named have the baseline's level. Verdicts are at "
            "the 5 % level for all rows together (Holm).",
            small=True,
        )
    for chain in found.aliases:
        yield Text(f"This design cannot tell apart: {listing(chain)}.", small=True)


def _arm(found: Findings, valid: Sequence[Result], arm: int) -> Arm:
    values = tuple(one.value for one in valid if one.arm == arm and one.value is not None)
    seen, unit = summarise(values), found.metric.unit
    span = f" (95 % interval {interval(seen.interval, unit)})" if seen.interval else ""
    name, mean = arm_words(found, arm), centre(seen)
    title = f"{name}: {quantity(mean, unit)}{span}, {count(len(values), 'run')}"
    return Arm(name, "baseline" if arm == 0 else "contender", values, mean, seen.interval, title)


def _every_run(found: Findings, runs: Path | None) -> Iterator[Block]:
    unit, name = found.metric.unit, f"{found.phase}/{found.metric.name}"
    valid = [one for one in found.results if one.value is not None]
    drawn = tuple(_arm(found, valid, arm) for arm in sorted({one.arm for one in valid})[:MOST_ARMS])
    arms = len({one.arm for one in valid})
    note = "" if arms <= MOST_ARMS else f"The first {MOST_ARMS} of {arms} arms; the table below has all."
    low, high = (edge(one.value for one in valid if one.value is not None) for edge in (min, max))
    words = f"{len(valid)} runs between {quantity(low, unit)} and {quantity(high, unit)}."
    keys = (
        Legend("baseline", "baseline"),
        Legend("contender", "another arm; line: 95 % interval of the mean; ticks: runs"),
    )
    if found.experiment.design != "search":
        words += f" {'; '.join(one.title for one in drawn)}."
        yield Figure("arms", "Geometric mean of each arm", words, keys, Arms(name, unit, drawn), note)
    yield from _order(found, valid)
    yield from economy(found)
    if runs is not None and not found.simulated:
        yield from measured_energy(found, runs)
        yield from limits(found, runs)
    yield Fold(count(len(found.results), "run"), (_table(found),))


def _order(found: Findings, valid: Sequence[Result]) -> Iterator[Block]:
    trend, searched = found.trend, found.experiment.design == "search"
    mean = "the mean of all" if searched else "its arm's mean"
    turns = tuple(
        Turn(
            place,
            one.relative,
            "baseline" if one.arm == 0 else "contender",
            one.outlying,
            f"run {place}, {arm_words(found, one.arm)}: {ratio(one.relative)} of {mean}",
        )
        for place, one in enumerate(valid, 1)
        if one.relative is not None
    )
    line = None
    if searched:
        words = "The search tries what may be good, and settles on what looks best."
    elif trend is None:
        words = "There are too few runs to tell whether they drift."
    else:
        middle = trend.ratio**0.5
        line = (1 / middle, middle)
        found_or_not = "a drift is shown" if trend.p < LEVEL else "no drift is shown"
        words = (
            f"By the order alone the last run is {ratio(trend.ratio)} of the first (95 % interval "
            f"{ratio_interval(trend.interval)}, p {probability_words(trend.p)}): {found_or_not}."
        )
    keys = (
        Legend("baseline", "baseline"),
        Legend(
            "contender", "another arm" if searched else "another arm; dashed: the trend; diamonds: far from the others"
        ),
    )
    title = f"Run ÷ {'mean of all' if searched else 'mean of its arm'}, in the order of the runs"
    yield Figure("order", title, words, keys, Order("÷ mean", turns, line))
    yield Text(words)


def _table(found: Findings) -> Table:
    rows = tuple(
        (
            str(place),
            str(one.block + 1),
            arm_words(found, one.arm),
            quantity(one.value, found.metric.unit),
            MISSING if one.relative is None else ratio(one.relative),
            one.outcome.kind + (f" ({one.outcome.reason})" if one.outcome.reason else ""),
            one.run,
        )
        for place, one in enumerate(found.results, 1)
    )
    mean = "mean of all" if found.experiment.design == "search" else "mean of arm"
    heads = columns("#No.", "#Block", "Arm", "#Value", f"#÷ {mean}", "Outcome", "Run")
    return Table(f"{found.phase}/{found.metric.name} of every run, in order", heads, rows)


def _design(found: Findings, source: Source) -> Iterator[Block]:
    experiment, stop = found.experiment, found.experiment.stop
    if experiment.design == "search":
        yield Text(
            f"Design: {_DESIGNS['search']}; {count(len(found.results), 'run')} of at most {stop.most}, each on a "
            f"cluster of its own, drawn with seed {experiment.seed}. {SEARCH_METHOD}"
        )
    elif experiment.design == "cic-2014":
        yield Text(f"Design: {_DESIGNS['cic-2014']}. Every run on a cluster of its own, with data of its own.")
    else:
        yield from _blocks(found)
    yield Fold("The experiment file", (Code(source.text),))
    yield Text(f"Directory: {source.directory}")
    yield Code(source.resume)


def _blocks(found: Findings) -> Iterator[Block]:
    experiment, stop = found.experiment, found.experiment.stop
    yield Text(
        f"Design: {_DESIGNS[experiment.design]}. {count(len(found.arms), 'arm')} in "
        f"{count(found.blocks, 'whole block')}, each in an order drawn with seed {experiment.seed}; every run on a "
        f"cluster of its own. It stops when every interval, for all effects together, reaches no further than "
        f"{percent(stop.half_width)}, after {stop.least} blocks at the earliest and {stop.most} at the latest."
    )
    yield Text(METHOD, small=True)


def _facts(found: Findings, words: str, confirmed: Findings | None) -> Mapping[str, Any]:
    outcomes = Counter(one.outcome.kind for one in found.results)
    return {
        "schema": 1,
        "kind": "experiment",
        "headline": words,
        "outcomes": dict(outcomes),
        **asdict(found),
        "bills": [asdict(bill) for bill in bills(found)],
        "confirmation": None if confirmed is None else asdict(confirmed),
    }
