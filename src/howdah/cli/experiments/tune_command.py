"""howdah tune"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from howdah.cli.experiments.experiment_command import begin_and_run, synthetic_file
from howdah.cli.options import parse_conf, warmup_option


@click.command()
@click.argument("workload")
@click.option("--size", metavar="SIZE", default=None, help="Its size, as `howdah run WORKLOAD --size` has it.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Another option of the workload.")
@click.option(
    "--nodes",
    metavar="N",
    type=click.IntRange(1, 20),
    default=None,
    help="Nodes of every cluster. [default: one for each host]",
)
@click.option(
    "--on", metavar="KIND[:ARGUMENT]", default=None, help="The hosts, as `howdah up --on` has them. [default: local]"
)
@click.option(
    "--runs", metavar="N", type=click.IntRange(8), default=60, show_default=True, help="Runs of the search, at most."
)
@click.option(
    "--budget", default=None, metavar="90m|2h", help="Time for the runs of the search, without starting clusters."
)
@warmup_option
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=1, show_default=True, help="The seed of the order."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="The directory to make. [default: in ~/.howdah]"
)
@click.option("--cluster", metavar="synthetic:FILE", default=None, help="A synthetic cluster, instead of real ones.")
def tune(
    workload: str,
    size: str | None,
    options: tuple[str, ...],
    nodes: int | None,
    on: str | None,
    runs: int,
    budget: str | None,
    warmup: int,
    seed: int,
    out: Path | None,
    cluster: str | None,
) -> None:
    """Search for the settings that make WORKLOAD fastest on this machine, or on hosts.

    Every run is one as `howdah run` makes it. The search begins with the tuned defaults. In the end, fresh runs compare
    the best settings with the tuned and the stock defaults, and their *-site.xml files are written.

    The search is an experiment: `howdah experiment status`, `resume` and `report` take its directory.

    \b
    Example:
      howdah tune terasort --size 1G --budget 2h
    """
    from howdah.engine.experiment.tunables import simulated_tuning, tuning_experiment
    from howdah.model.experiment import StopRule
    from howdah.spec.experiment import parse_duration, write_experiment
    from howdah.spec.truth import read_truth
    from howdah.store import experiments_root

    given = {**parse_conf(options), **({} if size is None else {"size": size})}
    stop = StopRule(most=runs, budget_seconds=None if budget is None else parse_duration(budget))
    synthetic = synthetic_file(cluster)
    if synthetic is not None:
        experiment = simulated_tuning(workload, given, read_truth(synthetic), stop, seed)
    else:
        wanted = {name: str(value) for name, value in (("nodes", nodes), ("on", on)) if value is not None}
        experiment = tuning_experiment(workload, given, wanted, stop, seed)
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-tune-{workload}"
    experiment = replace(experiment, warmup=warmup)
    begin_and_run(write_experiment(experiment), out or experiments_root() / name, synthetic)
