"""howdah jobs"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from howdah.cli.options import json_option

if TYPE_CHECKING:
    from howdah.host.batch import BatchJob


@click.command()
@click.argument("kind", metavar="[slurm|pbs]", type=click.Choice(["slurm", "pbs"]), required=False)
@click.option("--cancel", metavar="JOB", default=None, help="Cancel this job, which ends its cluster.")
@json_option
def jobs(kind: str | None, cancel: str | None, as_json: bool) -> None:
    """List the waiting and running batch jobs that Howdah has submitted, or cancel one.

    \b
    Examples:
      howdah jobs
      howdah jobs --cancel 1234
    """
    from howdah.cli.columns import print_columns
    from howdah.cli.reporting import width
    from howdah.errors import UsageError
    from howdah.host.batch import BATCH_SYSTEMS, batch_system_here
    from howdah.spec.site import find_site

    system = BATCH_SYSTEMS[kind or find_site(None).batch or batch_system_here()]
    found = system.own_jobs()
    if cancel is not None:
        if cancel not in [job.id for job in found]:
            known = ", ".join(job.id for job in found) or "none"
            raise UsageError(f"job {cancel} is none that Howdah has submitted", hint=f"There are: {known}.")
        system.cancel(cancel)
        click.echo(f"Job {cancel} is cancelled.")
        return
    if as_json:
        click.echo(json.dumps([asdict(job) for job in found], indent=2))
        return
    if not found:
        click.echo(f"No job of Howdah waits or runs. `howdah up --on {system.kind}:nodes=4,time=2h` submits one.")
        return
    rows = [(job.id, job.name, job.state.lower(), str(job.hosts), _when(job)) for job in found]
    print_columns(("JOB", "NAME", "STATE", "HOSTS", "TIME"), rows, width(), right={3})


def _when(job: BatchJob) -> str:
    from howdah.spec.jobs import format_time

    if job.runs:
        return "no limit is known" if job.seconds_left is None else f"{format_time(job.seconds_left)} left"
    return ", ".join(filter(None, (job.reason, job.expected and f"expected at {job.expected}"))) or "not known"
