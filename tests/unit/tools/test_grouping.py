"""Tests that share a cluster come together."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from tests.grouping import COMMON, ends_its_group, gather

ROOT = Path(__file__).parents[3]
OWN, ALPHA, OTHER, SHARED = (
    *(
        "tests/system/test_posix.py",
        "tests/system/test_run.py",
        "tests/system/test_tls.py",
        "tests/faults/test_jobs.py",
    ),
)


class Item:
    """As much of a pytest.Item as is looked at."""

    def __init__(self, file: str) -> None:
        self.nodeid = f"{file}::test_it"


def test_the_longest_groups_come_first_and_stay_together() -> None:
    workloads = "tests/system/test_workloads.py"
    items = cast(list[pytest.Item], [Item(file) for file in (OWN, ALPHA, OTHER, SHARED, OWN, ALPHA, workloads)])
    gather(items, {OWN: 10.0, ALPHA: 6.0, workloads: 5.0, SHARED: 8.0})
    assert [one.nodeid.partition("::")[0] for one in items] == [ALPHA, ALPHA, workloads, OWN, OWN, SHARED, OTHER]


def test_the_last_test_of_a_group_is_known() -> None:
    alpha, other, own = (cast(pytest.Item, Item(file)) for file in (ALPHA, "tests/system/test_storage.py", OWN))
    assert ends_its_group(other, own)
    assert not ends_its_group(alpha, other)
    assert not ends_its_group(alpha, None), "the fixture brings the cluster down"


@pytest.mark.parametrize(("folder", "fixture"), [("system", "cluster: dict["), ("faults", "cluster: Home")])
def test_every_file_that_uses_a_common_cluster_is_in_its_group(folder: str, fixture: str) -> None:
    files = sorted((ROOT / "tests" / folder).glob("test_*.py"))
    use = {f"tests/{folder}/{file.name}" for file in files if fixture in file.read_text(encoding="utf-8")}
    assert use
    assert use <= COMMON.keys()
