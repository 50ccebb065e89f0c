"""howdah runs"""

from __future__ import annotations

import csv
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from howdah.cli.columns import print_columns
from howdah.cli.options import json_option, parse_conf, runs_option
from howdah.cli.reporting import setting_values, width
from howdah.model.accelerator import NONE
from howdah.model.quantity import format_bytes
from howdah.model.run import Run
from howdah.model.storage import HDFS

_LAST = 30
_PIPE = 10_000
"""Columns without a terminal: nothing is cut."""
_HEADS = ("RUN (time in UTC)", "SIZE", "ON", "RESULT", "NOTES")


@dataclass(frozen=True, slots=True)
class _Listed:
    """A run directory and its contents, or its `problem` if it cannot be read. `value` is the primary metric."""

    path: Path
    run: Run | None
    problem: str
    value: float | None
    unit: str


@click.command()
@runs_option
@click.option("--workload", metavar="NAME", help="Only runs of this workload.")
@click.option(
    "--label", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label; may be repeated."
)
@click.option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only runs with this setting, such as accelerator=sort, nodes=3 or a Hadoop property; may be repeated.",
)
@click.option(
    "--last", metavar="N", type=click.IntRange(1), help=f"The last N of them. [{_LAST} in a terminal, else all]"
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a row for each run.")
@json_option
def runs(
    root: str | None,
    workload: str | None,
    labels: tuple[str, ...],
    where: tuple[str, ...],
    last: int | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """List runs with their results, the oldest first.

    \b
    Examples:
      howdah runs --last 5
      howdah runs --workload terasort --where nodes=3 --csv
    """
    from howdah.store import list_runs, runs_root

    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other.")
    place = Path(root) if root else runs_root()
    wanted, settings = parse_conf(labels), parse_conf(where)
    filtered = bool(workload or wanted or settings)
    if last is None and not (as_csv or as_json) and sys.stdout.isatty():
        last = _LAST
    matching = (
        (path, run)
        for path, run in list_runs(place, newest_first=True)
        if (_is_wanted(run, workload, wanted, settings) if isinstance(run, Run) else not filtered)
    )
    shown = [_listed(path, run) for path, run in itertools.islice(matching, last)][::-1]
    more = last is not None and next(matching, None) is not None
    if as_json:
        click.echo(json.dumps([_record(one) for one in shown], indent=1))
    elif as_csv:
        _print_csv(shown)
    elif not shown:
        none = "No such runs" if filtered else "No runs"
        click.echo(f"{none} in {place}. `howdah run terasort --size 1G` makes one.")
    else:
        differing = _differing([one.run for one in shown if one.run is not None])
        rows = [_row(one, differing) for one in shown]
        print_columns(_HEADS, rows, width() if sys.stdout.isatty() else _PIPE, right=(1, 3))
        if more:
            click.secho(f"The last {len(shown)} runs: `--last N` shows more.", dim=True)


def _is_wanted(run: Run, workload: str | None, labels: Mapping[str, str], settings: Mapping[str, str]) -> bool:
    if workload is not None and run.trial.workload != workload:
        return False
    if any(run.labels.get(key) != value for key, value in labels.items()):
        return False
    return all(value in setting_values(run, key) for key, value in settings.items())


def _listed(path: Path, run: Run | Exception) -> _Listed:
    if not isinstance(run, Run):
        return _Listed(path, None, str(run), None, "")
    phase, _, name = (run.primary or "").rpartition("/")
    unit = next((metric.unit for metric in run.metrics if metric.name == name), "")
    if run.outcome.kind != "valid":
        return _Listed(path, run, "", None, unit)
    from howdah.store.reader import read_samples

    values = [one.value for one in read_samples(path) if (one.phase or "", one.metric) == (phase, name)]
    return _Listed(path, run, "", values[0] if len(values) == 1 else None, unit)


def _properties(run: Run) -> dict[str, str]:
    """Return the Hadoop properties that were set for a run, for its cluster or for its jobs."""
    settings = run.trial.settings
    both = (settings.get("cluster", {}).get("settings", {}), settings.get("workload", {}).get("conf", {}))
    return {key: str(value) for one in both for key, value in one.items()}


def _differing(runs: Sequence[Run]) -> dict[str, dict[str, str]]:
    """Return by workload the properties that are not the same in all its runs, with their short names."""
    from howdah.report.document.wording import short_names

    found: dict[str, dict[str, str]] = {}
    for workload in {run.trial.workload for run in runs}:
        each = [_properties(run) for run in runs if run.trial.workload == workload]
        keys = {key for one in each for key in one}
        names = sorted(key for key in keys if len({one.get(key) for one in each}) > 1)
        found[workload] = short_names(names)
    return found


def _row(one: _Listed, differing: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    from howdah.report.document.wording import MISSING, count, quantity

    run = one.run
    if run is None:
        return (one.path.name, "", "", MISSING, f"unreadable: {one.problem}")
    asked = run.trial.settings.get("workload", {}).get("size_bytes")
    size, nodes = (run.dataset or {}).get("bytes", asked), run.cluster.get("nodes")
    names, properties = differing[run.trial.workload], _properties(run)
    cluster = "synthetic" if run.simulated else count(nodes, "node") if isinstance(nodes, int) else ""
    notes = [
        *([_ending(run)] if run.outcome.kind != "valid" else ()),
        *([run.trial.storage] if run.trial.storage != HDFS else ()),
        *([f"accelerator {run.trial.accelerator}"] if run.trial.accelerator != NONE else ()),
        *(f"{key}={value}" for key, value in run.labels.items()),
        *(f"{names[key]}={value}" for key, value in properties.items() if key in names),
    ]
    return (run.id, format_bytes(size) if size else "", cluster, quantity(one.value, one.unit), "  ".join(notes))


def _ending(run: Run) -> str:
    return f"{run.outcome.kind}: {run.outcome.reason}" if run.outcome.reason else run.outcome.kind


def _record(one: _Listed) -> dict[str, Any]:
    run = one.run
    if run is None:
        return {"path": str(one.path), "problem": one.problem}
    return {
        "path": str(one.path),
        "id": run.id,
        "workload": run.trial.workload,
        "trial": run.trial.identity,
        "storage": run.trial.storage,
        "accelerator": run.trial.accelerator,
        "bytes": (run.dataset or {}).get("bytes"),
        "nodes": run.cluster.get("nodes"),
        "simulated": run.simulated,
        "outcome": run.outcome.kind,
        "reason": run.outcome.reason,
        "start": run.start.utc,
        "primary": run.primary,
        "value": one.value,
        "unit": one.unit,
        "labels": dict(run.labels),
    }


def _print_csv(shown: Sequence[_Listed]) -> None:
    """Print one column for each fact and each label. Unreadable runs are left out, and named on standard error."""
    records = [_record(one) for one in shown if one.run is not None]
    for one in shown:
        if one.run is None:
            click.echo(f"{one.path}: {one.problem}", err=True)
    rows = [
        {
            **{key: value for key, value in record.items() if key != "labels"},
            **{f"label.{key}": value for key, value in record["labels"].items()},
        }
        for record in records
    ]
    heads = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(sys.stdout, heads)
    writer.writeheader()
    writer.writerows(rows)
