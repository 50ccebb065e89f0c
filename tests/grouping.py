"""Which tests run one after the other in one process: those of a file, and of files with a common cluster."""

from __future__ import annotations

import pytest

COMMON = {
    **dict.fromkeys(
        (f"tests/system/test_{name}.py" for name in ("cluster", "commands", "run", "storage", "workloads")), "alpha"
    ),
    **dict.fromkeys((f"tests/faults/test_{name}.py" for name in ("accelerated_jobs", "interrupts", "jobs")), "shared"),
}
"""By file, the cluster that several files use. It is brought up once, and goes down after the last of their tests."""


def group_of(test: str) -> str:
    """The group of a test by its id: the name of a common cluster, or the file."""
    file = test.partition("::")[0]
    return COMMON.get(file, file)


def gather(items: list[pytest.Item]) -> None:
    """Brings the tests of each group together, those with common clusters first, as they take longest."""
    first: dict[str, tuple[bool, int]] = {}
    for place, item in enumerate(items):
        group = group_of(item.nodeid)
        first.setdefault(group, (group not in COMMON.values(), place))
    items.sort(key=lambda item: first[group_of(item.nodeid)])


def ends_its_group(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Whether tests of another group come after `item`."""
    return following is not None and group_of(following.nodeid) != group_of(item.nodeid)
