"""The answer of an experiment in words."""

from __future__ import annotations

from collections.abc import Sequence

from howdah.model.comparison import Interval, Verdict
from howdah.model.experiment import BASELINE, RUNNER_UP, Effect, Finding, Findings, Interaction, Level, SimpleEffect
from howdah.report.document.labels import Label
from howdah.report.document.wording import (
    MISSING,
    change,
    count,
    direction,
    listing,
    more_or_less,
    percent,
    probability,
    ratio,
    ratio_interval,
    times,
)

SHOWN: tuple[Verdict, ...] = ("faster", "slower", "different")
"""The verdicts that say that a level matters."""

CONFIGURATION = "configuration"
"""The factor whose levels are named settings."""


def headline(found: Findings, confirmed: Findings | None = None) -> str:
    """Return the answer in one to three sentences."""
    parts = [_answer(found)] if confirmed is None else [_answer(found), confirmed_words(confirmed)]
    if found.experiment.design == "search":  # Its own numbers are those that were picked for being good.
        parts.reverse()
    so_far = "" if found.ended and (confirmed is None or confirmed.ended) else "So far: "
    return f"{Label(found.simulated, found.on_simulated_hosts).prefix}{so_far}{' '.join(parts)}"


def confirmed_words(fresh: Findings) -> str:
    """Return a sentence about the fresh runs of the best settings."""
    if len(fresh.findings) > 1 or fresh.findings[0].factor == CONFIGURATION:
        what = "The best settings are" if _has_runner_up(fresh) else "The settings that were found are"
        return f"{what} {listing([_against(one, fresh) for one in fresh.findings])}, in fresh runs."
    [one] = fresh.findings
    if one.effect is None or one.verdict in ("not enough data", "not comparable"):
        return f"Fresh runs of the best settings against the baseline: {one.verdict}."
    numbers = f"{ratio(one.effect.ratio)} of the baseline, 95 % interval {ratio_interval(one.effect.interval)}"
    if one.verdict == "faster":
        faster = _as_fast(one.effect.ratio, one.effect.interval, "the baseline") if fresh.metric.is_time else numbers
        return f"Fresh runs confirm the best settings: {faster}."
    return f"Fresh runs do not confirm the best settings: {numbers}, {one.verdict}."


def is_confirmed(fresh: Findings) -> bool:
    """Return whether fresh runs confirm the best settings.

    They must be better than the baseline and not worse than the runner-up, if there is one. After a search, they must
    be better than some of the settings they were compared with, and worse than none. With a runner-up and after a
    search, every level is compared with the best settings.
    """
    verdicts = {one.level: one.verdict for one in fresh.findings}
    if fresh.findings[0].factor != CONFIGURATION:
        return set(verdicts.values()) == {"faster"}
    better = verdicts[BASELINE] == "slower" if _has_runner_up(fresh) else "slower" in verdicts.values()
    return better and "faster" not in verdicts.values()


def _has_runner_up(fresh: Findings) -> bool:
    return {one.level for one in fresh.findings} == {BASELINE, RUNNER_UP}


def _as_fast(ratio: float, interval: Interval, name: str) -> str:
    """Return how many times as fast as `name` something is that takes `ratio` of its time."""
    return f"{times(1 / ratio)} as fast as {name} (95 % interval {1 / interval.high:.2f}–{1 / interval.low:.2f})"


def _against(one: Finding, fresh: Findings) -> str:
    """Return words about one of several settings against the best settings, the baseline of these runs."""
    name = f"the {one.level}" if one.level in (BASELINE, RUNNER_UP) else one.level
    if one.effect is None or one.verdict in ("not enough data", "not comparable"):
        return f"not told from {name} ({one.verdict})"
    span = one.effect.interval
    if one.verdict == "slower" and fresh.metric.is_time:
        return _as_fast(1 / one.effect.ratio, Interval(1 / span.high, 1 / span.low), name)
    words = {"slower": "better than", "faster": "worse than", "different": "different from"}
    if one.verdict not in words:
        return f"not shown to differ from {name}"
    numbers = f"{one.level} ÷ found {ratio(one.effect.ratio)}, 95 % interval {ratio_interval(span)}"
    return f"{words[one.verdict]} {name} ({numbers})"


