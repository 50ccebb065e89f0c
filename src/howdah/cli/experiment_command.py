"""howdah experiment"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howdah.cli.options import json_option, typed_command
from howdah.errors import UsageError

if TYPE_CHECKING:
    from howdah.engine.experiment import ExperimentPlan
    from howdah.store import ExperimentDirectory

_CLUSTER = click.option(
    "--cluster", metavar="synthetic:FILE", default=None, help="A synthetic cluster, instead of one for each run."
)
_DIRECTORY = click.argument("directory", type=click.Path(path_type=Path))


@click.group()
def experiment() -> None:
    """Answer a question with an experiment, which a file describes (docs/reference/experiment.md)."""


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@_CLUSTER
@json_option
def plan(file: Path, cluster: str | None, as_json: bool) -> None:
    """Show what FILE would run, in which order, how long it would take and what it could show. Nothing is started."""
    made = _plan(file, _synthetic(cluster), quiet=as_json)
    if as_json:
        click.echo(json.dumps({**asdict(made), "seconds": made.seconds}, indent=1))
        return
    from howdah.cli.experiment_tables import print_plan

    print_plan(made)


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="The directory to make. [in ~/.howdah]")
@_CLUSTER
def run(file: Path, out: Path | None, cluster: str | None) -> None:
    """Run the experiment of FILE until there are enough runs, each on a cluster of its own, and show what it found."""
    from howdah.store import ExperimentDirectory, experiments_root

    synthetic = _synthetic(cluster)
    made = _plan(file, synthetic, quiet=False)
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{file.stem}"
    _run(ExperimentDirectory.begin(file, out or experiments_root() / name, synthetic), made)


@experiment.command()
@_DIRECTORY
def resume(directory: Path) -> None:
    """Go on with the experiment in DIRECTORY: what has ended is not run again, what was interrupted is."""
    from howdah.store import ExperimentDirectory

    found = ExperimentDirectory(directory)
    found.check_unchanged()
    _run(found, _planned(found, quiet=False))


@experiment.command()
@_DIRECTORY
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="The page: .html, .md or .json")
@json_option
def report(directory: Path, output: Path | None, as_json: bool) -> None:
    """Show what the experiment in DIRECTORY has found so far: every effect with its interval and verdict. The page is
    report.html in DIRECTORY."""
    from howdah.store import ExperimentDirectory

    found = ExperimentDirectory(directory)
    _show(found, _planned(found, quiet=as_json), output, as_json=as_json)


@experiment.command()
@_DIRECTORY
@json_option
def status(directory: Path, as_json: bool) -> None:
    """Show how far the experiment in DIRECTORY is, whether it runs now, and how much longer it takes at least."""
    from howdah.cli.experiment_tables import print_status
    from howdah.engine.confirmation import confirming
    from howdah.engine.findings import find
    from howdah.engine.trials import Status
    from howdah.store import ExperimentDirectory

    found = ExperimentDirectory(directory)
    parts = [found] if found.confirmation is None else [found, found.confirmation]
    seen = [Status.of(_planned(part, quiet=True), part) for part in parts]
    runs = found.is_held()
    waits = len(parts) == 1 and seen[0].next is None and confirming(find(seen[0].plan, found)) is not None
    if as_json:
        click.echo(
            json.dumps(
                {"runs_now": runs, "parts": [one.facts() for one in seen], "confirmation_is_next": waits}, indent=1
            )
        )
        return
    print_status(seen, waits=waits, runs_now=runs, resume=f"howdah experiment resume {found.path}")


def _synthetic(cluster: str | None) -> Path | None:
    """The file of the synthetic cluster that --cluster names."""
    if cluster is None:
        return None
    kind, _, name = cluster.partition(":")
    if kind != "synthetic" or not name:
        raise UsageError(
            f"an experiment cannot run on the cluster {cluster!r}",
            hint="It makes a cluster for every run, or takes --cluster synthetic:FILE.",
        )
    return Path(name)


def _planned(directory: ExperimentDirectory, *, quiet: bool) -> ExperimentPlan:
    return _plan(directory.file, directory.synthetic, quiet=quiet)


def _plan(file: Path, synthetic: Path | None, *, quiet: bool) -> ExperimentPlan:
    from howdah.cli.fetching import ensure_hadoop
    from howdah.cluster.request import ClusterRequest
    from howdah.engine.experiment import SyntheticCluster, plan_experiment
    from howdah.spec.experiment import read_experiment
    from howdah.spec.truth import read_truth
    from howdah.store import runs_root

    described = read_experiment(file)
    if synthetic is not None:
        return plan_experiment(described, SyntheticCluster(synthetic, read_truth(synthetic)), runs_root())
    usual = ClusterRequest("experiment")
    hadoop = described.cluster.get("hadoop", usual.hadoop)
    return plan_experiment(
        described, ensure_hadoop(ClusterRequest("experiment", hadoop=hadoop), quiet=quiet), runs_root()
    )


def _run(directory: ExperimentDirectory, plan: ExperimentPlan) -> None:
    """Runs what is missing of the experiment, and then of the one that confirms what it found."""
    from howdah.engine.confirmation import confirming
    from howdah.engine.findings import find
    from howdah.report.experiment import headline
    from howdah.spec.experiment import write_experiment

    click.echo(f"Experiment: {directory.path}", err=True)
    try:
        _work(directory, plan)
        found = find(plan, directory)
        again = confirming(found)
        if again is not None:
            inner = directory.confirmation or directory.begin_confirmation(write_experiment(again))
            click.echo(f"{headline(found)}\nNow fresh runs of the best settings against the baseline.", err=True)
            _work(inner, _planned(inner, quiet=False))
    except BaseException:
        click.echo(f"To go on: howdah experiment resume {directory.path}", err=True)
        raise
    _show(directory, plan, None, as_json=False)


def _work(directory: ExperimentDirectory, plan: ExperimentPlan) -> None:
    from howdah.cli.progress import make_display
    from howdah.engine.trials import run_experiment

    with make_display(quiet=False) as display:
        for _ in run_experiment(plan, directory, typed_command(), display):
            pass


def _show(directory: ExperimentDirectory, plan: ExperimentPlan, output: Path | None, *, as_json: bool) -> None:
    from howdah.cli.experiment_tables import print_findings
    from howdah.cli.reporting import write_page
    from howdah.engine.findings import find
    from howdah.report import Source, build_experiment, render_json

    findings, inner = find(plan, directory), directory.confirmation
    confirmed = None if inner is None else find(_planned(inner, quiet=as_json), inner)
    resume = f"howdah experiment resume {directory.path}"
    source = Source(directory.file.read_text("utf-8"), str(directory.path), resume)
    page = build_experiment(findings, source, confirmed)
    if output is not None or not as_json:
        target = write_page(page, output or directory.path / "report.html")
    if as_json:
        click.echo(render_json(page), nl=False)
        return
    print_findings(findings, confirmed)
    click.echo(f"\nReport:     {target}\nExperiment: {directory.path}")
