"""Which tests run one after the other in one process of tests: those that share a cluster, and those of one file."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

SHARED: Mapping[str, str] = {"system": "cluster", "faults": "shared"}
"""By folder, the fixture of the cluster that many files share. It is brought up once, for the tests with it alone."""


def group_of(item: pytest.Item) -> str:
    """The name of the group of a test."""
    fixture = SHARED.get(item.path.parent.name)
    if fixture is not None and fixture in getattr(item, "fixturenames", ()):
        return f"{item.path.parent.name}-{fixture}"
    return item.path.stem


def gather(items: list[pytest.Item]) -> None:
    """Brings the tests of each group together, those with shared clusters first, as they take longest, and marks them
    for pytest-xdist."""
    first: dict[str, tuple[bool, int]] = {}
    for place, item in enumerate(items):
        group = group_of(item)
        first.setdefault(group, (group == item.path.stem, place))
    items.sort(key=lambda item: first[group_of(item)])
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))


def is_last(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Whether `item` is the last of the tests with the shared cluster of its folder, and others follow."""
    fixture = SHARED[item.path.parent.name]
    shared = group_of(item) == f"{item.path.parent.name}-{fixture}"
    return shared and following is not None and group_of(following) != group_of(item)
