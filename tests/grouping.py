"""Which tests run one after the other in one process: those of a file, and of files with a common cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pytest

COMMON = {
    **dict.fromkeys(
        (f"tests/system/test_{name}.py" for name in ("cluster", "commands", "run", "storage", "workloads")), "alpha"
    ),
    # One of them writes back every file system of the machine, and another one takes away what was not written back.
    **dict.fromkeys((f"tests/system/test_{name}.py" for name in ("factors", "power_loss")), "sync"),
    **dict.fromkeys((f"tests/faults/test_{name}.py" for name in ("accelerated_jobs", "interrupts", "jobs")), "shared"),
}
"""By file, the cluster that several files use. It is brought up once, and goes down after the last of their tests. Or
the reason why several files are not for two processes at once."""


def group_of(test: str) -> str:
    """The group of a test by its id: the name of a common cluster, or the file."""
    file = test.partition("::")[0]
    return COMMON.get(file, file)


def gather(items: list[pytest.Item], seconds: Mapping[str, float]) -> None:
    """Bring the tests of each group together, the longest groups first: no process has a long one left at the end."""
    first: dict[str, int] = {}
    length: defaultdict[str, float] = defaultdict(float)
    for place, file in enumerate(dict.fromkeys(item.nodeid.partition("::")[0] for item in items)):
        first.setdefault(group_of(file), place)
        length[group_of(file)] += seconds.get(file, 0.0)
    groups = (group_of(item.nodeid) for item in items)
    order = {group: (-length[group], first[group]) for group in groups}
    items.sort(key=lambda item: order[group_of(item.nodeid)])


def ends_its_group(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Whether tests of another group come after `item`."""
    return following is not None and group_of(following.nodeid) != group_of(item.nodeid)
