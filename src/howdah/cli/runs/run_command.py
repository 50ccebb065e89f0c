"""howdah run: a group, so that each workload has a help page with its own options."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from howdah.cli.options import GroupedCommand, conf_option, json_option, making_options, parse_conf, typed_command
from howdah.cli.request import cluster_request
from howdah.errors import HostProblem, HowdahError, Untrusted, UsageError, WorkloadFailed
from howdah.model.accelerator import ACCELERATORS
from howdah.model.quantity import format_amount, parse_amount, parse_bytes
from howdah.workload import Asked, Option, Workload
from howdah.workload.registry import WORKLOADS, check_installed, find_workload

if TYPE_CHECKING:
    from howdah.cluster.request import ClusterRequest
    from howdah.engine.experiment.factors import Conditions
    from howdah.engine.measurement.request import Measured
    from howdah.spec.meters import Meters

_ALL = "all"
_PROGRAM = """--run 'hadoop jar my.jar Main in out'"""
_MAKES_A_CLUSTER = ("nodes", "work_dir", "without")
_LOCAL = "local"
_COMMON = (
    click.option("--repeat", default=1, show_default=True, metavar="N", help="How many runs.", type=click.IntRange(1)),
    click.option(
        "--warmup",
        default=0,
        show_default=True,
        metavar="N",
        help="Warm-up runs, which do not count.",
        type=click.IntRange(0),
    ),
    click.option(
        "--cluster", metavar="NAME|conf:DIR|synthetic:FILE", help="Use this running cluster instead of starting one."
    ),
    click.option(
        "--keytab",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="Keytab for a conf:DIR cluster with Kerberos. [default: your ticket]",
    ),
    click.option("--principal", metavar="NAME@REALM", help="Principal in the keytab."),
    click.option("--out", metavar="DIR", type=click.Path(), help="Directory for the runs. [default: ~/.howdah/runs]"),
    click.option("--probe", "probes", multiple=True, metavar="NAME", help="Only these probes: system, power."),
    click.option(
        "--meters",
        metavar="KIND,…|FILE",
        help="Meters of power: rapl, hwmon, ipmi, slurm, or a file (docs/how-to/energy.md).",
    ),
    click.option("--no-probes", is_flag=True, help="No probes: the report will lack what the machine did."),
    click.option("--no-calibration", is_flag=True, help="Do not measure the machine's bounds first."),
    click.option("--no-report", is_flag=True, help="Make no report: `howdah report` makes it of any run later."),
    click.option(
        "--data",
        type=click.Choice(["fresh", "reuse"]),
        default="fresh",
        show_default=True,
        help="Generate the data for each run, or keep it in the storage and use what an earlier run has kept.",
    ),
    click.option(
        "--label", "labels", multiple=True, metavar="KEY=VALUE", help="Remembered with the run; may be repeated."
    ),
    click.option(
        "--factor",
        "factors",
        multiple=True,
        metavar="NAME=LEVEL",
        help="A factor by name, as experiments have them (docs/reference/factors.md); may be repeated.",
    ),
    click.option(
        "--accelerator",
        type=click.Choice(list(ACCELERATORS)),
        default=None,
        help="Plugins that serve the jobs instead of stock classes: short for --factor accelerator=LEVEL.",
    ),
    making_options,
    conf_option,
    json_option,
)


class _OfWorkload(GroupedCommand):
    """The command `howdah run WORKLOAD`."""

    groups: ClassVar = {
        "Workload": (),
        "Measurement": ("repeat", "warmup", "data", "meters", "probes", "no_probes", "no_calibration"),
        "Settings": ("conf", "factors", "accelerator"),
        "Cluster": ("cluster", "storage", "keytab", "principal"),
        "Cluster that is made for the run": (
            *("on", "nodes", "hadoop", "hadoop_home", "defaults", "without", "jvm_flag", "work_dir"),
            *("silence", "network", "site", "secure", "protection", "realm", "insecure", "offline"),
        ),
        "Output": ("out", "labels", "no_report", "as_json", "help"),
    }


class _Workloads(click.Group):
    """A group with one command per workload."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*sorted(WORKLOADS), _ALL]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if ctx.resilient_parsing and cmd_name not in self.list_commands(ctx):
            return None  # A shell that completes wants no message.
        return _command_of_all() if cmd_name == _ALL else _command(find_workload(cmd_name))


