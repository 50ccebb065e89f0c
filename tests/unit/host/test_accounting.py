"""What is known of a container as its processes come and go: a shell, a shell below it, and a JVM."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.host.agent.accounting import _Container


def stat(parent: int, own: int, waited: int = 0, started: int = 5) -> list[int]:
    """The fields of proc(5)'s stat from the third on, the state as 0."""
    fields = [0] * 20
    fields[1], fields[11], fields[13], fields[19] = parent, own, waited, started
    return fields


MANAGER, SHELL, INNER, JVM = 1, 2, 3, 4
RUNNING = {SHELL: stat(MANAGER, 1), INNER: stat(SHELL, 2), JVM: stat(INNER, 300)}


def seen(*looks: Mapping[int, list[int]]) -> _Container:
    container = _Container(dict(RUNNING))
    for look in looks:
        container.look(look.get)
    return container


def test_processes_that_run_count_as_they_are() -> None:
    one = seen({**RUNNING, JVM: stat(INNER, 310)})
    assert (one.ticks, one.running) == (313, True)


def test_what_a_parent_has_waited_for_counts_once() -> None:
    one = seen({SHELL: stat(MANAGER, 1), INNER: stat(SHELL, 2, 312)})
    assert (one.ticks, one.running) == (315, True)


def test_what_ended_between_two_looks_with_its_parent_is_in_the_ancestor_that_is_there() -> None:
    assert seen({SHELL: stat(MANAGER, 1, 315)}).ticks == 316


def test_when_all_have_ended_the_last_look_counts() -> None:
    one = seen({**RUNNING, JVM: stat(INNER, 310)}, {})
    assert (one.ticks, one.running) == (313, False)


def test_a_process_whose_parent_was_killed_counts_to_its_end() -> None:
    orphaned = {SHELL: stat(MANAGER, 1, 2), JVM: stat(99, 320)}
    one = seen(orphaned, {SHELL: stat(MANAGER, 1, 2), JVM: stat(99, 330)}, {SHELL: stat(MANAGER, 1, 2)}, {})
    assert (one.ticks, one.running) == (333, False)


def test_another_process_with_the_number_of_an_ended_one_is_not_its_successor() -> None:
    one = seen({JVM: stat(MANAGER, 9, started=6)})
    assert (one.ticks, one.running) == (303, False)
