"""howdah experiment"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howdah.cli.options import json_option, typed_command

if TYPE_CHECKING:
    from howdah.engine.experiment import ExperimentPlan
    from howdah.store import ExperimentDirectory

_DIRECTORY = click.argument("directory", type=click.Path(path_type=Path))


@click.group()
def experiment() -> None:
    """Answer a question with an experiment, which a file describes (docs/reference/experiment.md)."""


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def plan(file: Path, as_json: bool) -> None:
    """Show what FILE would run, in which order, how long it would take and what it could show. Nothing is started."""
    made = _plan(file, quiet=as_json)
    if as_json:
        click.echo(json.dumps({**asdict(made), "seconds": made.seconds}, indent=1))
        return
    from howdah.cli.experiment_tables import print_plan

    print_plan(made)


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="The directory to make. [in ~/.howdah]")
def run(file: Path, out: Path | None) -> None:
    """Run the experiment of FILE until there are enough runs, each on a cluster of its own, and show what it found."""
    from howdah.store import ExperimentDirectory, experiments_root

    made = _plan(file, quiet=False)
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{file.stem}"
    _run(ExperimentDirectory.begin(file, out or experiments_root() / name), made)


@experiment.command()
@_DIRECTORY
def resume(directory: Path) -> None:
    """Go on with the experiment in DIRECTORY: what has ended is not run again, what was interrupted is."""
    from howdah.store import ExperimentDirectory

    found = ExperimentDirectory(directory)
    found.check_unchanged()
    _run(found, _plan(found.file, quiet=False))


@experiment.command()
@_DIRECTORY
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="The page: .html, .md or .json")
@json_option
def report(directory: Path, output: Path | None, as_json: bool) -> None:
    """Show what the experiment in DIRECTORY has found so far: every effect with its interval and verdict. The page is
    report.html in DIRECTORY."""
    from howdah.store import ExperimentDirectory

    found = ExperimentDirectory(directory)
    _show(found, _plan(found.file, quiet=as_json), output, as_json=as_json)


def _plan(file: Path, *, quiet: bool) -> ExperimentPlan:
    from howdah.cli.fetching import ensure_hadoop
    from howdah.cluster.request import ClusterRequest
    from howdah.engine.experiment import plan_experiment
    from howdah.spec.experiment import read_experiment
    from howdah.store import runs_root

    described = read_experiment(file)
    usual = ClusterRequest("experiment")
    hadoop = described.cluster.get("hadoop", usual.hadoop)
    return plan_experiment(
        described, ensure_hadoop(ClusterRequest("experiment", hadoop=hadoop), quiet=quiet), runs_root()
    )


def _run(directory: ExperimentDirectory, plan: ExperimentPlan) -> None:
    from howdah.cli.progress import make_display
    from howdah.engine.trials import run_experiment

    click.echo(f"Experiment: {directory.path}", err=True)
    try:
        with make_display(quiet=False) as display:
            for _ in run_experiment(plan, directory, typed_command(), display):
                pass
    except BaseException:
        click.echo(f"To go on: howdah experiment resume {directory.path}", err=True)
        raise
    _show(directory, plan, None, as_json=False)


def _show(directory: ExperimentDirectory, plan: ExperimentPlan, output: Path | None, *, as_json: bool) -> None:
    from howdah.cli.experiment_tables import print_findings
    from howdah.cli.reporting import write_page
    from howdah.engine.findings import find
    from howdah.report import Source, build_experiment, render_json

    findings = find(plan, directory)
    resume = f"howdah experiment resume {directory.path}"
    page = build_experiment(findings, Source(directory.file.read_text("utf-8"), str(directory.path), resume))
    if output is not None or not as_json:
        target = write_page(page, output or directory.path / "report.html")
    if as_json:
        click.echo(render_json(page), nl=False)
        return
    print_findings(findings)
    click.echo(f"\nReport:     {target}\nExperiment: {directory.path}")
