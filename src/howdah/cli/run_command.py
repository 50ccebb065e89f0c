"""howdah run"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from howdah.cli.options import conf_option, json_option, making_options, parse_conf, typed_command
from howdah.cli.request import cluster_request
from howdah.errors import HowdahError, Untrusted, UsageError, WorkloadFailed

_MAKES_A_CLUSTER = ("nodes", "work_dir", "without")


@click.command()
@click.argument("workload")
@click.option("--size", default=None, help="Data size (1G = 10^9 bytes) or a size's name (smoke, small, …).")
@click.option("--repeat", default=1, show_default=True, metavar="N", help="How many runs.", type=click.IntRange(1))
@click.option("--maps", type=click.IntRange(1), default=None, help="Map tasks of the generator.")
@click.option("--reduces", type=click.IntRange(1), default=None, help="Reduce tasks.")
@click.option("--cluster", default=None, metavar="NAME|conf:DIR", help="A cluster that is up, instead of one for this.")
@click.option("--out", type=click.Path(), default=None, help="Where the run directories go. [~/.howdah/runs]")
@click.option("--probe", "probes", multiple=True, metavar="NAME", help="Only these probes.")
@click.option("--no-probes", is_flag=True, help="No probes: the report will lack what the machine did.")
@click.option("--no-calibration", is_flag=True, help="Do not measure the machine's bounds first.")
@click.option(
    "--data",
    type=click.Choice(["fresh", "reuse"]),
    default="fresh",
    show_default=True,
    help="Generate the data for each run, or keep it in the storage and use what an earlier run has kept.",
)
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Remembered with the run; may be repeated.")
@making_options
@conf_option
@json_option
def run(workload: str, size: str | None, cluster: str | None, as_json: bool, **options: Any) -> None:
    """Run WORKLOAD, verify its result, measure it, and write a report.

    Without --cluster, a cluster is started for it and ended after it.

    \b
    Examples:  howdah run terasort --size 1G --nodes 3
               howdah run terasort --size 2G --repeat 8 --cluster default
    """
    from howdah.cli.fetching import ensure_hadoop
    from howdah.cli.progress import make_display
    from howdah.engine.measure import Measurement, measure
    from howdah.engine.preflight import check_keys
    from howdah.store import runs_root
    from howdah.workload import Asked
    from howdah.workload.registry import find_workload

    chosen = find_workload(workload)
    conf = parse_conf(options["conf"])
    size_bytes = _size(size, chosen.sizes)
    _refuse_contradictions(cluster, options)
    request = cluster_request("default", {}, options)
    if cluster is None or cluster.startswith("conf:"):
        check_keys(conf, ensure_hadoop(request, quiet=as_json))
    measurement = Measurement(
        workload=chosen,
        asked=Asked(size_bytes=size_bytes, maps=options["maps"], reduces=options["reduces"], conf=conf),
        repeat=options["repeat"],
        root=Path(options["out"]).absolute() if options["out"] else runs_root(),
        command=typed_command(),
        made=request,
        cluster=cluster,
        probes=() if options["no_probes"] else options["probes"] or None,
        calibrated=not options["no_calibration"],
        labels=parse_conf(options["labels"]),
        reuse=options["data"] == "reuse",
    )
    with make_display(quiet=as_json) as display:
        measured = list(measure(measurement, display))
    _finish([(one.path, one.run) for one in measured], as_json)


def _finish(runs: list[tuple[Path, Any]], as_json: bool) -> None:
    from howdah.cli.reporting import write_report
    from howdah.store import read_run
    from howdah.store.codec import encode_run, encode_sample

    stored = [read_run(path) for path, _ in runs]
    page = write_report(stored, runs[-1][0] / "report.html")
    if as_json:
        records = [
            {"path": str(one.path), "run": encode_run(one.run), "samples": [encode_sample(s) for s in one.samples]}
            for one in stored
        ]
        click.echo(json.dumps({"runs": records, "report": str(page)}, indent=1))
    else:
        from howdah.cli.reporting import print_result

        if valid := [one for one in stored if one.run.outcome.kind == "valid"]:
            print_result(valid)
        click.echo(f"\nReport: {page}\nRun:    {runs[-1][0]}")
        click.echo(f"Next:   howdah show {runs[-1][1].id}")
    error = _verdict(*runs[-1])
    if error is not None:
        raise error


def _verdict(path: Path, run: Any) -> HowdahError | None:
    reason = run.outcome.reason
    if run.outcome.kind == "invalid":
        return Untrusted(f"the run is invalid and has no samples: {reason}")
    if run.outcome.kind == "failed":
        return WorkloadFailed(reason, hint=f"Logs of clients, daemons and containers: {path / 'logs'}")
    return None


def _size(text: str | None, named: Any) -> int | None:
    from howdah.model.quantity import parse_bytes

    if text is None:
        return None
    if text in named:
        return int(named[text])
    return parse_bytes(text)


def _refuse_contradictions(cluster: str | None, options: dict[str, Any]) -> None:
    if options["no_probes"] and options["probes"]:
        raise UsageError("--no-probes and --probe exclude each other")
    if cluster is None:
        return
    for name in _MAKES_A_CLUSTER:
        if options[name]:
            raise UsageError(
                f"--{name.replace('_', '-')} is for a cluster that is made for the run; {cluster!r} is already up"
            )
    if options["defaults"] == "stock":
        raise UsageError("--defaults is for a cluster that is made for the run", hint="Give it to `howdah up`.")
