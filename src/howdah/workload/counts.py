"""Counts: read from Hadoop's keys, and where its jobs keep theirs."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import UsageError

TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
"""The group of the counters that every task has."""


def equal(*counted: int | None) -> bool:
    """Whether all were counted, and are the same number."""
    return None not in counted and len(set(counted)) == 1


def count(conf: Mapping[str, str], key: str, default: int) -> int:
    """The value of `key`, or `default` where it is not set. Raises UsageError for what is no number of at least 1."""
    text = conf.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{key} is {text!r}, which is not a number of at least 1")
    return int(text)
