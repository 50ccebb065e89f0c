"""Counts: read from Hadoop's keys, and where its jobs keep theirs."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import UsageError

TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
"""The group of the counters that every task has."""


def count(conf: Mapping[str, str], key: str, default: int) -> int:
    """The value of `key`, or `default` where it is not set. Raises UsageError for what is no number of at least 1."""
    text = conf.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{key} is {text!r}, which is not a number of at least 1")
    return int(text)
