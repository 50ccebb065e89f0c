from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.workload import Asked
from howdah.workload.command import Command
from tests.unit.workload.sessions import FakeFiles, FakeSession


@pytest.mark.parametrize("own", [{}, {"run": " "}, {"verify": "true"}])
def test_nothing_to_run_is_refused(own: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="nothing to run"):
        Command().resolve(Asked(own=own), {})


def test_prepare_run_and_verify_are_phases_of_their_kinds() -> None:
    workload = Command()
    settings = workload.resolve(Asked(own={"prepare": "a", "run": "b", "verify": "c", "bytes": 7}), {})
    session = FakeSession(FakeFiles())
    assert workload.prepare(session, settings) == {"generator": "a", "bytes": 7}
    workload.run(session, settings)
    assert all(check.passed for check in workload.verify(session, settings))
    assert session.ran == [
        ("prepare", "prepare", ("sh", "-c", "a")),
        ("run", "run", ("sh", "-c", "b")),
        ("verify", "verify", ("sh", "-c", "c")),
    ]
    assert workload.space_bytes(settings) == (7, 0)


@pytest.mark.promise("A `command` whose verification fails makes the run invalid", "reference/workloads")
def test_a_verify_that_fails_makes_the_run_invalid_and_not_failed() -> None:
    workload = Command()
    settings = workload.resolve(Asked(own={"run": "b", "verify": "c"}), {})
    session = FakeSession(FakeFiles(), codes={"verify": 3})
    ended, verified = workload.verify(session, settings)
    assert ended.passed
    assert not verified.passed
    assert verified.detail == "'c' ended with code 3"


def test_without_verify_the_exit_code_is_all_there_is() -> None:
    workload = Command()
    settings = workload.resolve(Asked(own={"run": "b"}), {})
    session = FakeSession(FakeFiles())
    workload.prepare(session, settings)
    workload.run(session, settings)
    [check] = workload.verify(session, settings)
    assert check.name == "exit code"
    assert [phase for phase, _, _ in session.ran] == ["run"]
    assert workload.space_bytes(settings) == (0, 0)
