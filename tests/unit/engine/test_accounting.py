from __future__ import annotations

from typing import Any

import pytest

from howdah.cluster.state import Daemon
from howdah.engine.accounting import Accounting, Reading, total
from tests.unit.engine.clusters import FakeCluster, FakeHost

DAEMONS = (
    Daemon("namenode", "master", "here", 1),
    Daemon("nodemanager", "node1", "here", 2),
    Daemon("nodemanager", "node2", "here", 3),
)
BEFORE = Reading({1: 1.0, 2: 2.0, 3: 3.0}, 7.0, 0)
AFTER = Reading({1: 1.5, 2: 12.0, 3: 23.0}, 11.0, 0)


def accounting(daemons: tuple[Daemon, ...] = DAEMONS, cpu: Any = None) -> Accounting:
    return Accounting(FakeCluster(FakeHost({"accounting.cpu": cpu}), daemons=daemons).live())


def test_seconds_are_summed_by_role_and_killed_containers_count_with_their_kind() -> None:
    assert accounting().by_role(BEFORE, AFTER) == {"namenode": 0.5, "nodemanager": 34.0}


def test_only_what_a_nodemanager_still_has_to_wait_for_is_waited_for() -> None:
    asked: dict[str, Any] = {}

    def cpu(**arguments: Any) -> Any:
        asked.update(arguments)
        return {"seconds": {1: 1.0}, "adopted": 0.5, "unsettled": 2}

    reading = accounting(cpu=cpu).read()
    assert reading == Reading({1: 1.0}, 0.5, 2)
    assert asked["pids"] == [1, 2, 3]
    assert asked["settled"] == [2, 3]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Reading({1: 1.0, 2: 2.0}, 0.0, 0), AFTER),
        (BEFORE, Reading({1: 1.5, 3: 23.0}, 0.0, 0)),
        (Reading(BEFORE.seconds, 0.0, 1), AFTER),
        (BEFORE, Reading(AFTER.seconds, 0.0, 1)),
    ],
)
def test_half_of_the_truth_is_no_number(before: Reading, after: Reading) -> None:
    assert accounting().by_role(before, after) is None


def test_daemons_elsewhere_or_unknown_are_no_number() -> None:
    assert accounting(()).by_role(BEFORE, AFTER) is None
    elsewhere = (*DAEMONS, Daemon("datanode", "node3", "there", 4))
    assert accounting(elsewhere).by_role(BEFORE, AFTER) is None


def test_a_sum_has_the_kernels_hundredths() -> None:
    assert total((0.1, 0.2)) == 0.3
