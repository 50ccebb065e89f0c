"""Options that several commands share, and the parsing of their values."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import click

from howdah.cluster.request import SILENCE
from howdah.errors import UsageError
from howdah.hadoop.distribution.lock import PRIMARY

Command = Callable[..., Any]


def parse_conf(pairs: tuple[str, ...]) -> dict[str, str]:
    """Return `KEY=VALUE` pairs as a mapping. Raises UsageError for any other text, and for a key given twice."""
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"not a setting: {pair!r}", hint="Write --conf KEY=VALUE.")
        if key.strip() in settings:
            raise UsageError(f"{key.strip()} is given twice")
        settings[key.strip()] = value.strip()
    return settings


class GroupedCommand(click.Command):
    """A command whose help page has its options in groups, by the names of their parameters.

    Options in no group are under the first heading.
    """

    groups: ClassVar[Mapping[str, Sequence[str]]] = {"Options": ()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        first = next(iter(self.groups))
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in self.groups}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                name = "help" if "--help" in parameter.opts else parameter.name
                heading = next((one for one, names in self.groups.items() if name in names), first)
                rows[heading].append(record)
        for heading, found in rows.items():
            if found:
                with formatter.section(heading):
                    formatter.write_dl(found)


def confirm_removal(words: str, *, yes: bool) -> None:
    """Ask whether to remove `words`, unless the user said `yes`.

    Raises UsageError if nobody can be asked, and click's Abort for a no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{words} would be removed", hint="Add --yes: nobody is there to be asked.")
    click.confirm(f"Remove {words}?", abort=True)


def making_options(command: Command) -> Command:
    """Add the options of commands that start a cluster."""
    for option in reversed(_MAKING):
        command = option(command)
    return command


on_option = click.option(
    "--on",
    metavar="KIND[:ARGUMENT]",
    default="local",
    show_default=True,
    help="The hosts: local; hosts:a,b or hosts:FILE by ssh; channels:N or sim:N for this machine as N hosts. In a "
    "batch job, slurm is its hosts. Elsewhere, slurm:nodes=N,time=T submits a job.",
)
_REACH = (
    click.option(
        "--silence",
        metavar="SECONDS",
        type=click.FloatRange(3),
        default=SILENCE,
        show_default=True,
        help="Seconds without contact after which a host counts as lost and stops its daemons.",
    ),
    click.option(
        "--network",
        metavar="NETWORK",
        default=None,
        help="For hosts: the network of the daemons, as 10.1.0.0/16, ib0 or eth*. [default: each host's only one]",
    ),
    click.option(
        "--site",
        metavar="FILE",
        type=click.Path(),
        default=None,
        help="For slurm and pbs: the site file. [default: HOWDAH_SITE, /etc/howdah/site.yaml]",
    ),
)


def reach_options(command: Command) -> Command:
    """Add the options that say how hosts are reached."""
    for option in reversed(_REACH):
        command = option(command)
    return command


_MAKING = (
    on_option,
    click.option(
        "--nodes",
        metavar="N",
        type=click.IntRange(1),
        default=None,
        help="Nodes, up to 20 on a machine (DataNode + NodeManager). [default: one for each host]",
    ),
    click.option(
        "--hadoop",
        metavar="VERSION",
        default=PRIMARY,
        show_default=True,
        help="A managed version, or 'system' for HADOOP_HOME.",
    ),
    click.option(
        "--hadoop-home", metavar="DIR", type=click.Path(), default=None, help="A Hadoop distribution of your own."
    ),
    click.option(
        "--defaults",
        type=click.Choice(["tuned", "stock"]),
        default="tuned",
        show_default=True,
        help="Howdah's tuned defaults, or Hadoop without them.",
    ),
    click.option(
        "--without", multiple=True, metavar="NAME", help="Leave out one of `howdah defaults`; may be repeated."
    ),
    click.option("--jvm-flag", multiple=True, metavar="FLAG", help="A JVM flag for every daemon; may be repeated."),
    click.option(
        "--storage",
        metavar="hdfs|posix:DIR",
        default=None,
        help="HDFS, or a directory that every node sees; both with a comma, the first is the default. [default: hdfs]",
    ),
    click.option(
        "--work-dir",
        metavar="DIR",
        type=click.Path(),
        default=None,
        help="Parent of the directory with the daemons' data, which has the cluster's name.",
    ),
    *_REACH,
    click.option(
        "--secure",
        is_flag=True,
        help="With Kerberos: closed to everybody but you. [default: with --on hosts:, slurm, pbs]",
    ),
    click.option(
        "--protection",
        type=click.Choice(["authentication", "integrity", "privacy"]),
        default=None,
        help="Level of --secure: who one is; that nothing is changed; that nobody reads it. [default: authentication]",
    ),
    click.option(
        "--realm",
        metavar="DIR",
        type=click.Path(),
        default=None,
        help="The realm of your site: krb5.conf and keytabs. [default: a realm of the cluster's own]",
    ),
    click.option("--insecure", is_flag=True, help="Without Kerberos: whoever reaches it can use it as you."),
    click.option("--offline", is_flag=True, help="Fetch nothing."),
)

conf_option = click.option(
    "--conf", "conf", multiple=True, metavar="KEY=VALUE", help="A Hadoop setting; may be repeated."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
runs_option = click.option(
    "--out",
    "root",
    metavar="DIR",
    type=click.Path(),
    default=None,
    help="The directory of the run directories. [default: ~/.howdah/runs]",
)
warmup_option = click.option(
    "--warmup",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Warm-up runs before each run, which do not count.",
)
name_option = click.option("--name", metavar="NAME", default="default", show_default=True, help="Which cluster.")


def typed_command() -> list[str]:
    """Return the typed command for the record: `howdah` and its arguments."""
    return ["howdah", *sys.argv[1:]]


def open_in_browser(address: str) -> bool:
    """Open an address in a browser. Return whether there is a display for a browser."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    import webbrowser

    return webbrowser.open(address)
