"""Tests that share a cluster come together."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tests.grouping import gather, is_last


class Item:
    """As much of a pytest.Item as is looked at."""

    def __init__(self, path: str, *fixtures: str) -> None:
        self.path = Path("tests", path)
        self.fixturenames = fixtures
        self.marks: list[str] = []

    def add_marker(self, marker: Any) -> None:
        self.marks.append(marker.mark.args[0])


ITEMS = (
    Item("system/test_a.py"),
    Item("system/test_a.py", "cluster"),
    Item("system/test_b.py"),
    Item("system/test_c.py", "howdah", "cluster"),
    Item("faults/test_d.py", "home"),
    Item("faults/test_d.py", "cluster", "shared"),
)


def test_shared_clusters_come_first_and_files_stay_together() -> None:
    items = cast(list[pytest.Item], list(ITEMS))
    gather(items)
    assert [cast(Item, one).marks[-1] for one in items] == [
        *("system-cluster", "system-cluster", "faults-shared", "test_a", "test_b", "test_d")
    ]


def test_the_last_test_with_a_shared_cluster_is_known() -> None:
    a, with_a, b, with_c, d, _ = cast(tuple[pytest.Item, ...], ITEMS)
    assert is_last(with_c, b)
    assert is_last(with_a, d)
    assert not is_last(with_a, with_c)
    assert not is_last(a, b)
    assert not is_last(with_c, None), "its fixture brings it down"
