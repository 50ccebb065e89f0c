"""howdah status"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

import click

from howdah.cli.columns import say
from howdah.cli.options import json_option
from howdah.cluster.state import Manifest
from howdah.errors import ClusterProblem
from howdah.hadoop.configuration.plan import NONE
from howdah.model.quantity import format_bytes


@click.command()
@click.option("--name", metavar="NAME", default=None, help="Only this cluster.")
@click.option("--daemons", is_flag=True, help="Also each daemon: its host, process, memory and log.")
@json_option
def status(name: str | None, daemons: bool, as_json: bool) -> None:
    """Show clusters on this machine: state, daemons, web pages and open ports.

    \b
    Examples:
      howdah status
      howdah status --daemons
      howdah status --json
    """
    from howdah.cluster.state import known_clusters
    from howdah.cluster.supervision.client import find_cluster
    from howdah.model.redaction import redacted

    if name is not None:
        manifests = [find_cluster(name)]
    else:
        read = (one.read() for one in known_clusters() if one.elsewhere() is not None or one.is_held())
        manifests = [manifest for manifest in read if manifest is not None]
    if as_json:
        click.echo(json.dumps([redacted(asdict(manifest)) for manifest in manifests], indent=1))
        return
    if not manifests:
        click.echo("No cluster is up. `howdah up` starts one.")
    for manifest in manifests:
        if manifest.machine == platform.node():
            show_cluster(manifest, ports=True)
            if daemons:
                _show_daemons(manifest)
        else:
            there = f"`howdah status --name {manifest.name}` asks there"
            click.echo(f"{manifest.name}  {manifest.state} on {manifest.machine}: {there}")


def show_cluster(manifest: Manifest, *, ports: bool) -> None:
    """Print one cluster. With `ports`, also print the ports that listen on every address."""
    nodes = len(manifest.plan.nodes)
    click.secho(f"{manifest.name}", bold=True, nl=False)
    click.echo(
        f"  {manifest.state}, {nodes} node{'s' if nodes > 1 else ''}, Hadoop {manifest.hadoop['version']} on JDK "
        f"{manifest.jdk['version']}, {manifest.defaults['kind']} defaults"
    )
    alive = len(manifest.daemons) - len(manifest.lost)
    secured = manifest.plan.security != NONE
    scheme = "https" if secured else "http"
    click.echo(f"  daemons          {alive} of {len(manifest.daemons)} alive")
    _show_hosts(manifest)
    ends = manifest.plan.endpoints
    storages = manifest.plan.storages
    if storages.hdfs:
        click.echo(f"  NameNode         {scheme}://{ends['namenode_web']}/")
    click.echo(f"  ResourceManager  {scheme}://{ends['resourcemanager_web']}/")
    click.echo(f"  JobHistory       {scheme}://{ends['historyserver_web']}/")
    if storages.hdfs:
        click.echo(f"  file system      hdfs://{ends['namenode_rpc']}/")
    if storages.directory is not None:
        click.echo(f"  file system      posixfs:/// is {storages.directory}")
    sizing = manifest.sizing
    click.echo(
        f"  each node        {sizing['slots']} task{'' if sizing['slots'] == 1 else 's'} of {sizing['task_mib']} MiB, "
        f"{sizing['node_mib']} MiB in all"
    )
    for node, slots in sizing.get("larger", {}).items():
        click.echo(f"  {node:16} {slots} tasks, as its host is larger")
    if "job" in manifest.allocation:
        click.echo(f"  {_job_of(manifest)}")
    for lost in manifest.lost:
        say(f"  lost: {lost.sentence}", fg="red")
    for what, kind in manifest.disturbed.items():
        say(f"  disturbed: {what}, {kind}", fg="yellow")
    if ports:
        from howdah.cluster.exposure import exposed

        say(f"  {exposed(manifest.plan)}", hang=2)
    reached = [place.address for place in manifest.plan.places if not place.address.startswith("127.")]
    if secured:
        click.echo(f"  Secured by Kerberos ({manifest.plan.security}): only you can use it.")
        click.echo("  `howdah open` shows its pages.")
    if manifest.allocation["kind"] == "sim":
        say(f"  {simulated(manifest.allocation)}")
    elif reached and not secured:
        click.secho(
            f"  Not secured: whoever reaches {', '.join(dict.fromkeys(reached))} can read this cluster's data and run\n"
            "  programs as you on its hosts. Use it in a network that you trust.",
            fg="yellow",
        )
    if not secured:
        _warn_of_others()


def _show_daemons(manifest: Manifest) -> None:
    """Print a line for each daemon."""
    plan = manifest.plan
    logs = {(role.name, place.name): plan.log_of(role, place) for role, place in plan.daemons()}
    lost = {one.pid for one in manifest.lost}
    resident = _resident(manifest.name)
    width = max(len(f"{one.role}-{one.place}") for one in manifest.daemons)
    for one in manifest.daemons:
        name = f"{one.role}-{one.place}"
        state = "lost" if one.pid in lost else "alive"
        memory = f"{format_bytes(resident[name])}  " if name in resident else ""
        log = logs.get((one.role, one.place), "")
        say(f"  {name:{width}}  {one.host}  pid {one.pid}  {state}  {memory}{log}", hang=4)


def _resident(name: str) -> Mapping[str, int]:
    """Return the bytes that each daemon has in memory, by role and place; none if the supervisor is gone meanwhile."""
    from howdah.cluster.control import ControlClient
    from howdah.cluster.state import cluster_directory

    with suppress(ClusterProblem), closing(ControlClient(cluster_directory(name))) as supervisor:
        return supervisor.ask("memory")
    return {}


def _job_of(manifest: Manifest) -> str:
    """Return a line about the batch job that the hosts belong to."""
    from howdah.spec.jobs import format_time

    allocation = manifest.allocation
    ends = "" if manifest.ends is None else f": the hosts are taken away in {format_time(manifest.ends - time.time())}"
    if ends and manifest.reserved:
        ends += f", the last {format_time(manifest.reserved)} are for --stage-out"
    return f"job {allocation['job']:<13}of {allocation['kind']}{ends}"


def simulated(allocation: Mapping[str, Any]) -> str:
    """Return a line about the limits of simulated hosts."""
    if allocation["network"] is None:
        cards = "no limit"
    else:
        rate, payload = (f"{allocation[name] / 1e6:.4g} Mb/s" for name in ("network", "payload"))
        cards = f"{rate} (payload {payload})"
    own = [f"Network cards: {cards}"]
    if "disks" in allocation:
        rate = f" of {format_bytes(allocation['disk_rate'])}/s" if "disk_rate" in allocation else ""
        own.append(f"disks of each: {allocation['disks']}{rate}")
    if "cpus" in allocation:
        own.append(f"processors of each: {allocation['cpus']:g}")
    if "memory" in allocation:
        own.append(f"memory of each: {format_bytes(allocation['memory'])}")
    return f"The hosts are simulated on this machine, and only it reaches them. {'; '.join(own)}."


def _show_hosts(manifest: Manifest) -> None:
    """Print the daemons of each host, if there are several hosts."""
    plan = manifest.plan
    if len(plan.quarters) == 1:
        return
    by_host = {host: [place for place in plan.places if place.host == host] for host in plan.quarters}
    for host, places in by_host.items():
        there = ", ".join("masters" if place == plan.masters else place.name for place in places)
        own = plan.quarters[host].calls_itself
        named = "" if own in (None, host) else f"; calls itself {own}"
        click.echo(f"  {host:16} {there}; {', '.join(dict.fromkeys(place.address for place in places))}{named}")

    if manifest.spare:
        fixed = plan.job or plan.persist or plan.shuffle
        how = "" if fixed else f": `howdah grow HOST --name {plan.name}` takes a host in"
        say(f"  not used         {', '.join(manifest.spare)}{how}", hang=17)


def _warn_of_others() -> None:
    from howdah.host.users import other_users

    if others := other_users():
        click.secho(
            f"  Processes of other users: {', '.join(others)}.\n"
            "  Without Kerberos they can read this cluster's data and run jobs as you.",
            fg="yellow",
        )
