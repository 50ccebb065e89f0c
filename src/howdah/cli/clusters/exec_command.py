"""howdah exec and howdah shell"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from howdah.cli.columns import say
from howdah.cli.options import name_option
from howdah.errors import UsageError

if TYPE_CHECKING:
    from howdah.cluster.state import Manifest


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@name_option
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)
def exec(name: str, argv: tuple[str, ...]) -> NoReturn:  # noqa: A001 (the command's name)
    """Run a command with hadoop, hdfs, yarn and mapred on its PATH and HADOOP_CONF_DIR set for a cluster.

    \b
    Examples:
      howdah exec -- hdfs dfs -ls /
      howdah exec -- python my_program_that_calls_hadoop.py
    """
    from howdah.cluster.live.environment import shell_environment
    from howdah.cluster.supervision.client import find_cluster, wait_until_taken
    from howdah.host.supervise import attend, become

    manifest = find_cluster(name)
    _warn(manifest)
    environment = shell_environment(manifest, os.environ)
    try:
        if not manifest.reserved:
            become(argv, environment)
        # A script that ends now would end its job, and what is copied out of HDFS meanwhile.
        code = attend(argv, environment)
        wait_until_taken(name)
        sys.exit(code)
    except OSError as error:
        raise UsageError(f"cannot run {argv[0]!r}: {error.strerror}") from error


@click.command()
@name_option
def shell(name: str) -> NoReturn:
    """Open a shell with hadoop, hdfs, yarn and mapred on PATH and HADOOP_CONF_DIR set for a cluster.

    \b
    Example:
      howdah shell --name mine
    """
    from howdah.cluster.live.environment import shell_environment
    from howdah.cluster.state import cluster_directory
    from howdah.cluster.supervision.client import find_cluster
    from howdah.host.supervise import become

    manifest = find_cluster(name)
    _warn(manifest)
    environment = shell_environment(manifest, os.environ)
    click.echo(f"hadoop, hdfs, yarn and mapred work on cluster {name}; `exit` leaves.", err=True)
    program = os.environ.get("SHELL", "/bin/sh")
    become([program, *prompting(Path(program).name, cluster_directory(name).path)], environment)


def _warn(manifest: Manifest) -> None:
    """Warn if a batch system is about to take the hosts away."""
    from howdah.cluster.walltime import end_is_near

    left = None if manifest.ends is None else manifest.ends - manifest.reserved - time.time()
    if (warning := end_is_near(left)) is not None:
        say(f"{warning}.", err=True)


def prompting(shell: str, directory: Path) -> tuple[str, ...]:
    """Return the options with which a shell's prompt names the cluster; only bash has such options. The file for them
    is made in the cluster's `directory`."""
    if shell != "bash":
        return ()
    file = directory / "bashrc"
    file.write_text('[ ! -r ~/.bashrc ] || . ~/.bashrc\nPS1="[howdah $HOWDAH_CLUSTER_NAME] $PS1"\n', encoding="utf-8")
    return ("--rcfile", str(file))
