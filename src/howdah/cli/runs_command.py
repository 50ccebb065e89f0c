"""howdah runs"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from howdah.cli.options import json_option
from howdah.model.accelerator import NONE
from howdah.model.quantity import format_bytes, format_seconds
from howdah.model.run import Run
from howdah.model.storage import HDFS

_COLOURS = {"valid": "green", "invalid": "red", "failed": "red", "aborted": "yellow", "running": "cyan"}


@click.command()
@click.option("--out", "root", type=click.Path(), default=None, help="Where the run directories are. [~/.howdah/runs]")
@click.option("--workload", default=None, help="Only runs of this workload.")
@json_option
def runs(root: str | None, workload: str | None, as_json: bool) -> None:
    """List runs, oldest first."""
    from howdah.store import list_runs, runs_root

    place = Path(root) if root else runs_root()
    found = [
        (path, run)
        for path, run in list_runs(place)
        if workload is None or (isinstance(run, Run) and run.trial.workload == workload)
    ]
    if as_json:
        click.echo(json.dumps([_record(path, run) for path, run in found], indent=1))
        return
    if not found:
        click.echo(f"No runs in {place}. `howdah run terasort --size 1G` makes one.")
    for path, run in found:
        if isinstance(run, Run):
            _show(run)
        else:
            click.echo(f"{path.name:36} " + click.style("unreadable", fg="red") + f"  {run.message}")


def _show(run: Run) -> None:
    from howdah.report.document.wording import count

    size = (run.dataset or {}).get("bytes")
    took = "" if run.end is None else format_seconds(run.end.monotonic - run.start.monotonic)
    nodes = run.cluster.get("nodes")
    cluster = "synthetic" if run.simulated else count(nodes, "node") if nodes else ""
    click.echo(
        f"{run.id:36} "
        + click.style(f"{run.outcome.kind:8}", fg=_COLOURS[run.outcome.kind])
        + f" {time.strftime('%Y-%m-%d %H:%M', time.localtime(run.start.utc))}  "
        + f"{format_bytes(size) if size else '':>8}  {cluster:9} {took:>12}"
        + (f"  {storage}" if (storage := run.trial.storage) != HDFS else "")
        + (f"  accelerator {accelerator}" if (accelerator := run.trial.accelerator) != NONE else "")
        + "".join(f"  {key}={value}" for key, value in run.labels.items())
    )


def _record(path: Path, run: object) -> dict[str, object]:
    if not isinstance(run, Run):
        return {"path": str(path), "problem": str(run)}
    return {
        "path": str(path),
        "id": run.id,
        "workload": run.trial.workload,
        "trial": run.trial.identity,
        "storage": run.trial.storage,
        "accelerator": run.trial.accelerator,
        "outcome": run.outcome.kind,
        "reason": run.outcome.reason,
        "start": run.start.utc,
        "labels": dict(run.labels),
    }