@click.command(cls=_Workloads)
def run() -> None:
    """Run a workload, verify its result, measure it, and write a report.

    Without --cluster, a cluster is started for the workload and shut down afterwards. `howdah run WORKLOAD --help`
    shows the options of a workload.

    \b
    Examples:
      howdah run terasort --size 1G --nodes 3
      howdah run terasort --size 2G --repeat 8 --cluster default
    """


def _command(workload: Workload) -> click.Command:
    """Return the command that runs one workload."""

    def call(**options: Any) -> None:
        _run([(workload, _asked(workload, options))], options)

    command: Any = call
    own = ((_size_option(workload),) if workload.sizes else ()) + workload.options
    if workload.profiles:
        own += (Option("profile", "A size by HiBench's name.", choices=tuple(workload.profiles)),)
    for decorate in reversed((*map(_click_option, own), *_COMMON)):
        command = decorate(command)
    sizes = ", ".join(f"{label} ({format_amount(size, workload.unit)})" for label, size in workload.sizes.items())
    words = f"{workload.title}: {workload.summary}."
    if sizes:
        words += f"\n\nNamed sizes: {sizes}."
    words += f"\n\n\b\nExample:\n  howdah run {workload.name} {'--size small --repeat 5' if sizes else _PROGRAM}"
    made: click.Command = click.command(workload.name, _OfWorkload, help=words, short_help=workload.summary)(command)
    return made


def _command_of_all() -> click.Command:
    """Return the command that runs every workload that has sizes."""

    def call(size: str, **options: Any) -> None:
        from howdah.cli.progress import say_left_out

        conf = parse_conf(options["conf"])
        chosen = []
        for name in sorted(name for name, one in WORKLOADS.items() if one.sizes):
            workload = find_workload(name)
            try:
                check_installed(workload)
            except (UsageError, HostProblem) as error:
                click.echo(say_left_out(name, error), err=True)
            else:
                chosen.append(workload)
        _run([(one, Asked(one.sizes[size], conf=conf)) for one in chosen], options, leave_out=True)

    words = (
        "Every workload but `command`, one after the other on one cluster, with one report. Those that cannot be run "
        "there are named and left out.\n\n\b\nExample:\n  howdah run all --size smoke"
    )
    sizes = click.Choice(["smoke", "small", "large"])
    command: Any = call
    for decorate in reversed((click.option("--size", type=sizes, default="smoke", show_default=True), *_COMMON)):
        command = decorate(command)
    made: click.Command = click.command(_ALL, _OfWorkload, help=words, short_help="runs every workload")(command)
    return made


def _size_option(workload: Workload) -> Option:
    what = "Bytes of data (1G = 10^9)" if workload.unit == "B" else f"How many {workload.unit} (1M = 10^6)"
    return Option("size", f"{what}, or the name of a size. [default: small]")


_METAVARS = {"count": "N", "number": "X", "positive": "X", "bytes": "BYTES"}


