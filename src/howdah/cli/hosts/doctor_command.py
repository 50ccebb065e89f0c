"""howdah doctor"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from howdah.cli.columns import say
from howdah.cli.options import json_option, reach_options
from howdah.hadoop.distribution.lock import PRIMARY

if TYPE_CHECKING:
    from howdah.engine.doctor import DoctorFinding

_MARKS = {"ok": ("ok", "green"), "note": ("note", "cyan"), "warning": ("warn", "yellow"), "error": ("ERROR", "red")}


@click.command()
@click.option(
    "--on",
    metavar="KIND[:ARGUMENT]",
    default="local",
    show_default=True,
    help="The hosts you want, as `howdah up --on` has them.",
)
@click.option(
    "--nodes", metavar="N", type=click.IntRange(1), default=None, help="Nodes you want. [default: one for each host]"
)
@reach_options
@click.option(
    "--hadoop", metavar="VERSION", default=PRIMARY, show_default=True, help="Managed version you want to run."
)
@click.option(
    "--size", metavar="SIZE", default="1G", show_default=True, help="Data you want to sort, for the disk check."
)
@click.option("--work-dir", metavar="DIR", type=click.Path(), help="Directory for the data of the daemons.")
@click.option("--all", "everything", is_flag=True, help="Show what is fine too.")
@json_option
def doctor(
    on: str,
    nodes: int | None,
    silence: float,
    network: str | None,
    site: str | None,
    hadoop: str,
    size: str,
    work_dir: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Check this machine, or other hosts, for problems that make a run fail or a number doubtful.

    Each finding has its meaning and a fix.

    \b
    Examples:
      howdah doctor --nodes 3
      howdah doctor --on hosts:node1,node2
    """
    from howdah.cli.reporting import width
    from howdah.cluster.allocation import find_allocation
    from howdah.cluster.request import Links
    from howdah.engine.doctor import Request, check_hosts, failed, judgement, run_checks, to_json
    from howdah.errors import HostProblem
    from howdah.host.channel import this_host
    from howdah.model.quantity import parse_bytes
    from howdah.store import howdah_home

    # Input, output and what lies between map and reduce; see TeraSort.space_bytes.
    allocation = find_allocation(on, Links(silence, network, site))
    nodes = nodes or allocation.usual_nodes
    need = parse_bytes(size) * (min(3, nodes) + 3)
    with _looking(quiet=as_json):
        if on == "local":
            with this_host() as host:
                findings = run_checks(host, nodes=nodes, hadoop=hadoop, need=need, directory=work_dir)
        else:
            request = Request(work_dir or str(howdah_home()), nodes, hadoop, -(-need // allocation.usual_nodes))
            findings = check_hosts(allocation, request)
    if as_json:
        click.echo(json.dumps(to_json(findings), indent=1))
    else:
        show_findings([one for one in findings if one.level != "ok" or everything], min(width(), 110))
        counts = {level: sum(one.level == level for one in findings) for level in _MARKS}
        words = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
        click.echo(f"{len(findings)} checks: {words}.")
        click.secho(judgement(findings), bold=True)
    if failed(findings):
        raise HostProblem("a cluster would not come up here", hint="Fix what is marked ERROR above.")


def show_findings(findings: Iterable[DoctorFinding], columns: int) -> None:
    """Print findings; those that several hosts share are printed once."""
    found: dict[tuple[object, ...], list[DoctorFinding]] = {}
    for one in findings:
        found.setdefault((one.name, one.level, one.meaning, one.fix), []).append(one)
    for alike in found.values():
        _show(alike, columns)


def _show(alike: Sequence[DoctorFinding], columns: int) -> None:
    finding = alike[0]
    mark, colour = _MARKS[finding.level]
    hosts: dict[str, list[str]] = {}
    for one in alike:
        hosts.setdefault(one.finding, []).append(one.host or "")
    start = click.style(f"{mark:5}", fg=colour, bold=True)
    for text, where in hosts.items():
        there = f"[{', '.join(where)}] " if any(where) else ""
        say(f"{start} {there}{finding.name}: {text}", hang=6)
        start = " " * 5
    if finding.level != "ok":
        for line in textwrap.wrap(finding.meaning, columns - 6):
            click.echo(f"      {line}")
        if finding.fix:
            say(f"      {'look' if finding.looks else 'fix'}: {click.style(finding.fix, bold=True)}")


@contextmanager
def _looking(*, quiet: bool) -> Iterator[None]:
    """Show a line in a terminal during the checks. Measuring the disk takes some seconds."""
    from rich.console import Console
    from rich.live import Live

    from howdah.cli.progress import UnderWay

    console = Console(stderr=True, highlight=False)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield
        return
    with Live(UnderWay("looking at this machine"), console=console, refresh_per_second=4, transient=True):
        yield
