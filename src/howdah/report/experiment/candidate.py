"""The best settings that an experiment has seen, and whether fresh runs confirm them."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping

from howdah.model.experiment import BASELINE, RUNNER_UP, Experiment, Findings
from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Code, Table, Text, columns
from howdah.report.document.wording import (
    count,
    listing,
)
from howdah.report.experiment.answer import (
    CONFIGURATION,
    changed_levels,
    confirmed_words,
    effect_cells,
    is_ab,
    is_confirmed,
    shown_pairs,
)

_EACH = "The best level that was shown of each factor"
_ALL = "The fewest changes whose removal is shown to be worse, pairs counted in"


def candidate_blocks(found: Findings, confirmed: Findings | None) -> Iterator[Block]:
    changed = changed_levels(found)
    if not changed:
        yield Text("No level is shown to be better than the baseline's, so there is nothing to recommend.")
        if confirmed is not None:
            yield from _fresh_runs(confirmed)
        return
    if is_ab(found):
        yield Text(f"To run it with {found.findings[0].level}:")
        yield Code(_command(found.experiment, found.candidate))
        return
    words = listing(changed, most=len(changed))
    which = _ALL if shown_pairs(found) else _EACH
    if found.experiment.design == "search":
        which = "The combination that looks best"
    yield Text(f"{which}: {words}. The other factors stay as they are.")
    if confirmed is None:
        ran = found.experiment.design == "search" or found.candidate in found.arms
        never = "" if ran else "These settings were never run together. "
        state = "not confirmed yet" if found.experiment.confirm else "not confirmed, as the file wants it (`confirm`)"
        yield Caveat("run", f"{never}They were picked because they looked best, which flatters them: {state}.")
    else:
        yield from _fresh_runs(confirmed)
        tried = _tried(found, confirmed)
        if any(found.candidate[name] != tried[name] for name in tried):
            said = listing([f"{name} {level}" for name, level in tried.items()], most=len(tried))
            yield Caveat("run", f"The fresh runs were of other settings than those that look best now: {said}.")
        if not is_confirmed(confirmed):
            return
    by_hand = [f"{one.name} {found.candidate[one.name]}" for one in found.experiment.factors if one.external]
    if by_hand:
        yield Text(f"First, by hand: {listing(by_hand, most=len(by_hand))}.")
    yield Code(_command(found.experiment, found.candidate))


def _tried(found: Findings, confirmed: Findings) -> Mapping[str, str]:
    """Return the levels that the fresh runs tried, of the factors that they distinguish; none after a search."""
    if found.experiment.design == "search":
        return {}
    if confirmed.findings[0].factor != CONFIGURATION:
        return confirmed.arms[1]
    best = confirmed.experiment.configurations[confirmed.findings[0].baseline]
    return {name: level for name, level in best.items() if name in found.candidate}


def _fresh_runs(confirmed: Findings) -> Iterator[Block]:
    valid = sum(result.value is not None for result in confirmed.results)
    heads = columns("Settings", "#÷ baseline", "#95 % interval", "#p", "#Detectable", "Verdict")
    if confirmed.findings[0].factor == CONFIGURATION:
        if is_confirmed(confirmed):
            yield Text(f"{confirmed_words(confirmed)} These are {count(valid, 'run')} of their own, in turn.")
        else:
            yield _no_recommendation(confirmed)
        cells = tuple((one.level, *effect_cells(one.effect), one.verdict) for one in confirmed.findings)
        heads = columns("Settings", "#÷ found", "#95 % interval", "#p", "#Detectable", "Verdict")
        yield Table("Fresh runs", heads, cells)
        named = confirmed.experiment.configurations
        if RUNNER_UP in named and BASELINE in named:
            second = [f"{name} {level}" for name, level in named[RUNNER_UP].items() if named[BASELINE][name] != level]
            yield Text(f"The runner-up, the best next to these settings: {listing(second, most=len(second))}.")
        return
    [one] = confirmed.findings
    if one.verdict == "faster":
        yield Text(
            f"{confirmed_words(confirmed)} These are {count(valid, 'run')} of their own, baseline and best settings in "
            "turn."
        )
    else:
        yield _no_recommendation(confirmed)
    yield Table("Fresh runs", heads, (("best settings", *effect_cells(one.effect), one.verdict),))


def _no_recommendation(confirmed: Findings) -> Caveat:
    return Caveat("run", f"{confirmed_words(confirmed)} That is no recommendation{'' if confirmed.ended else ' yet'}.")


def _command(experiment: Experiment, candidate: Mapping[str, str]) -> str:
    """Return the command for fresh runs with `candidate`."""
    settings = {**experiment.cluster, **experiment.baseline, **candidate}
    settings = {name: level for name, level in settings.items() if name not in experiment.by_hand}
    settings |= experiment.configurations.get(settings.pop(CONFIGURATION, ""), {})
    nodes = settings.pop("nodes", "1")
    options = itertools.chain.from_iterable(
        (f"--{name.replace('_', '-')}", value) for name, value in experiment.options.items()
    )
    # What is no Hadoop property is a factor by name; the properties' names have dots.
    conf = itertools.chain.from_iterable(
        ("--conf" if "." in key else "--factor", f"{key}={value}") for key, value in settings.items()
    )
    words = ("howdah", "run", experiment.workload, *options, "--nodes", nodes, *conf)
    return shlex.join(words)