class _Number(click.FloatRange):
    """A range of finite numbers. click's own range also allows NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def _click_option(option: Option) -> Any:
    kinds: dict[str, Any] = {
        "count": click.IntRange(1),
        "number": _Number(0),
        "positive": _Number(0, min_open=True),
    }
    kind = click.Choice(option.choices) if option.choices else kinds.get(option.kind, click.STRING)
    metavar = None if option.choices else _METAVARS.get(option.kind, option.name.upper())
    return click.option(f"--{option.name}", type=kind, metavar=metavar, default=None, help=option.help)


def _run(workloads: list[tuple[Workload, Asked]], options: Mapping[str, Any], *, leave_out: bool = False) -> None:
    from howdah.cli.hosts.fetching import ensure_hadoop
    from howdah.cli.progress import make_display
    from howdah.cluster.live.existing import conf_directory, read_existing
    from howdah.engine.measurement.measure import measure
    from howdah.engine.measurement.preflight import check_keys
    from howdah.engine.measurement.request import Measurement
    from howdah.engine.run.execution import RunOptions
    from howdah.hadoop.configuration.site_warnings import site_warnings
    from howdah.store import runs_root

    cluster, as_json = options["cluster"], options["as_json"]
    _refuse_contradictions(cluster, options)
    existing = conf_directory(cluster)
    _log_in_with(options, existing)
    found = _conditions(options, cluster_request("default", {}, options))
    if existing is not None:
        for warning in site_warnings(existing, found.conf):
            click.secho(f"Warning: {warning}", err=True, fg="yellow")
        read_existing(existing)  # What will be refused is refused before Hadoop is fetched.
    if cluster is None or existing is not None:
        check_keys(found.conf, ensure_hadoop(found.made, quiet=as_json))
    measurement = Measurement(
        workloads=[(workload, replace(asked, conf=found.conf)) for workload, asked in workloads],
        conf=found.conf,
        made=found.made,
        options=RunOptions(
            root=Path(options["out"]).absolute() if options["out"] else runs_root(),
            command=typed_command(),
            probes=() if options["no_probes"] else options["probes"] or None,
            labels=parse_conf(options["labels"]),
            reuse=options["data"] == "reuse",
            cold=found.cold,
            fault=found.fault,
            meters=_meters(options),
        ),
        repeat=options["repeat"],
        warmup=options["warmup"],
        cluster=cluster,
        calibrated=not options["no_calibration"],
        storage=options["storage"] if cluster is not None else None,
        leave_out=leave_out,
    )
    from howdah.model.run import WARM_UP

    with make_display(quiet=as_json) as display:
        measured = list(measure(measurement, display))
    counted = [one for one in measured if WARM_UP not in one.run.labels]
    _finish(counted or measured, as_json=as_json, reported=not options["no_report"])


def _meters(options: Mapping[str, Any]) -> Meters:
    """Return the meters of `--meters`. Raises UsageError."""
    from howdah.spec.meters import Meters, meters_of

    if options["meters"] is None:
        return Meters()
    if options["no_probes"]:
        raise UsageError("--no-probes and --meters exclude each other")
    if options["probes"] and "power" not in options["probes"]:
        raise UsageError("--meters needs the probe `power`, which --probe leaves out")
    if (options["cluster"] or "").startswith("synthetic:"):
        raise UsageError("a synthetic cluster draws no power: --meters is for one that runs")
    return meters_of(options["meters"])


def _log_in_with(options: Mapping[str, Any], existing: Path | None) -> None:
    """Set Hadoop's variables, so that Hadoop's clients and Howdah find the named keytab. Raises UsageError."""
    keytab, principal = options["keytab"], options["principal"]
    if (keytab is None) != (principal is None):
        raise UsageError("--keytab and --principal go together")
    if keytab is None:
        return
    if existing is None:
        raise UsageError("--keytab is for --cluster conf:DIR", hint="A cluster of Howdah's has a keytab for you.")
    from howdah.hadoop.configuration.site_realm import check_keytab

    check_keytab(Path(keytab), principal)
    os.environ |= {"KRB5KEYTAB": str(Path(keytab).absolute()), "KRB5PRINCIPAL": principal}


def _conditions(options: Mapping[str, Any], made: ClusterRequest) -> Conditions:
    """Return the conditions that factors and --conf set for the cluster and its jobs. Raises UsageError."""
    from howdah.engine.experiment.factors import FACTORS, Conditions, check_factors, check_fault, conditions
    from howdah.host.channel import this_host

    factors, conf = _factors(options), parse_conf(options["conf"])
    if (options["cluster"] or "").startswith("synthetic:"):
        return Conditions(made, {**factors, **conf})
    found = conditions({**factors, **conf}, made)
    if options["cluster"] is None:
        check_fault(found)
    if factors:
        with this_host() as host:
            check_factors(factors, host)
        for name in factors:
            if options["cluster"] is not None and FACTORS[name].cost != "job":
                raise UsageError(f"--factor {name} is for a cluster that is made for the run")
    return found


def _factors(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the given factors by name, each once. Raises UsageError."""
    factors, accelerator = parse_conf(options["factors"]), options["accelerator"]
    if accelerator is None:
        return factors
    if "accelerator" in factors:
        raise UsageError(
            f"--accelerator {accelerator} and --factor accelerator={factors['accelerator']} exclude each other"
        )
    return {**factors, "accelerator": accelerator}


