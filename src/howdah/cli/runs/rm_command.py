"""howdah rm, howdah prune"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from howdah.cli.options import confirm_removal, parse_conf, runs_option
from howdah.errors import HowdahError, UsageError
from howdah.model.quantity import format_bytes
from howdah.model.run import Run

_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
_ENDINGS = ("valid", "invalid", "failed", "aborted")


@click.command()
@click.argument("runs", nargs=-1, required=True)
@runs_option
@_YES
def rm(runs: tuple[str, ...], root: str | None, yes: bool) -> None:
    """Remove RUNS: ids, starts of ids, paths, or 'latest'. The runs to remove are listed first.

    A run that is being written stays. A run of an experiment stays too, because the experiment would make it again.

    \b
    Example:
      howdah rm latest
    """
    from howdah.store import find_run, runs_root
    from howdah.store.removal import check_removable

    place = Path(root) if root else runs_root()
    paths = list(dict.fromkeys(find_run(name, place) for name in runs))
    for path in paths:
        check_removable(path)
    _remove(paths, yes=yes)


@click.command()
@click.option("--keep", metavar="N", type=click.IntRange(0), help="Keep the last N of those that match.")
@click.option("--older-than", metavar="DURATION", help="Only runs that began longer ago: 12h, 30d.")
@click.option("--workload", metavar="NAME", help="Only runs of this workload.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="Only with this label; may be repeated.")
@click.option("--outcome", type=click.Choice(_ENDINGS), multiple=True, help="Only runs that ended so; may be repeated.")
@runs_option
@_YES
def prune(
    keep: int | None,
    older_than: str | None,
    workload: str | None,
    labels: tuple[str, ...],
    outcome: tuple[str, ...],
    root: str | None,
    yes: bool,
) -> None:
    """Remove the runs that match. They are listed first.

    \b
    Examples:
      howdah prune --outcome aborted --outcome failed
      howdah prune --workload terasort --older-than 30d --keep 20
    """
    from howdah.spec.experiment import parse_duration
    from howdah.store import list_runs, runs_root

    wanted = parse_conf(labels)
    age = None if older_than is None else parse_duration(older_than)
    if keep is None and age is None and workload is None and not wanted and not outcome:
        raise UsageError("nothing says which runs are to go", hint="See `howdah prune --help`.")
    place = Path(root) if root else runs_root()
    matching = [
        path
        for path, run in list_runs(place)
        if isinstance(run, Run) and _matches(run, age=age, workload=workload, labels=wanted, outcomes=outcome)
    ]
    _remove(matching[: max(len(matching) - (keep or 0), 0)], yes=yes)


def _matches(
    run: Run, *, age: float | None, workload: str | None, labels: Mapping[str, str], outcomes: Sequence[str]
) -> bool:
    """Return whether a run is to be removed. A run under way never is."""
    return (
        run.outcome.kind in (outcomes or _ENDINGS)
        and (age is None or run.start.utc < time.time() - age)
        and (workload is None or run.trial.workload == workload)
        and all(run.labels.get(key) == value for key, value in labels.items())
    )


def _remove(paths: Sequence[Path], *, yes: bool) -> None:
    """List `paths` and remove them after a confirmation. One that cannot be removed does not keep the others."""
    from howdah.store.removal import remove_leftovers, remove_run, size_of

    for root in {path.parent for path in paths}:
        remove_leftovers(root)
    if not paths:
        click.echo("No runs match.")
        return
    sizes = [size_of(path) for path in paths]
    for path, size in zip(paths, sizes, strict=True):
        click.echo(f"{path}  {format_bytes(size)}")
    words = f"{len(paths)} run{'' if len(paths) == 1 else 's'}, {format_bytes(sum(sizes))}"
    confirm_removal(words, yes=yes)
    removed, problems = 0, []
    for path, size in zip(paths, sizes, strict=True):
        try:
            remove_run(path)
        except (HowdahError, OSError) as error:
            problems.append(str(error))
        else:
            removed += size
    click.echo(f"{len(paths) - len(problems)} removed, {format_bytes(removed)}.")
    if problems:
        raise UsageError(f"not removed: {'; '.join(problems)}")
