from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from howdah.errors import HostProblem
from howdah.hadoop.archive import ensure_archive, task_arguments
from howdah.hadoop.distribution import Distribution
from howdah.hadoop.jdk import Jdk
from howdah.host import Completed


class Machine:
    """A host whose JVM writes an archive, or fails, and whose file operations really happen."""

    name = "machine"

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.commands: list[list[str]] = []

    def call(self, operation: str, /, *, path: str, **arguments: Any) -> Any:
        file = Path(path)
        match operation:
            case "files.resolve":
                return str(file) if file.exists() else None
            case "files.make":
                file.mkdir(parents=True, exist_ok=True)
            case "files.write":
                file.write_bytes(arguments["content"])
            case "files.remove":
                file.unlink(missing_ok=True)
            case "files.rename":
                file.rename(arguments["to"])
            case _:
                raise AssertionError(operation)
        return None

    def run(self, argv: list[str], *, timeout: float) -> Completed:
        self.commands.append(argv)
        [target] = [flag.partition("=")[2] for flag in argv if flag.startswith("-XX:SharedArchiveFile=")]
        if self.code == 0:
            Path(target).write_text("archive", encoding="utf-8")
        return Completed(self.code, b"", b"no room", 1.0, 1.0)


@pytest.fixture
def distribution(tmp_path: Path) -> Distribution:
    jars = (tmp_path / "a.jar", tmp_path / "b.jar")
    for jar in jars:
        jar.write_text("jar", encoding="utf-8")
    return Distribution("3.4.2", tmp_path, "managed", jars, (tmp_path / "hdfs",), ())


def jdk(*version: int, home: str = "/jdk") -> Jdk:
    return Jdk(home, version, "Debian", "x86_64", ())


def ensure(machine: Machine, distribution: Distribution, java: Jdk) -> str | None:
    return ensure_archive(machine, distribution, java, distribution.home / "cache")  # type: ignore[arg-type]


def test_it_is_made_once_of_jars_alone(distribution: Distribution) -> None:
    machine = Machine()
    made = ensure(machine, distribution, jdk(17, 0, 1))
    assert made is not None
    assert ensure(machine, distribution, jdk(17, 0, 1)) == made
    [command] = machine.commands
    assert command[-1] == f"{distribution.home}/a.jar:{distribution.home}/b.jar"
    assert [file.name for file in Path(made).parent.iterdir()] == [Path(made).name], "nothing half made is left"


def test_another_jdk_or_another_jar_is_another_archive(distribution: Distribution) -> None:
    machine = Machine()
    made = {
        ensure(machine, distribution, java) for java in (jdk(17, 0, 1), jdk(17, 0, 2), jdk(17, 0, 1, home="/other"))
    }
    os.utime(distribution.jars[0], ns=(1, 1))
    made.add(ensure(machine, distribution, jdk(17, 0, 1)))
    assert len(made) == 4


def test_two_at_once_write_to_files_of_their_own(distribution: Distribution) -> None:
    machine = Machine()
    for _ in range(2):
        path = ensure(machine, distribution, jdk(17, 0, 1))
        assert path is not None
        Path(path).unlink()
    targets = {flag for command in machine.commands for flag in command if flag.startswith("-XX:SharedArchiveFile=")}
    assert len(targets) == 2


def test_an_old_jdk_has_none(distribution: Distribution) -> None:
    assert ensure(Machine(), distribution, jdk(11, 0, 2)) is None


def test_a_jvm_that_fails_is_told_with_the_way_round(distribution: Distribution) -> None:
    with pytest.raises(HostProblem, match=r"exit code 1\): no room") as raised:
        ensure(Machine(code=1), distribution, jdk(17))
    assert "--without class-data-sharing" in str(raised.value.hint)


def test_tasks_have_the_archives_jars_first_and_then_their_own(distribution: Distribution) -> None:
    line = task_arguments(distribution, "/conf")
    assert line.startswith(f'-cp "{distribution.home}/a.jar:{distribution.home}/b.jar:')
    assert line.endswith(':job.jar/job.jar:job.jar/classes/:job.jar/lib/*:./*:./:/conf"\n')