def _asked(workload: Workload, options: Mapping[str, Any]) -> Asked:
    """Return the options that belong to the workload. Raises UsageError."""
    size, profile = options.get("size"), options.get("profile")
    if size is not None:
        size = workload.sizes[size] if size in workload.sizes else parse_amount(size, workload.unit)
    own: dict[str, Any] = {}
    if profile is not None:
        if size is not None:
            raise UsageError("--profile and --size exclude each other")
        own = dict(workload.profiles[profile])
        size = own.pop("size")
    for option in workload.options:
        value = options[option.name.replace("-", "_")]
        if value is not None:
            own[option.name] = parse_bytes(value) if option.kind == "bytes" else value
    return Asked(size, own.pop("maps", None), own.pop("reduces", None), parse_conf(options["conf"]), own)


def _finish(runs: list[Measured], *, as_json: bool, reported: bool) -> None:
    from howdah.cli.reporting import write_report
    from howdah.store import read_run
    from howdah.store.codec import encode_run, encode_sample

    stored = [read_run(one.path) for one in runs]
    page = str(write_report(stored, runs[-1].path / "report.html")) if reported else None
    if as_json:
        records = [
            {"path": str(one.path), "run": encode_run(one.run), "samples": [encode_sample(s) for s in one.samples]}
            for one in stored
        ]
        click.echo(json.dumps({"runs": records, "report": page}, indent=1))
    else:
        from howdah.cli.reporting import print_result

        if valid := [one for one in stored if one.run.outcome.kind == "valid"]:
            print_result(valid)
        click.echo(f"\nReport: {page}" if page else "")
        click.echo(f"Run:    {runs[-1].path}")
        click.echo(f"Next:   howdah show {runs[-1].run.id}")
    errors = [(one.run.id, error) for one in runs if (error := _verdict(one)) is not None]
    for run_id, error in errors[1:]:
        click.echo(f"howdah: {run_id}: {error}", err=True)
    if errors:
        raise errors[0][1]


def _verdict(measured: Measured) -> HowdahError | None:
    """Return the error that a run results in, if any."""
    reason = measured.run.outcome.reason or ""
    if measured.refused is not None:
        return measured.refused
    if measured.run.outcome.kind == "invalid":
        return Untrusted(f"the run is invalid and has no samples: {reason}")
    if measured.run.outcome.kind == "failed":
        return WorkloadFailed(reason, hint=f"Logs of clients, daemons and containers: {measured.path / 'logs'}")
    return None


def _refuse_contradictions(cluster: str | None, options: Mapping[str, Any]) -> None:
    if options["no_probes"] and options["probes"]:
        raise UsageError("--no-probes and --probe exclude each other")
    if cluster is None or cluster.startswith("synthetic:"):
        return
    for name in _MAKES_A_CLUSTER:
        if options[name]:
            raise UsageError(
                f"--{name.replace('_', '-')} is for a cluster that is made for the run; {cluster!r} is already up"
            )
    if options["on"] != _LOCAL:
        raise UsageError(f"--on is for a cluster that is made for the run; {cluster!r} is already up")
    if options["defaults"] == "stock":
        raise UsageError("--defaults is for a cluster that is made for the run", hint="Give it to `howdah up`.")
