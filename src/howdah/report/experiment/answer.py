"""The answer of an experiment in words."""

from __future__ import annotations

from howdah.model.comparison import Verdict
from howdah.model.experiment import Effect, Finding, Findings
from howdah.report.document.wording import (
    MISSING,
    count,
    listing,
    percent,
    probability,
    ratio,
    ratio_interval,
)

SHOWN: tuple[Verdict, ...] = ("faster", "slower", "different")
"""Verdicts that say that a level matters."""

CONFIGURATION = "configuration"
"""The factor whose levels are settings by name."""


def headline(found: Findings, confirmed: Findings | None = None) -> str:
    """The answer in a sentence or three."""
    parts = [_answer(found)] if confirmed is None else [_answer(found), confirmed_words(confirmed)]
    if found.experiment.design == "search":  # Its own numbers are those that were picked for being good.
        parts.reverse()
    so_far = "" if found.ended and (confirmed is None or confirmed.ended) else "So far: "
    return f"{'Simulated: ' if found.simulated else ''}{so_far}{' '.join(parts)}"


def confirmed_words(fresh: Findings) -> str:
    """What the fresh runs of the best settings say."""
    if len(fresh.findings) > 1 or fresh.findings[0].factor == CONFIGURATION:
        return f"What was found is {listing([_against(one) for one in fresh.findings])}, in fresh runs."
    [one] = fresh.findings
    if one.effect is None or one.verdict in ("not enough data", "not comparable"):
        return f"Fresh runs of the best settings against the baseline: {one.verdict}."
    numbers = f"{ratio(one.effect.ratio)} of the baseline, 95 % interval {ratio_interval(one.effect.interval)}"
    if one.verdict == "faster":
        return f"Fresh runs confirm the best settings: {numbers}."
    return f"Fresh runs do not confirm the best settings: {numbers}, {one.verdict}."


def is_confirmed(fresh: Findings) -> bool:
    """Whether fresh runs show the best settings to be better: than the baseline, or, after a search, than some of what
    they were compared with, and worse than nothing of it. There, every level is compared with what was found."""
    verdicts = {one.verdict for one in fresh.findings}
    if fresh.findings[0].factor == CONFIGURATION:
        return "slower" in verdicts and "faster" not in verdicts
    return verdicts == {"faster"}


def _against(one: Finding) -> str:
    """One of several settings ÷ what was found, the baseline of these runs."""
    if one.effect is None or one.verdict in ("not enough data", "not comparable"):
        return f"not told from {one.level} ({one.verdict})"
    words = {"slower": "better than", "faster": "worse than", "different": "different from"}
    numbers = f"{one.level} ÷ found {ratio(one.effect.ratio)}, 95 % interval {ratio_interval(one.effect.interval)}"
    return f"{words.get(one.verdict, 'not shown to differ from')} {one.level} ({numbers})"


def _answer(found: Findings) -> str:
    stop = found.experiment.stop
    what = f"{found.phase}/{found.metric.name} of {found.title}"
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
        return (
            f"Not enough data: {found.blocks} of at least {stop.least} blocks are done, so nothing is said of {what}."
        )
    words = [change(one.effect, one) for one in found.findings if one.verdict in SHOWN and one.effect is not None]
    same = [name_of(one) for one in found.findings if one.verdict == "no difference shown"]
    rest = _not_judged(found)
    if not words:
        pairs = [f"{' '.join(one)} with {' '.join(other)}" for one, other in shown_pairs(found)]
        if pairs:
            return f"No level by itself is shown to change {what}; together, {listing(pairs, most=4)} do."
        nothing = [f"Nothing is shown to change {what}."] if same else [f"Nothing can be said of {what}."]
        return " ".join([*nothing, *rest])
    said = [f"{what} is {listing(words, most=4)}."]
    said += [f"Nothing is shown of {listing(same, most=4)}."] if same else []
    return " ".join([*said, *rest])


def _not_judged(found: Findings) -> list[str]:
    """Sentences on the levels that no verdict could be given of."""
    untold = [one for one in found.findings if one.verdict == "not enough data"]
    few = [f"{name_of(one)} ({outcomes_of(one)})" if one.outcomes else name_of(one) for one in untold]
    unlike = [name_of(one) for one in found.findings if one.verdict == "not comparable"]
    said = [f"There are not enough valid runs of {listing(few, most=4)}."] if few else []
    return said + ([f"Not comparable with the baseline: {listing(unlike, most=4)}."] if unlike else [])


def shown_pairs(found: Findings) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return [one.names for one in found.interactions if one.verdict == "different"]


def change(effect: Effect, finding: Finding) -> str:
    words = "higher" if effect.ratio > 1 else "lower"
    return f"{percent(abs(effect.ratio - 1))} {words} with {name_of(finding)} ({finding.verdict})"


def changed_levels(found: Findings) -> list[str]:
    """What the candidate has that the baseline has not."""
    return [f"{name} {level}" for name, level in found.candidate.items() if level != found.arms[0][name]]


def name_of(finding: Finding) -> str:
    return f"{finding.factor} {finding.level}"


def outcomes_of(finding: Finding) -> str:
    """How many of its runs ended how."""
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
