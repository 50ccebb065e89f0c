"""howdah experiment"""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howdah.cli.columns import say
from howdah.cli.options import json_option, typed_command
from howdah.errors import UsageError
from howdah.model.run import Run

if TYPE_CHECKING:
    from howdah.cli.experiments.experiment_progress import ExperimentDisplay
    from howdah.engine.experiment.plan import ExperimentPlan
    from howdah.model.experiment import Experiment, Factor, Findings
    from howdah.store import ExperimentDirectory

_CLUSTER = click.option(
    "--cluster", metavar="synthetic:FILE", default=None, help="A synthetic cluster, instead of one for each run."
)
_DIRECTORY = click.argument("directory")


@click.group()
def experiment() -> None:
    """Answer a question with an experiment that a file describes (docs/reference/experiment.md)."""


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@_CLUSTER
@json_option
def plan(file: Path, cluster: str | None, as_json: bool) -> None:
    """Show the runs of FILE and their order, without starting anything.

    The plan also has the time that the runs would take, and the effects that they could show.

    \b
    Example:
      howdah experiment plan experiments/terasort.yaml
    """
    made = _plan_of(file, synthetic_file(cluster), quiet=as_json)
    if as_json:
        click.echo(json.dumps({**asdict(made), "seconds": made.seconds}, indent=1))
        return
    from howdah.cli.experiments.experiment_tables import print_plan

    print_plan(made)


@experiment.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="The directory to make. [default: in ~/.howdah]"
)
@_CLUSTER
def run(file: Path, out: Path | None, cluster: str | None) -> None:
    """Run the experiment of FILE, and show its findings.

    It ends when there are enough runs. Each run has a cluster of its own.

    \b
    Example:
      howdah experiment run experiments/terasort.yaml --out my-experiment
    """
    from howdah.store import ExperimentDirectory, experiments_root

    synthetic = synthetic_file(cluster)
    made = _plan_of(file, synthetic, quiet=False)
    _check_hosts(made, synthetic)
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{file.stem}"
    _run(ExperimentDirectory.begin(file, out or experiments_root() / name, synthetic), made)


@experiment.command()
@_DIRECTORY
def resume(directory: str) -> None:
    """Continue the experiment in DIRECTORY. Finished runs are not repeated, interrupted runs are.

    DIRECTORY is a path, a name that `howdah experiment list` has, the start of one, or 'latest'.

    \b
    Example:
      howdah experiment resume latest
    """
    found = _found(directory)
    found.check_unchanged()
    made = _plan_of(found.file, found.synthetic, quiet=False)
    _check_hosts(made, found.synthetic)
    _run(found, made)


@experiment.command()
@_DIRECTORY
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="The page: .html, .md or .json")
@json_option
def report(directory: str, output: Path | None, as_json: bool) -> None:
    """Show the findings so far of an experiment.

    Every effect has its interval and verdict. The page is report.html in DIRECTORY. DIRECTORY is a path, a name that
    `howdah experiment list` has, the start of one, or 'latest'.

    \b
    Example:
      howdah experiment report latest -o findings.html
    """
    found = _found(directory)
    _show(found, _planned(found), output, as_json=as_json)


@experiment.command()
@_DIRECTORY
@json_option
def status(directory: str, as_json: bool) -> None:
    """Show the progress of an experiment.

    It says whether the experiment runs now, and how much longer it takes. DIRECTORY is a path, a name that
    `howdah experiment list` has, the start of one, or 'latest'.

    \b
    Example:
      howdah experiment status latest
    """
    from howdah.cli.experiments.experiment_tables import print_status
    from howdah.engine.experiment.confirmation import confirming
    from howdah.engine.experiment.findings import find
    from howdah.engine.experiment.trials import Status

    found = _found(directory)
    parts = [found] if found.confirmation is None else [found, found.confirmation]
    seen = [Status.of(_planned(part), part) for part in parts]
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


@experiment.command("list")
@json_option
def list_experiments(as_json: bool) -> None:
    """List the experiments in ~/.howdah/experiments, the oldest first.

    \b
    Example:
      howdah experiment list
    """
    from howdah.cli.experiments.experiment_tables import print_experiments
    from howdah.store import ExperimentDirectory, experiments_root

    root = experiments_root()
    rows = [_facts_of(one) for one in ExperimentDirectory.every(root)]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    elif rows:
        print_experiments(rows)
    else:
        say(f"No experiments in {root}. `howdah experiment run FILE`, `howdah ab` and `howdah tune` make one.")


