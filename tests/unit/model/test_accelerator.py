"""Which plugins settings name, and what counters say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from howdah.model.accelerator import (
    MERGING,
    PLUGINS,
    SORTING,
    accelerator_of,
    has_map_output,
    is_served,
    plugins_named,
    plugins_of,
    service,
)
from howdah.model.job import Job
from howdah.model.run import Trial

STOCK = {plugin.key: plugin.stock for plugin in PLUGINS}
OURS = {plugin.key: plugin.value for plugin in PLUGINS}
TASK = "org.apache.hadoop.mapreduce.TaskCounter"
JOB = Job("job_1", "j", "u", "default", "SUCCEEDED", 0.0, 0.0, 1.0, 2, 1, {}, {}, {}, ())


def job(
    groups: Mapping[str, Mapping[str, int]] | None = None, *, output: int = 10, given: int = 10, reduces: int = 1
) -> Job:
    """A job with two maps, and counters of ours by group, without the word before. `output` records left the maps,
    `given` ones reached the reduces."""
    groups = groups or {}
    task = {"MAP_OUTPUT_RECORDS": output, "REDUCE_INPUT_RECORDS": given}
    counters = {TASK: task, **{f"Howdah {name}": found for name, found in groups.items()}}
    return replace(JOB, reduces=reduces, counters=counters)


@pytest.mark.parametrize(
    ("settings", "name", "plugins"),
    [
        ({}, "none", ()),
        (STOCK, "none", ()),
        (OURS, "sort", PLUGINS),
        ({SORTING.key: " org.howdah.sort.SortingCollector"}, "SortingCollector", (SORTING,)),
        ({**OURS, SORTING.key: SORTING.stock}, "MergingShuffle", (MERGING,)),
        ({SORTING.key: "com.example.SortingCollector"}, "none", ()),
    ],
)
def test_settings_name_an_accelerator(settings: dict[str, str], name: str, plugins: tuple[object, ...]) -> None:
    assert (accelerator_of(settings), plugins_of(settings)) == (name, plugins)
    assert plugins_named(name) == plugins
    assert Trial("terasort", {} if name == "none" else {"accelerator": name}).accelerator == name


def test_a_job_without_map_output_has_no_use_for_one() -> None:
    assert has_map_output(job())
    assert not has_map_output(job(output=0))
    assert not has_map_output(job(reduces=0))
    assert not has_map_output(JOB)


@pytest.mark.promise("The counters show that the plugins served every record of a job", "how-to/accelerate")
@pytest.mark.parametrize(
    ("counted", "records", "whole"),
    [
        ({"Sort": {"RECORDS": 10, "SPILLS": 1}}, 10, True),
        ({"Sort": {"RECORDS": 9}}, 9, False),
        ({"Sort": {"RECORDS": 10, "FALLBACK_COMPARATOR": 0}}, 10, True),
        ({"Sort": {"RECORDS": 10, "FALLBACK_COMPARATOR": 1}}, 10, False),
        ({"Sort": {"RECORDS": 6, "FALLBACKS": 1, "FALLBACKS_SETTINGS": 1}}, 6, False),
        ({"Sort": {"RECORDS": 0}}, 0, False),
        ({}, 0, False),
    ],
)
def test_the_sort_must_have_seen_every_record(counted: dict[str, dict[str, int]], records: int, whole: bool) -> None:
    found = service(SORTING, job(counted))
    assert (found.records, found.expected, found.whole) == (records, 10, whole)


@pytest.mark.promise("The counters show that the plugins served every record of a job", "how-to/accelerate")
def test_the_shuffle_must_have_given_every_record() -> None:
    assert service(MERGING, job({"Shuffle": {"RECORDS": 4, "FALLBACKS": 0}}, given=4)).whole, "a combiner leaves fewer"
    some = service(MERGING, job({"Shuffle": {"RECORDS": 4}}, given=5))
    assert (some.records, some.expected, some.whole) == (4, 5, False)
    assert not service(MERGING, job({"Sort": {"RECORDS": 10}})).whole


def test_the_shuffle_says_why_it_left_something() -> None:
    left = service(MERGING, job({"Shuffle": {"RECORDS": 10, "FALLBACKS": 2}}))
    assert (left.whole, left.fallbacks) == (False, {"FALLBACKS": 2})
    why = {"FALLBACKS_ENCRYPTED": 2, "FALLBACKS_LOCAL": 0}
    left = service(MERGING, job({"Shuffle": {"RECORDS": 10, "FALLBACKS": 2, **why}}))
    assert (left.whole, left.fallbacks) == (False, {"FALLBACKS_ENCRYPTED": 2})


def test_all_jobs_with_map_output_must_have_been_served() -> None:
    served = job({"Sort": {"RECORDS": 10}, "Shuffle": {"RECORDS": 10}})
    assert is_served(PLUGINS, [job(reduces=0), served])
    assert not is_served(PLUGINS, [served, job({"Sort": {"RECORDS": 10}})])
    assert not is_served(PLUGINS, [job(reduces=0)]), "there was nothing to serve"
    assert not is_served(PLUGINS, [])
