"""The entry point: a table of contents. A command's module is imported only for its command, so `--help` is quick."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from howdah.errors import Elsewhere, HowdahError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Command → (module, one line of help). The line stands here so that `howdah --help` imports none of the modules.
_COMMANDS = {
    "doctor": ("hosts.doctor", "Check this machine for what would make a run fail or a number doubtful."),
    "up": ("clusters.up", "Start a Hadoop cluster."),
    "status": ("clusters.status", "Show clusters, their daemons, web pages and open ports."),
    "down": ("clusters.down", "Shut down a cluster and remove its data."),
    "exec": ("clusters.exec", "Run a command with hadoop, hdfs, yarn and mapred for a cluster."),
    "shell": ("clusters.exec", "Open a shell with hadoop, hdfs, yarn and mapred for a cluster."),
    "open": ("clusters.open", "Show the web pages of a cluster in a browser, also of a secured one."),
    "logs": ("clusters.logs", "Show the logs of a cluster's daemons."),
    "grow": ("clusters.resize", "Take hosts into a cluster that runs."),
    "shrink": ("clusters.resize", "Take hosts out of a cluster that goes on, without losing data."),
    "defaults": ("hosts.defaults", "Show what the tuned defaults set on this machine, and why."),
    "workloads": ("runs.workloads", "List the workloads."),
    "run": ("runs.run", "Run a workload, verify it, measure it and report."),
    "runs": ("runs.runs", "List runs."),
    "show": ("runs.show", "Show one run."),
    "ab": ("experiments.ab", "Compare two settings: is a workload faster with B than with A?"),
    "compare": ("experiments.compare", "Compare runs: effect, interval, verdict."),
    "report": ("runs.report", "Make a report of runs."),
    "energy": ("runs.energy", "Show the energy of a run, how sure it is, and by which meters."),
    "value": ("runs.value", "Say what runs cost: price, power, racks, carbon, equal work."),
    "tune": ("experiments.tune", "Search for the settings that make a workload fastest."),
    "experiment": ("experiments.experiment", "Answer a question with an experiment: which of several things matters?"),
    "rm": ("runs.rm", "Remove runs."),
    "prune": ("runs.rm", "Remove the runs that match: old ones, failed ones, those with a label."),
    "hadoop": ("hosts.hadoop", "Fetch and verify the managed Hadoop."),
    "fault": ("clusters.fault", "Inject a fault on a host of a cluster."),
    "sim": ("hosts.sim", "Simulate hosts without a cluster on them."),
    "stage": ("clusters.stage", "Copy between a file system that all hosts see and HDFS, verified."),
    "persist": ("clusters.persist", "List, check and remove HDFS data that stayed when their cluster ended."),
    "script": ("hosts.script", "Print a batch script for Slurm or PBS, to be edited and submitted."),
    "jobs": ("hosts.jobs", "List and cancel the batch jobs that Howdah has submitted."),
    "site": ("hosts.site", "Check a site file: what administrators say of their machines."),
    "store": ("hosts.store", "Show and clean what hosts keep of Hadoop for the next cluster."),
    "completion": ("completion", "Print a script that completes commands and options in your shell."),
}

_WIDEST = 120
"""Columns of a help page, if the terminal has as many."""

COMES_FROM = "HOWDAH_COMES_FROM"
"""The variable that names the host where a command was typed that now runs on another host."""

COMPLETION = "_HOWDAH_COMPLETE"
"""The variable by which the shell's script asks for completions; click derives its name from the command's."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"howdah.cli.{_COMMANDS[cmd_name][0]}_command")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands with their help lines, and the options of `howdah` itself; import no command's module."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=line) for name, (_, line) in _COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from howdah.spec.slips import closest

            close = closest(args[0], _COMMANDS)
            meant = "" if close is None else f" Did you mean {close}?"
            raise click.UsageError(f"No such command: {args[0]}.{meant}", ctx)
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from howdah.cli.version import version_lines

        click.echo(version_lines())
        ctx.exit()


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, the commit and the versions of Hadoop, and exit.",
)
def howdah() -> None:
    """Start a real Hadoop cluster on the machines you have, find out with evidence what makes it fast, make it faster.

    \b
    A first look, on this machine:  howdah run terasort --size 1G --nodes 3
    Everything is kept in ~/.howdah (or HOWDAH_HOME): caches, clusters, runs.
    """


def entry() -> NoReturn:
    """Run the command line. Exit codes: 0 done, 1 failed, 2 usage, 3 ran but not to be trusted, 130 interrupted."""
    for number in _ENDINGS:
        signal.signal(number, _interrupt)
    try:
        _run()
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except HowdahError as error:
        from howdah.cli.columns import say

        say(f"howdah: {error.message}", err=True, fg="red")
        if error.hint:
            say(error.hint, err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort) as error:
        notes = getattr(error.__cause__ or error, "__notes__", ())  # click raises its own Abort from the interrupt
        click.echo("\n".join(("howdah: interrupted", *notes)), err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        where = f": {error.filename}" if error.filename is not None else ""
        click.secho(f"howdah: {error.strerror or error}{where}", err=True, fg="red")
        sys.exit(1)
    sys.exit(0)


def _run() -> None:
    if COMES_FROM in os.environ:
        from howdah.host.supervise import follow_parent

        follow_parent()
    try:
        howdah.main(standalone_mode=False)
    except Elsewhere as error:
        from howdah.cli.elsewhere import go_there

        go_there(error, sys.argv[1:])


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # A closed terminal or a polite kill is handled like Ctrl-C; a second one must not break the tidying up.
    for other in _ENDINGS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt
