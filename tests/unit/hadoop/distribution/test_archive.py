from __future__ import annotations

import os
import subprocess
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.errors import HostProblem
from howdah.hadoop.distribution.archive import ensure_archive, task_arguments
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk
from howdah.host import Completed


class Machine:
    """A host whose JVM writes an archive, or fails, and whose file operations really happen. `classes` is the list of
    the archive that was made last."""

    name = "machine"

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.commands: list[list[str]] = []
        self.classes: list[str] = []

    def call(self, operation: str, /, *, path: str, **arguments: Any) -> Any:
        file = Path(path)
        match operation:
            case "files.resolve":
                return str(file) if file.exists() else None
            case "store.use":
                return file.exists()
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
        if argv[0] == "find":
            subprocess.run(argv, check=True, timeout=timeout)
            return Completed(0, b"", b"", 1.0, 1.0)
        self.commands.append(argv)
        [listed] = [flag.partition("=")[2] for flag in argv if flag.startswith("-XX:SharedClassListFile=")]
        self.classes = Path(listed).read_text(encoding="utf-8").splitlines()
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
    return ensure_archive(machine, distribution, java, str(distribution.home / "cache"))  # type: ignore[arg-type]


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


@pytest.fixture
def accelerated(distribution: Distribution) -> Distribution:
    """The same with a jar of our own."""
    jar = distribution.home / "own" / "plugin.jar"
    jar.parent.mkdir()
    with zipfile.ZipFile(jar, "w") as content:
        for name in ("org/howdah/A.class", "org/howdah/A$B.class", "package-info.class", "META-INF/MANIFEST.MF"):
            content.writestr(name, "")
        content.writestr("META-INF/versions/11/org/howdah/A.class", "")
    return replace(distribution, plugins=(jar,))


def test_our_own_classes_are_in_it(distribution: Distribution, accelerated: Distribution) -> None:
    machine = Machine()
    plain = ensure(machine, distribution, jdk(17))
    known = machine.classes
    made = ensure(machine, accelerated, jdk(17))
    assert made is not None
    assert made != plain
    assert machine.commands[-1][-1].endswith(f"/b.jar:{accelerated.plugins[0]}")
    assert machine.classes == ["org/howdah/A", "org/howdah/A$B", *known]
    os.utime(accelerated.plugins[0], ns=(1, 1))
    assert ensure(machine, accelerated, jdk(17)) not in (made, plain)


def test_what_a_new_jar_of_ours_made_useless_goes_after_a_day(accelerated: Distribution) -> None:
    machine, a_day_ago = Machine(), time.time() - 24.5 * 3600

    def ensured(place: Distribution, java: Jdk) -> Path:
        path = ensure(machine, place, java)
        assert path is not None
        return Path(path)

    old = [ensured(replace(accelerated, plugins=()), jdk(17)), ensured(accelerated, jdk(17))]
    os.utime(accelerated.plugins[0], ns=(1, 1))
    young = ensured(accelerated, jdk(17))
    other = ensured(accelerated, jdk(17, 0, 2))
    for path in (*old, other):
        os.utime(path, (a_day_ago, a_day_ago))
    os.utime(accelerated.plugins[0], ns=(2, 2))
    latest = ensured(accelerated, jdk(17))
    assert sorted(latest.parent.iterdir()) == sorted([young, other, latest])


def test_a_jar_of_ours_that_is_none(accelerated: Distribution) -> None:
    accelerated.plugins[0].write_text("no jar", encoding="utf-8")
    with pytest.raises(HostProblem, match=r"plugin\.jar cannot be read: .*"):
        ensure(Machine(), accelerated, jdk(17))


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
    files = task_arguments(distribution, "/a.jsa", "/conf")
    line = files["task-false.args"]
    archive, _, line = line.partition("\n")
    assert archive == '"-XX:SharedArchiveFile=/a.jsa"'
    assert line.startswith(f'-cp "{distribution.home}/a.jar:{distribution.home}/b.jar:')
    assert line.endswith(':job.jar/job.jar:job.jar/classes/:job.jar/lib/*:./*:./:/conf"\n')
    assert files["task-true.args"] == "", "Hadoop's own class path has the user's first"
    own = task_arguments(replace(distribution, plugins=(Path("/own.jar"),)), "/a.jsa", "/conf")["task-false.args"]
    assert f"/b.jar:/own.jar:{distribution.home}/hdfs:" in own
