"""Counts: from Hadoop's keys, and from its jobs' counters."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import UsageError

TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
"""The group of the counters that every task has."""


def equal(*counted: int | None) -> bool:
    """Return whether all were counted, and are the same number."""
    return None not in counted and len(set(counted)) == 1


def count(conf: Mapping[str, str], key: str, default: int) -> int:
    """Return the value of `key`, or `default` if it is not set. Raises UsageError for a text that is no number of at
    least 1."""
    text = conf.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{key} is {text!r}, which is not a number of at least 1")
    return int(text)
