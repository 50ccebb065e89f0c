"""The section about an accelerator: which of its plugins served which job, by their counters."""

from __future__ import annotations

from collections.abc import Iterator

from howdah.model.accelerator import NONE, PLUGINS, Plugin, has_map_output, plugins_named, service
from howdah.report.document.blocks import Section, Table, Text, columns
from howdah.report.document.wording import MISSING, listing
from howdah.report.page.detail import Detail
from howdah.report.phases.jobs import PhaseJob
from howdah.report.phases.times import job_name

_ELSEWHERE = "RECORDS"
"""The counter that has its own column."""


def acceleration_section(detail: Detail, prefix: str) -> Section | None:
    """Return the work of the plugins in each job; None if the run had no accelerator and no job counted such work."""
    accelerator = detail.run.run.trial.accelerator
    counted = any(plugin.group in entry.job.counters for entry in detail.jobs for plugin in PLUGINS)
    if accelerator == NONE and not counted:
        return None
    what = "The settings of this run name no accelerator." if accelerator == NONE else f"It was {accelerator}."
    rows = tuple(row for entry in detail.jobs for row in _rows(detail, entry, plugins_named(accelerator)))
    heads = columns("Job", "Plugin", "Served it", "#Records", "#Records to serve", "What else it counted")
    blocks = (Text(what), *([Table("What its plugins did, as they count it", heads, rows)] if rows else ()))
    return Section(f"{prefix}accelerator", "Accelerator", blocks)


def _rows(detail: Detail, entry: PhaseJob, asked: tuple[Plugin, ...]) -> Iterator[tuple[str, ...]]:
    job, name = entry.job, job_name(entry, detail.jobs)
    for plugin in PLUGINS:
        own = job.counters.get(plugin.group)
        if own is None and plugin not in asked:
            continue
        if not has_map_output(job):
            yield (name, plugin.name, "no part: nothing goes from maps to reduces", MISSING, MISSING, MISSING)
            continue
        found = service(plugin, job)
        served = "yes" if found.whole else f"no: stock {plugin.work} did"
        if found.records > 0 and not found.whole:
            served = "in part"
        others = [f"{key} {value:,}" for key, value in (own or {}).items() if key != _ELSEWHERE]
        numbers = (f"{found.records:,}", MISSING if found.expected is None else f"{found.expected:,}")
        yield (name, plugin.name, served, *numbers, listing(others, most=len(others)) or MISSING)