def _answer(found: Findings) -> str:
    stop = found.experiment.stop
    # The phase of a metric that the file names may be another than that by which the workload is known.
    subject = found.title if found.experiment.primary is None else f"{found.title}'s {found.phase}"
    what = f"the time of {subject}" if found.metric.is_time else f"{found.phase}/{found.metric.name} of {found.title}"
    if found.experiment.design == "search":
        tried = f"{count(len({one.arm for one in found.results}), 'combination')} of {len(found.arms)} were run"
        changed = changed_levels(found)
        if not changed:
            return f"{tried}, and none looks better than the baseline for {what}."
        return f"{tried}; for {what} {listing(changed, most=len(changed))} looks best."
    if found.experiment.design == "cic-2014":
        shares = [
            f"{percent(one.effect.ratio)} with {name_of(one)}" for one in found.findings if one.effect is not None
        ]
        if not shares:
            return f"There are no runs yet to say anything of {what}."
        return f"By the policy cic-2014, {what} is, of the baseline's, {listing(shares, most=4)}: no verdict."
    if found.blocks < stop.least:
        return f"Not enough data: {found.blocks} of at least {stop.least} blocks are done, too few to judge {what}."
    if is_ab(found):
        return _of_two(found)
    words, depends, told = [], [], set[tuple[Level, Level]]()
    apart = {level for one in found.interactions if one.simple for level in one.names}
    for one in found.findings:
        level = (one.factor, one.level)
        pairs = [pair for pair in found.interactions if pair.simple and level in pair.names]
        if pairs and _agree(effects := _effects_of(level, pairs)):
            words.append(_ranging(found, one, effects))
        elif pairs:
            # Of a pair, the effects of one level with and without the other say it all.
            if rest := _effects_of(level, [pair for pair in pairs if pair.names not in told]):
                depends.append(_depends(found, level, rest, what))
            told |= {pair.names for pair in pairs}
        elif one.verdict in SHOWN and one.effect is not None:
            words.append(_shown(found, one.effect, one))
    same = [
        name_of(one)
        for one in found.findings
        if one.verdict == "no difference shown" and (one.factor, one.level) not in apart
    ]
    if not words and not depends:
        both = [f"{' '.join(first)} with {' '.join(second)}" for first, second in shown_pairs(found)]
        if both:
            return f"No level by itself is shown to change {what}; together, {listing(both, most=4)} do."
        nothing = [f"Nothing is shown to change {what}."] if same else [f"Nothing can be said of {what}."]
        return " ".join([*nothing, *_not_judged(found)])
    begin = f"{subject} takes" if found.metric.is_time else f"{what} is"
    said = [f"{begin} {listing(words, most=4)}."] if words else []
    said += depends
    said += [f"Nothing is shown of {listing(same, most=4)}."] if same else []
    return " ".join([*said, *_not_judged(found)])


def is_ab(found: Findings) -> bool:
    """Return whether the experiment compares one named setting with another, as `howdah ab` does."""
    [*factors] = found.experiment.varied
    return len(found.findings) == 1 and [one.name for one in factors] == [CONFIGURATION]


def _of_two(found: Findings) -> str:
    """Return the answer for one setting against another, in the words of the domain."""
    [one] = found.findings
    effect, metric = one.effect, found.metric
    if effect is None or one.verdict in ("not enough data", "not comparable"):
        return f"{one.verdict.capitalize()}: {one.level} against {one.baseline}."
    runs = f"{sum(result.value is not None for result in found.results)} runs"
    if one.verdict == "faster" and metric.is_time:
        numbers = f"95 % interval {1 / effect.interval.high:.2f}–{1 / effect.interval.low:.2f}, {runs}"
        return (
            f"{found.title} is {times(1 / effect.ratio)} as fast with {one.level} as with {one.baseline} ({numbers})."
        )
    what = f"{found.title} takes" if metric.is_time else f"{found.phase}/{metric.name} of {found.title} is"
    size = more_or_less(effect.ratio, is_time=metric.is_time)
    numbers = f"95 % interval {change(effect.interval.low)} to {change(effect.interval.high)}, {runs}"
    if one.verdict == "no difference shown":
        missed = percent(effect.detectable - 1)
        both = f"No difference is shown between {one.level} and {one.baseline}"
        return f"{both}: {what} {size} ({numbers}); differences below {missed} may be missed."
    return f"{what} {size} with {one.level} than with {one.baseline} ({numbers})."