def _facts_of(directory: ExperimentDirectory) -> dict[str, object]:
    """Return one row of the list. An experiment that cannot be read has the reason instead of its status."""
    from howdah.engine.experiment.trials import Status
    from howdah.errors import HowdahError

    row: dict[str, object] = {"name": directory.path.name, "path": str(directory.path)}
    try:
        status = Status.of(_planned(directory), directory)
    except HowdahError as error:
        return {**row, "problem": error.message}
    return {**row, "runs_now": directory.is_held(), "simulated": directory.synthetic is not None, **status.facts()}


def _found(name: str) -> ExperimentDirectory:
    from howdah.store import ExperimentDirectory, experiments_root

    return ExperimentDirectory.find(name, experiments_root())


def synthetic_file(cluster: str | None) -> Path | None:
    """Return the file of the synthetic cluster that --cluster names."""
    if cluster is None:
        return None
    kind, _, name = cluster.partition(":")
    if kind != "synthetic" or not name:
        raise UsageError(
            f"an experiment cannot run on the cluster {cluster!r}",
            hint="It makes a cluster for every run, or takes --cluster synthetic:FILE.",
        )
    return Path(name)


def begin_and_run(content: str, path: Path, synthetic: Path | None) -> None:
    """Make the directory `path` with a file of `content`, run the experiment and show its findings.

    Mistakes in `content` are reported before the directory is made.
    """
    from howdah.spec.experiment import parse_experiment
    from howdah.store import ExperimentDirectory

    plan = _plan(parse_experiment(content), synthetic, quiet=False)
    _check_hosts(plan, synthetic)
    _run(ExperimentDirectory.begin_with(content, path, synthetic), plan)


def _planned(directory: ExperimentDirectory) -> ExperimentPlan:
    """Return the plan of an existing experiment, to show it. This needs no Hadoop, and nothing of this host."""
    from howdah.engine.experiment.plan import plan_experiment
    from howdah.spec.experiment import read_experiment
    from howdah.store import known_runs

    if directory.synthetic is not None:
        return _plan_of(directory.file, directory.synthetic, quiet=True)
    return plan_experiment(read_experiment(directory.file), None, *known_runs())


def _plan_of(file: Path, synthetic: Path | None, *, quiet: bool) -> ExperimentPlan:
    from howdah.spec.experiment import read_experiment

    return _plan(read_experiment(file), synthetic, quiet=quiet)


def _plan(described: Experiment, synthetic: Path | None, *, quiet: bool) -> ExperimentPlan:
    from howdah.cli.hosts.fetching import ensure_hadoop
    from howdah.cluster.request import ClusterRequest
    from howdah.engine.experiment.factors import check_factors
    from howdah.engine.experiment.plan import SyntheticCluster, depends_on_host, plan_experiment
    from howdah.host.channel import this_host
    from howdah.spec.experiment import located
    from howdah.spec.truth import read_truth
    from howdah.store import known_runs
    from howdah.workload.registry import find_workload

    with located(described, "workload"):
        find_workload(described.workload)  # Before Hadoop is fetched.
    if synthetic is not None:
        return plan_experiment(described, SyntheticCluster(synthetic, read_truth(synthetic)), *known_runs())
    usual = ClusterRequest("experiment").hadoop
    levels = [one.levels for one in described.factors if one.name == "hadoop"]
    versions = levels[0] if levels else (described.cluster.get("hadoop", usual),)
    found = [ensure_hadoop(ClusterRequest("experiment", hadoop=version), quiet=quiet) for version in versions]
    plan = plan_experiment(described, found[0], *known_runs())
    if asked := depends_on_host(described):
        with this_host() as host:
            for name, level in asked:
                with located(described, name):
                    check_factors({name: level}, host)
    return plan


def _check_hosts(plan: ExperimentPlan, synthetic: Path | None) -> None:
    """Refuse simulated hosts that the kernel of this machine cannot make, before the first run. Raises HostProblem."""
    from howdah.cluster.simulations import try_simulation
    from howdah.engine.experiment.plan import simulations_of

    for text in simulations_of(plan) if synthetic is None else ():
        try_simulation(text)


def _run(directory: ExperimentDirectory, plan: ExperimentPlan) -> None:
    """Run the missing runs of the experiment, then the experiment that confirms its findings."""
    from howdah.engine.experiment.confirmation import confirming
    from howdah.engine.experiment.findings import find
    from howdah.report.experiment.answer import headline
    from howdah.spec.experiment import write_experiment

    say(f"Experiment: {directory.path}", err=True)
    try:
        _work(directory, plan)
        found = find(plan, directory)
        again = confirming(found)
        if again is not None:
            inner = directory.confirmation or directory.begin_confirmation(write_experiment(again))
            say(f"{headline(found)}\nNow fresh runs, to see whether that holds.", err=True)
            _work(inner, _plan_of(inner.file, inner.synthetic, quiet=False))
    except BaseException:
        say(f"To go on: howdah experiment resume {directory.path}", err=True)
        raise
    _show(directory, plan, None, as_json=False)


