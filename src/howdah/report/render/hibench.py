"""Runs as lines of HiBench's `hibench.report`, for programs that read that file."""

from __future__ import annotations

import time
from collections.abc import Sequence

from howdah.errors import UsageError
from howdah.report.document.results import Measure, run_value
from howdah.store import StoredRun

# The measured phase of a workload that HiBench has too, and what HiBench calls it (`enter_bench` in its run.sh).
_NAMES = {
    "terasort": ("sort", "HadoopTerasort"),
    "sort": ("sort", "HadoopSort"),
    "wordcount": ("count", "HadoopWordcount"),
}
_HEADS = ("Type", "Date", "Time", "Input_data_size", "Duration(s)", "Throughput(bytes/s)", "Throughput/node")
_WIDTHS = (12, 10, 8, 20, 20, 20, 20)


def render_hibench(runs: Sequence[StoredRun]) -> str:
    """Return a head and a line for each valid run, times in UTC.

    As in HiBench (`gen_report`), the duration is that of the whole client, with three decimals. Both throughputs are
    cut to whole numbers, and a long name moves the rest of its line.

    Raises UsageError if there is no valid run. Raises UsageError, too, if a run is of a workload that HiBench does not
    have, is simulated, or lacks the figures.
    """
    lines = [_line(run) for run in runs if run.run.outcome.kind == "valid"]
    if not lines:
        raise UsageError("no valid run to write")
    return "".join(f"{line}\n" for line in (_columns(_HEADS), *lines))


def _line(run: StoredRun) -> str:
    workload = run.run.trial.workload
    # HiBench's Hadoop lines are of MapReduce.
    engine = run.run.trial.settings.get("workload", {}).get("engine", "mapreduce")
    if workload not in _NAMES or engine != "mapreduce":
        raise UsageError(
            f"{run.run.id}: HiBench has no workload like {workload!r}", hint=f"It has {' and '.join(sorted(_NAMES))}."
        )
    if run.run.simulated:
        raise UsageError(f"{run.run.id} is simulated: a line of HiBench's would not say so")
    name, title = _NAMES[workload]
    ends = [one.end for one in run.run.phases if one.name == name and one.end is not None]
    seconds = run_value(run, Measure(name, "client_seconds", ""))
    dataset = run.run.dataset
    if not ends or seconds is None or dataset is None:
        raise UsageError(f"{run.run.id} has not the figures of a line: the time of its client and the size of its data")
    milliseconds = int(seconds * 1000)
    # HiBench takes the length of what was written, not what was asked for.
    size = int(dataset.get("written_bytes", dataset["bytes"]))
    # HiBench divides by the rounded duration; an unknown number of nodes counts as one.
    rate = size * 1000 // milliseconds
    day, moment = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ends[0].utc)).split()
    nodes = int(run.run.cluster.get("nodes") or 1)
    return _columns((title, day, moment, str(size), f"{milliseconds / 1000:.3f}", str(rate), str(rate // nodes)))


def _columns(fields: Sequence[str]) -> str:
    return " ".join(f"{text:<{width}}" for text, width in zip(fields, _WIDTHS, strict=True))