def _effects_of(level: Level, pairs: Sequence[Interaction]) -> list[SimpleEffect]:
    """Return the effects of `level` with and without the other level of each pair."""
    return [simple for pair in pairs for simple in pair.simple if simple.level == level]


def effects_of(level: Level, found: Findings) -> list[SimpleEffect]:
    """Return the effects of `level` with and without the levels that it is shown to depend on; empty without any."""
    return _effects_of(level, [pair for pair in found.interactions if level in pair.names])


def _agree(simple: Sequence[SimpleEffect]) -> bool:
    """Return whether a level has the same shown effect in all combinations."""
    verdicts = {one.verdict for one in simple}
    return len(verdicts) == 1 and verdicts <= set(SHOWN) and len({one.ratio > 1 for one in simple}) == 1


def _ranging(found: Findings, finding: Finding, simple: Sequence[SimpleEffect]) -> str:
    low, high = sorted(abs(one.ratio - 1) for one in (min(simple, key=_far), max(simple, key=_far)))
    size = percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"
    return f"{size} {_way(found, simple[0].ratio, f'with {name_of(finding)}', simple[0].verdict)}"


def _way(found: Findings, ratio: float, where: str, verdict: str) -> str:
    """Return the direction of an effect in words. More or less time needs no verdict in addition."""
    timed = found.metric.is_time
    return f"{direction(ratio, is_time=timed)} {where}{'' if timed else f' ({verdict})'}"


def _far(one: SimpleEffect) -> float:
    return abs(one.ratio - 1)


def _depends(found: Findings, level: Level, simple: Sequence[SimpleEffect], what: str) -> str:
    """Return a sentence about the effects of a level that depend on another level."""
    on = listing(list(dict.fromkeys(one.given[0] for one in simple)))
    each = [
        f"{percent(_far(one))} {_way(found, one.ratio, 'with ' + ' '.join(one.given), one.verdict)}" for one in simple
    ]
    return f"The effect of {' '.join(level)} on {what} depends on {on}: {listing(each, most=4)}."


def _not_judged(found: Findings) -> list[str]:
    """Return sentences about the levels without a verdict."""
    untold = [one for one in found.findings if one.verdict == "not enough data"]
    few = [f"{name_of(one)} ({outcomes_of(one)})" if one.outcomes else name_of(one) for one in untold]
    unlike = [name_of(one) for one in found.findings if one.verdict == "not comparable"]
    said = [f"There are not enough valid runs of {listing(few, most=4)}."] if few else []
    return said + ([f"Not comparable with the baseline: {listing(unlike, most=4)}."] if unlike else [])


def shown_pairs(found: Findings) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return [one.names for one in found.interactions if one.verdict == "different"]


def _shown(found: Findings, effect: Effect, finding: Finding) -> str:
    size = percent(abs(effect.ratio - 1))
    return f"{size} {_way(found, effect.ratio, f'with {name_of(finding)}', finding.verdict)}"


def changed_levels(found: Findings) -> list[str]:
    """Return the levels of the candidate that differ from the baseline."""
    return [f"{name} {level}" for name, level in found.candidate.items() if level != found.arms[0][name]]


def name_of(finding: Finding) -> str:
    """Return a factor and its level in words. A configuration has a name of its own."""
    return finding.level if finding.factor == CONFIGURATION else f"{finding.factor} {finding.level}"


def outcomes_of(finding: Finding) -> str:
    """Return the number of runs of a level by outcome, as words."""
    return ", ".join(f"{number} {kind}" for kind, number in finding.outcomes.items()) or MISSING


def effect_cells(effect: Effect | None) -> tuple[str, str, str, str]:
    if effect is None:
        return (MISSING,) * 4
    return (
        ratio(effect.ratio),
        ratio_interval(effect.interval),
        probability(effect.p_family),
        ratio(effect.detectable),
    )


def simple_cells(one: SimpleEffect) -> tuple[str, str]:
    return ratio(one.ratio), ratio_interval(one.interval)
