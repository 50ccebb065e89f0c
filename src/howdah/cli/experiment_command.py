"""howdah experiment"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from howdah.cli.options import json_option


@click.group()
def experiment() -> None:
    """Answer a question with an experiment, which a file describes (docs/reference/experiment.md)."""


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def plan(file: Path, as_json: bool) -> None:
    """Show what FILE would run, in which order, how long it would take and what it could show. Nothing is started."""
    from howdah.cli.fetching import ensure_hadoop
    from howdah.cluster.request import ClusterRequest
    from howdah.engine.experiment import plan_experiment
    from howdah.spec.experiment import read_experiment
    from howdah.store import runs_root

    described = read_experiment(file)
    hadoop = described.cluster.get("hadoop", ClusterRequest("x").hadoop)
    distribution = ensure_hadoop(ClusterRequest("x", hadoop=hadoop), quiet=as_json)
    made = plan_experiment(described, distribution, runs_root())
    if as_json:
        record = {**asdict(made), "seconds": made.seconds}
        click.echo(json.dumps(record, indent=1))
        return
    from howdah.cli.plan_table import print_plan

    print_plan(made)
