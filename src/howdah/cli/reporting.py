"""Show and write reports and results for commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howdah.cli.columns import say
from howdah.errors import UsageError
from howdah.model.run import WARM_UP, Run
from howdah.store import StoredRun, find_run, list_runs, read_run, runs_root

if TYPE_CHECKING:
    from howdah.report import Report


_MARKS = {
    ".html": '<meta name="generator" content="Howdah">',
    ".md": "<!-- A page of Howdah. -->",
    ".json": '"headline"',
}
"""Text that every page of a format has; a table has its first line."""


def load_runs(names: Sequence[str], root: str | None) -> list[StoredRun]:
    """Return the runs called `names` (ids, starts of ids, paths, `latest`) under `root` or the usual place."""
    place = Path(root) if root else runs_root()
    return [read_run(find_run(name, place)) for name in names]


def load_side(text: str, root: str | None) -> list[StoredRun]:
    """Return the runs of one side of a comparison.

    `text` has names separated by commas, or KEY=VALUE for all runs with that label that are no warm-up. If no run has
    that label, they are the runs with that setting. Raises UsageError when there are none.
    """
    if "=" not in text:
        return load_runs(text.split(","), root)
    key, _, value = text.partition("=")
    runs = [
        (path, run)
        for path, run in list_runs(Path(root) if root else runs_root())
        if isinstance(run, Run) and (key == WARM_UP or WARM_UP not in run.labels)
    ]
    labelled = [path for path, run in runs if run.labels.get(key) == value]
    found = labelled or [path for path, run in runs if value in setting_values(run, key)]
    if not found:
        raise UsageError(f"no run has the label or the setting {text}")
    return [read_run(path) for path in found]


def setting_values(run: Run, key: str) -> set[str]:
    """Return the values of a setting in the run, as text: those of every entry whose path ends in `key`."""
    from howdah.report.page.provenance import as_text, flat

    usual = {
        "accelerator": run.trial.accelerator,
        "storage": run.trial.storage,
        "nodes": as_text(run.cluster.get("nodes")),
    }
    found = {as_text(value) for path, value in flat(run.trial.settings) if path == key or path.endswith(f".{key}")}
    return found | ({usual[key]} if key in usual else set())


def load_sides(texts: Sequence[str], root: str | None) -> list[StoredRun]:
    """Return the runs of several texts as `load_side` takes them, each run once."""
    found = {run.path.resolve(): run for text in texts for run in load_side(text, root)}
    return list(found.values())


def side_name(text: str, usual: str) -> str:
    """Return the name of the side of a comparison that was typed as `text`.

    The name is the label, the id of the run, or `usual` for several runs.
    """
    if "=" in text:
        return text
    return Path(text).name if "," not in text and text != "latest" else usual


def write_report(runs: Sequence[StoredRun], target: Path) -> Path:
    """Write a report of `runs`; see `write_page`."""
    from howdah.report import build_report

    return write_page(build_report(runs), target, force=True)


def write_page(page: Report, target: Path, *, force: bool = False) -> Path:
    """Write a whole document in the format of the target's ending: .html, .md or .json.

    The table of several contenders can also be .csv. A page of Howdah is replaced, another file only with `force`.
    Raises UsageError for another ending, another file or a place that cannot be written.
    """
    from howdah.report import ManyReport, render_csv, render_html, render_json, render_markdown

    renderers: dict[str, Callable[[Any], str]]
    renderers = {".html": render_html, ".md": render_markdown, ".json": render_json}
    if isinstance(page, ManyReport):
        renderers[".csv"] = render_csv
    if target.suffix not in renderers:
        raise UsageError(f"no report format for {target.name!r}", hint=f"End it in {', '.join(renderers)}.")
    text = renderers[target.suffix](page)
    if target.exists() and not force and not _is_page(target, text):
        raise UsageError(f"{target} exists, and is no page of Howdah", hint="Name another file, or remove this one.")
    fresh = target.with_name(f".{target.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return target


def _is_page(target: Path, text: str) -> bool:
    """Return whether `target` has a page of Howdah in the format of `text`."""
    try:
        before = target.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return False
    return _MARKS.get(target.suffix, text.partition("\n")[0]) in before


def print_result(runs: Sequence[StoredRun]) -> None:
    """Print the headline and the caveats of the runs, as the page has them."""
    from howdah.report.document.results import group
    from howdah.report.page.build import caveats_of, headline

    for members in group(runs):
        say(f"\n{headline(members)}", bold=True)
        for text in dict.fromkeys(caveat.text for caveat in caveats_of(members)):
            say(f"Caveat: {text}", hang=8)


def width() -> int:
    """Return the number of columns to print for: the terminal's, or 100 without a terminal."""
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 100
