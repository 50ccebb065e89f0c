"""howdah script"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

_TEMPLATE = """\
#!/bin/bash
# Hadoop inside a job of {system}, by Howdah. Edit it, then `{submit} {example}`.
#
{directives}
{environment}
# Each job has a cluster of its own, on all hosts. The cluster ends with the job; runs stay.
CLUSTER=job{job}

howdah up --name $CLUSTER --on {kind}{site}
howdah run terasort --size 1G --cluster $CLUSTER
howdah down --name $CLUSTER

# Your own programs go where `howdah run` is:
#   howdah exec --name $CLUSTER -- hadoop jar my.jar Main input output
#   howdah exec --name $CLUSTER -- python3 my_mrjob.py -r hadoop hdfs:///input
# `howdah runs` then lists the runs, and `howdah report RUN --open` shows the page of one.
"""

# A job that is put back into the queue has its number again, and another cluster; so have jobs of an array.
_SLURM_NUMBER = "$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}"
_PBS_NUMBER = "${PBS_JOBID%%[.[]*}${PBS_ARRAY_INDEX:+-$PBS_ARRAY_INDEX}"

_SLURM = """\
#SBATCH --job-name=hadoop
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --no-kill
#SBATCH --time={time}
{mark}#SBATCH --partition={partition}
##SBATCH --account=PROJECT
# The output of the job:
#SBATCH --output=hadoop-%j.out
"""

_PBS = """\
#PBS -N hadoop
#PBS -l nodes={nodes},walltime={time}
# Whole hosts for OpenPBS, with the processors of yours:
##PBS -l select={nodes}:ncpus=16 -l place=scatter:excl
{mark}#PBS -q {partition}
##PBS -A PROJECT
#PBS -j oe
#PBS -r n
"""


@click.command()
@click.argument("kind", metavar="slurm|pbs", type=click.Choice(["slurm", "pbs"]), required=False)
@click.option("--nodes", metavar="N", type=click.IntRange(1), default=4, show_default=True, help="Hosts.")
@click.option("--time", "wall", metavar="TIME", default="1h", show_default=True, help="The time of the job.")
@click.option("--partition", metavar="NAME", default=None, help="The partition; PBS calls it a queue.")
@click.option(
    "--site", metavar="FILE", type=click.Path(), default=None, help="The site file. [default: HOWDAH_SITE, /etc]"
)
def script(kind: str | None, nodes: int, wall: str, partition: str | None, site: str | None) -> None:
    """Print a batch script to edit and submit: three lines of Howdah, the rest are comments.

    \b
    Examples:
      howdah script slurm > hadoop.sh
      howdah script pbs --nodes 8 --time 2h > hadoop.sh
    """
    from howdah.errors import UsageError
    from howdah.host.user import process_user
    from howdah.spec.jobs import JobWish, parse_time
    from howdah.spec.site import find_site

    found = find_site(site)
    kind = kind or found.batch
    if kind is None:
        raise UsageError("which batch system is it?", hint="`howdah script slurm`, or `howdah script pbs`.")
    seconds = parse_time(wall)
    found.check(JobWish(nodes, seconds, partition), process_user())
    hours, rest = divmod(seconds, 3600)
    given = {
        "nodes": nodes,
        "time": f"{hours:02}:{rest // 60:02}:{rest % 60:02}",
        "partition": partition or "NAME",
        "mark": "#" if partition is None else "",
    }
    slurm = kind == "slurm"
    click.echo(
        _TEMPLATE.format(
            system="Slurm" if slurm else "PBS",
            kind=kind,
            submit="sbatch" if slurm else "qsub",
            example="hadoop.sh",
            directives=(_SLURM if slurm else _PBS).format(**given),
            environment=_environment(found.loads, in_directory=not slurm),
            job=_SLURM_NUMBER if slurm else _PBS_NUMBER,
            site="" if site is None else f" --site {shlex.quote(str(Path(site).absolute()))}",
        ),
        nl=False,
    )


def _environment(loads: Sequence[str], *, in_directory: bool) -> str:
    """Return the lines before Howdah's lines. PBS starts in the home directory."""
    lines = ["set -e", f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"]
    lines += loads
    if in_directory:
        lines.append('cd "$PBS_O_WORKDIR"')
    return "\n".join(lines) + "\n"
