"""`energy.json` and the samples of energy: every stretch of a run, with the results of its meters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from howdah.engine.energy.checks import contradictions
from howdah.engine.energy.level import level_of
from howdah.engine.energy.readings import Metered, metered
from howdah.engine.energy.totals import Total, parts_of, totals
from howdah.engine.evidence import metrics
from howdah.model.metric import Metric
from howdah.model.run import Run
from howdah.model.sample import Moment, Sample
from howdah.stats.energy import ENOUGH, integral
from howdah.store import StoredRun
from howdah.workload.hs import SECONDS as PASS_SECONDS

SCHEMA = 1
_CLAIM = 600.0
"""Seconds without load that a claim about net energy needs."""
_STEADY = 0.02
"""The coefficient of variation of idle power up to which idle power may be subtracted."""
_ENOUGH_FOR_ALL = 3
"""The least readings of a whole run. The uncertainty of the energy shows how few they are."""
_WH = 3600.0
_TB = 1e12


@dataclass(frozen=True, slots=True)
class EnergyStretch:
    """A part of a run by the clock of the machine where clients run; `phase` is None for the whole run."""

    phase: str | None
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class MeasuredEnergy:
    """The energy of a run as it is kept: `energy.json`, the samples, and sentences that a reader must know."""

    record: Mapping[str, Any]
    samples: tuple[Sample, ...]
    caveats: tuple[str, ...]


def measure_energy(
    run: StoredRun,
    samples: Sequence[Sample],
    hosts: Sequence[str],
    *,
    absent: Sequence[str],
    idle: tuple[float, float] | None,
    others: float | None,
) -> MeasuredEnergy:
    """Return the energy of `run`, whose phases have ended and whose `samples` are not written yet.

    `hosts` are the hosts of the run. `absent` says which requested meters are missing. `idle` is the time, from start
    to end, when nothing ran. `others` is the watts, at most, of everything that no meter covers.
    """
    meters = metered(run)
    found, kept, caveats = list[Sample](), list[dict[str, Any]](), list[str]()
    quiet = None if idle is None else _quiet(meters, idle)
    for stretch in _stretches(run.run, samples):
        enough = _ENOUGH_FOR_ALL if stretch.phase is None else ENOUGH
        parts, missing = parts_of(meters, stretch.start, stretch.end, enough)
        sums = totals(parts, stretch.start, stretch.end)
        said = list(contradictions(parts, sums))
        kept.append(_kept(stretch, sums, missing, said))
        caveats += [sentence for sentence in said if sentence not in caveats] if stretch.phase is None else []
        for one in sums:
            if set(one.hosts) == set(hosts):
                found += _samples(run.run, samples, stretch, one, quiet)
    found += _of_slower_pass(samples, found)
    whole = next((one for one in kept if one["phase"] is None), None)
    caveats += [f"meter {one.meter.name}: {one.problem}" for one in meters if one.problem]
    caveats += [f"meter {one}" for one in absent]
    if whole is not None:
        caveats += _uncovered(kept, whole, hosts)
    record = {
        "schema": SCHEMA,
        "hosts": sorted(hosts),
        "meters": [_meter(one) for one in meters],
        "absent": list(absent),
        "stretches": kept,
        "idle": quiet,
        "others": others,
        "level": level_of(meters, whole, hosts, idle=quiet is not None, others=others),
    }
    return MeasuredEnergy(record, tuple(found), tuple(dict.fromkeys(caveats)))


def _stretches(run: Run, samples: Sequence[Sample]) -> Iterator[EnergyStretch]:
    """Yield all phases together, from first to last, then each one: the time of its jobs, or of its client without
    jobs."""
    ended = [phase for phase in run.phases if phase.end is not None]
    if not ended:
        return
    yield EnergyStretch(None, ended[0].start.utc, max(phase.end.utc for phase in ended if phase.end is not None))
    for phase in ended:
        own = {one.metric: one for one in samples if one.phase == phase.name}
        time = own.get(metrics.JOB_SECONDS.name) or own.get(metrics.CLIENT_SECONDS.name)
        if time is not None:
            yield EnergyStretch(phase.name, time.moment.utc - time.value, time.moment.utc)
    for one in samples:
        if one.metric == PASS_SECONDS.name and one.phase is not None:
            # A pass of five phases, in the style of TPCx-HS, with what lies between them.
            number = one.phase.rpartition("-")[2]
            members = [phase for phase in ended if re.fullmatch(rf".+-{number}(-again-\d+)?", phase.name)]
            if members:
                last = max(phase.end.utc for phase in members if phase.end is not None)
                yield EnergyStretch(one.phase, members[0].start.utc, last)


def _samples(
    run: Run, samples: Sequence[Sample], stretch: EnergyStretch, total: Total, idle: Mapping[str, Any] | None
) -> Iterator[Sample]:
    names = ", ".join(part.metered.meter.name for part in total.parts)
    source = (
        f"{names} ({total.side}), of {len(total.hosts)} hosts" if len(total.hosts) > 1 else f"{names} ({total.side})"
    )
    seconds = stretch.end - stretch.start
    host = next(iter(samples)).host
    moment = Moment(stretch.end, stretch.end)

    def sample(metric: Metric, value: float, formula: str = "") -> Sample:
        quality = total.quality if not formula or total.quality == "simulated" else "derived"
        words = f"{formula}; {source}" if formula else source
        return Sample(metric.name, value, metric.unit, quality, words, host, total.domain, stretch.phase, moment)

    joules = total.joules
    yield sample(metrics.ENERGY, joules)
    yield sample(metrics.MEAN_POWER, joules / seconds, "energy ÷ time")
    yield sample(metrics.PEAK_POWER, total.peak_watts)
    yield sample(metrics.ENERGY_DELAY, joules * seconds, "energy · time")
    known = None if idle is None else idle["watts"].get(total.domain)
    if known is not None and idle is not None and idle["subtracted"]:
        yield sample(metrics.NET_ENERGY, joules - known * seconds, f"energy − {known:.6g} W · time")
    moved = _moved(run, samples, stretch)
    if moved is not None:
        yield sample(metrics.ENERGY_PER_TB, joules / _WH / (moved / _TB), f"energy ÷ {moved:.6g} B")
        yield sample(metrics.WORK_PER_JOULE, moved / 1e6 / joules, f"{moved:.6g} B ÷ energy")
        rows = (run.dataset or {}).get("rows") or (run.dataset or {}).get("records")
        if rows:
            yield sample(metrics.ENERGY_PER_RECORD, joules / rows, f"energy ÷ {rows}")


def _moved(run: Run, samples: Sequence[Sample], stretch: EnergyStretch) -> float | None:
    """Return the bytes that a stretch had to move: by its throughput, or, for a pass, the bytes of the data."""
    own = {one.metric: one.value for one in samples if one.phase == stretch.phase}
    if metrics.THROUGHPUT.name in own:
        return own[metrics.THROUGHPUT.name] * (stretch.end - stretch.start)
    return (run.dataset or {}).get("bytes") if PASS_SECONDS.name in own else None


def _of_slower_pass(samples: Sequence[Sample], found: Sequence[Sample]) -> Iterator[Sample]:
    """Yield energy per TB of the slower of two passes, the one that counts (TPCx-HS; TPC-Energy's watts ÷
    performance)."""
    passes = [one for one in samples if one.metric == PASS_SECONDS.name]
    if len(passes) < 2:
        return
    slower = max(passes, key=lambda one: one.value).phase
    for one in found:
        if one.metric == metrics.ENERGY_PER_TB.name and one.phase == slower:
            yield replace(one, phase="slower", source=f"of {slower}; {one.source}")


def _quiet(meters: Sequence[Metered], idle: tuple[float, float]) -> dict[str, Any]:
    """Return idle power by domain, whether it is steady enough to be subtracted, and whether it is long enough for a
    claim."""
    parts, _ = parts_of(meters, *idle)
    sums = totals(parts, *idle)
    seconds = idle[1] - idle[0]
    spread = max((_spread(one, idle) for one in sums), default=math.inf)
    return {
        "start": idle[0],
        "seconds": seconds,
        "watts": {one.domain: one.joules / seconds for one in sums},
        "half_width": {one.domain: one.half_width / seconds for one in sums},
        "cv": None if math.isinf(spread) else spread,
        "subtracted": spread <= _STEADY,
        "claim": seconds >= _CLAIM,
    }


def _spread(total: Total, span: tuple[float, float]) -> float:
    """Return the largest coefficient of variation of the power of a total's meters. The means of tenths of the time are
    compared, since a single reading is as coarse as its meter."""
    largest = 0.0
    at = np.linspace(*span, 11)
    for part in total.parts:
        assert part.metered.readings is not None
        joules = [integral(part.metered.readings, start, end) for start, end in pairwise(at)]
        largest = max(largest, float(np.std(joules, ddof=1) / np.mean(joules)))
    return largest


def _uncovered(kept: Sequence[Mapping[str, Any]], whole: Mapping[str, Any], hosts: Sequence[str]) -> Iterator[str]:
    """Yield caveats about hosts without energy. Energy that does not cover all hosts is no energy of the run."""
    if not whole["totals"]:
        why = "; ".join(f"{name}: {words}" for name, words in whole["missing"].items()) or "there is no meter"
        some = any(one["totals"] for one in kept)
        yield f"{'the run as a whole has' if some else 'there is'} no energy: {why}"
    for one in whole["totals"]:
        lacking = sorted(set(hosts) - set(one["hosts"]))
        if lacking:
            words = f"energy by {one['domain']} is of {len(one['hosts'])} of {len(hosts)} hosts, and no sample"
            yield f"{words}: nothing measured {', '.join(lacking)}"


def _kept(
    stretch: EnergyStretch, sums: Sequence[Total], missing: Mapping[str, str], said: Sequence[str]
) -> dict[str, Any]:
    return {
        "phase": stretch.phase,
        "start": stretch.start,
        "end": stretch.end,
        "totals": [
            {
                "domain": one.domain,
                "side": one.side,
                "hosts": list(one.hosts),
                "joules": one.joules,
                "half_width": one.half_width,
                "budget": dict(one.budget),
                "readings": one.readings,
                "peak_watts": one.peak_watts,
                "quality": one.quality,
                "meters": [part.metered.meter.name for part in one.parts],
            }
            for one in sums
        ],
        "missing": dict(missing),
        "contradictions": list(said),
    }


def _meter(one: Metered) -> dict[str, Any]:
    lag = one.lag
    return {
        "name": one.meter.name,
        "source": one.meter.source,
        "domain": one.meter.domain,
        "side": one.meter.side,
        "reading": one.meter.reading,
        "covers": list(one.meter.covers),
        "quality": one.meter.quality,
        "accuracy": one.meter.accuracy,
        "interval": None if one.readings is None else one.readings.interval,
        "readings": one.count,
        "faults": one.faults,
        "offset_error": None if one.readings is None else one.readings.offset_error,
        "ahead": None if lag is None else {"seconds": lag.seconds, "error": lag.error, "correlation": lag.correlation},
        "problem": one.problem,
    }
