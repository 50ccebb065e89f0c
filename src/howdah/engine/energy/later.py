"""Energy of a finished run, from sources that have kept the readings of that time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from howdah.engine.energy.record import measure_energy
from howdah.engine.evidence import metrics
from howdah.errors import UsageError
from howdah.model.meter import AROUND
from howdah.model.run import Caveat
from howdah.probe.power import past_meters
from howdah.spec.meters import PAST, Meters
from howdah.store import RunWriter, read_run
from howdah.store.layout import ENERGY


def add_energy(path: Path, meters: Meters) -> None:
    """Add the readings that `meters` have of the time of the run in `path`: series, `energy.json`, samples.

    Raises UsageError for a run that is not valid or has energy already, and for meters that know only the present. Also
    raises UsageError if no meter has any reading. Nothing is added then.
    """
    run = read_run(path)
    if run.run.outcome.kind != "valid" or run.run.end is None:
        raise UsageError(f"{run.run.id} is {run.run.outcome.kind}: only a valid run has energy")
    if (asked := run.energy()) is not None:
        what = "has energy already" if asked["meters"] else "was made with --meters, none of which was there"
        raise UsageError(f"{run.run.id} {what}", hint="`howdah show` has what is known. Nothing replaces it.")
    for source in meters.sources:
        if source.kind not in PAST:
            raise UsageError(
                f"a meter of kind {source.kind} knows only what is drawn now",
                hint=f"Meters that know the past: {', '.join(PAST)}. Give the file to `howdah run --meters`.",
            )
    if run.run.simulated or "before" not in run.environment:
        raise UsageError(f"{run.run.id} does not say on which hosts it was")
    hosts = sorted(run.environment["before"].hosts)
    series, absent = past_meters(meters, hosts, run.run.start.utc - AROUND, run.run.end.utc + AROUND)
    if not series:
        raise UsageError(f"no meter has anything of the time of {run.run.id}: {'; '.join(absent)}")
    writer = RunWriter.reopened(path)
    try:
        for name, records in series.items():
            for record in records:
                writer.series(name, record)
        found = measure_energy(read_run(path), run.samples, hosts, absent=absent, idle=None, others=meters.others)
        writer.keep_json(ENERGY, found.record)
        caveats = tuple(Caveat(metrics.ENERGY.name, text) for text in found.caveats)
        known = {metric.name for metric in run.run.metrics}
        new = tuple(metric for metric in metrics.ENERGIES if metric.name not in known)
        writer.save(replace(run.run, caveats=(*run.run.caveats, *caveats), metrics=(*run.run.metrics, *new)))
        writer.samples(found.samples)
    finally:
        writer.close()
