"""howdah ab"""

from __future__ import annotations

import time
from pathlib import Path

import click

from howdah.cli.experiments.experiment_command import begin_and_run, synthetic_file
from howdah.cli.options import parse_conf, warmup_option


@click.command()
@click.argument("workload")
@click.option("--a", "first", multiple=True, metavar="KEY=VALUE", help="A property or factor of A; may be repeated.")
@click.option("--b", "second", multiple=True, metavar="KEY=VALUE", help="A property or factor of B; may be repeated.")
@click.option("--name-a", metavar="NAME", default=None, help="Name of A. [default: its settings]")
@click.option("--name-b", metavar="NAME", default=None, help="Name of B. [default: its settings]")
@click.option("--size", metavar="SIZE", default=None, help="As `howdah run WORKLOAD --size` has it.")
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
@click.option("--half-width", metavar="PERCENT", default="5%", show_default=True, help="How exact the effect is to be.")
@click.option("--min", "least", metavar="N", type=click.IntRange(4), default=8, show_default=True, help="Runs a side.")
@click.option("--max", "most", metavar="N", type=click.IntRange(4), default=30, show_default=True, help="Runs a side.")
@click.option("--budget", metavar="90m|2h", default=None, help="Time for the runs, without starting clusters.")
@warmup_option
@click.option("--meters", metavar="KIND,…|FILE", default=None, help="Meters of power, as `howdah run` has them.")
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=1, show_default=True, help="The seed of the order."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), default=None, help="To make. [default: in ~/.howdah]"
)
@click.option("--cluster", metavar="synthetic:FILE", default=None, help="A synthetic cluster, instead of real ones.")
def ab(
    workload: str,
    first: tuple[str, ...],
    second: tuple[str, ...],
    name_a: str | None,
    name_b: str | None,
    size: str | None,
    options: tuple[str, ...],
    nodes: int | None,
    on: str | None,
    half_width: str,
    least: int,
    most: int,
    budget: str | None,
    warmup: int,
    meters: str | None,
    seed: int,
    out: Path | None,
    cluster: str | None,
) -> None:
    """Compare two settings of WORKLOAD: is it faster with B than with A?

    A and B run in turn, each run on a cluster of its own, in an order that is drawn for each pair of runs. Runs go on
    until the half-width of the effect is as small as you asked for. A side without a setting has Howdah's defaults.

    The comparison is an experiment: `howdah experiment status`, `resume` and `report` take its directory.

    \b
    Examples:
      howdah ab terasort --size 1G --b mapreduce.map.output.compress=true
      howdah ab wordcount --size 1G --a accelerator=none --b accelerator=sort
    """
    from howdah.engine.experiment.ab import ab_experiment
    from howdah.model.experiment import StopRule
    from howdah.spec.experiment import parse_duration, parse_share, write_experiment
    from howdah.store import experiments_root

    experiment = ab_experiment(
        workload,
        {**parse_conf(options), **({} if size is None else {"size": size})},
        (parse_conf(first), parse_conf(second)),
        (name_a, name_b),
        {name: str(value) for name, value in (("nodes", nodes), ("on", on)) if value is not None},
        StopRule(parse_share(half_width), least, most, None if budget is None else parse_duration(budget)),
        seed,
        meters,
        warmup,
    )
    name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-ab-{workload}"
    begin_and_run(write_experiment(experiment), out or experiments_root() / name, synthetic_file(cluster))