def _work(directory: ExperimentDirectory, plan: ExperimentPlan) -> None:
    from howdah.cli.experiments.experiment_progress import experiment_display
    from howdah.engine.experiment.by_hand import ByHand
    from howdah.engine.experiment.results import finished
    from howdah.engine.experiment.trials import run_experiment
    from howdah.host.channel import this_host

    by_hands = directory.synthetic is None and any(factor.external for factor in plan.experiment.factors)
    with (
        this_host() if by_hands else nullcontext() as host,
        experiment_display(plan, finished(plan, directory)) as display,
    ):
        resume = f"howdah experiment resume {directory.path}"
        by_hand = None if host is None else ByHand(host, _AtTheTerminal(display), resume)
        for measured in run_experiment(plan, directory, typed_command(), display, by_hand):
            display.ended(measured)


def _show(directory: ExperimentDirectory, plan: ExperimentPlan, output: Path | None, *, as_json: bool) -> None:
    from howdah.cli.experiments.experiment_tables import print_findings
    from howdah.cli.reporting import write_page
    from howdah.engine.experiment.findings import find
    from howdah.report import Source, build_experiment, render_json

    findings, inner = find(plan, directory), directory.confirmation
    confirmed = None if inner is None else find(_planned(inner), inner)
    resume = f"howdah experiment resume {directory.path}"
    source = Source(directory.file.read_text("utf-8"), str(directory.path), resume, directory.runs)
    page = build_experiment(findings, source, confirmed)
    if output is not None or not as_json:
        target = write_page(page, output or directory.path / "report.html", force=output is None)
    if as_json:
        click.echo(render_json(page), nl=False)
        return
    print_findings(findings, confirmed)
    _write_sites(directory, findings, confirmed)
    say(f"\nReport:     {target}\nExperiment: {directory.path}")


def _write_sites(directory: ExperimentDirectory, findings: Findings, confirmed: Findings | None) -> None:
    """Write the configuration files of the best settings, if real clusters had them, and if a search found them or they
    change a property of Hadoop.

    Settings that fresh runs do not confirm are not written.
    """
    from howdah.engine.experiment.takeaway import site_files
    from howdah.hadoop.distribution.jars import place_of
    from howdah.model.accelerator import ACCELERATOR_JAR, NONE
    from howdah.report.experiment.answer import is_confirmed
    from howdah.store import list_runs

    base = findings.arms[0]
    properties = [name for name, level in findings.candidate.items() if "." in name and base.get(name) != level]
    if findings.simulated or not (properties or findings.experiment.design == "search"):
        return
    valid = [run for _, run in list_runs(directory.runs) if isinstance(run, Run) and run.outcome.kind == "valid"]
    if not valid:
        return
    place = directory.path / "conf"
    fresh = confirmed if confirmed is not None and confirmed.ended else None
    if fresh is not None and not is_confirmed(fresh):
        for file in place.glob("*-site.xml"):
            file.unlink()
        say("\nFresh runs do not confirm what was found: there are no settings to take away.")
        return
    place.mkdir(exist_ok=True)
    for name, content in site_files(findings, valid[-1]).items():
        (place / name).write_text(content, encoding="utf-8")
    say(f"\nSettings to take away{' (not confirmed yet)' if fresh is None else ''}: {place}/*-site.xml")
    if {**findings.experiment.baseline, **findings.candidate}.get("accelerator", NONE) != NONE:
        say(f"Their jobs need {place_of(ACCELERATOR_JAR)} on the class path (mapreduce.application.classpath).")


class _AtTheTerminal:
    """The person at the terminal; see `howdah.engine.experiment.by_hand.Person`."""

    def __init__(self, display: ExperimentDisplay) -> None:
        self._display = display

    def asked_to_change(self, factor: Factor, level: str, found: str | None, *, anew: bool) -> bool:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        now = "" if found is None else f" (it is {found})"
        with self._display.paused():
            say(f"\nThe next run needs {factor.name} {level}{now}.", err=True, bold=True)
            if anew:
                say("Change it, and change it back: every run has to have a change of its own.", err=True)
            if factor.change is not None:
                click.echo(factor.change, err=True)
            click.prompt("Press Enter when it is so", default="", show_default=False, err=True)
        return True
