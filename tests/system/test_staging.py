"""Copying between files that all hosts see and HDFS, on a real cluster."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.system.running import Howdah, Said, below

pytestmark = pytest.mark.daemons
MB = 10**6


@pytest.fixture(scope="module")
def on(howdah: Howdah) -> Iterator[Callable[..., Said]]:
    """Runs a command with `howdah exec` on a cluster of two nodes."""
    howdah("up", "--name", "staging", "--nodes", "2").ok()
    yield partial(howdah, "exec", "--name", "staging", "--")
    howdah("down", "--name", "staging").ok()


def make(directory: Path, files: int, size: int) -> dict[str, bytes]:
    """Files with random content, some of them deep, one empty, one with a space; their contents by path."""
    names = [f"d{number % 3}/f{number}" for number in range(files)]
    contents = {name: random.Random(name).randbytes(size) for name in names} | {"empty": b"", "d0/with space": b"x"}
    for name, content in contents.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    return contents


def stage(howdah: Howdah, *words: str) -> Said:
    return howdah("stage", *words, "--name", "staging", timeout=200)


@pytest.mark.promise("`howdah stage` copies both ways, verified by COMPOSITE-CRC", "how-to/stage")
def test_files_come_back_as_they_were(howdah: Howdah, on: Callable[..., Said], tmp_path: Path) -> None:
    contents = make(tmp_path / "in", 6, 4 * MB)
    record = stage(howdah, "in", str(tmp_path / "in"), "/staged", "--replication", "2", "--json").json()
    assert (record["state"], record["verified"]) == ("done", "COMPOSITE-CRC32C")
    assert record["rate"] > record["bytes"] / record["seconds"], "the clock has the start of the job, too"
    assert record["files"] == {name: len(content) for name, content in sorted(contents.items())}
    assert record["bytes"] == 24 * MB + 1
    assert on("hadoop", "fs", "-stat", "%r", "/staged/d1/f1").ok().out.strip() == "2"
    said = stage(howdah, "out", "/staged", str(tmp_path / "out")).ok().out
    assert "8 files, 24.0 MB in " in said
    assert "/s by the clock; verified by COMPOSITE-CRC32C" in said
    back = {str(one.relative_to(tmp_path / "out")) for one in (tmp_path / "out").rglob("*") if one.is_file()}
    assert back == set(contents)
    assert all((tmp_path / "out" / name).read_bytes() == content for name, content in contents.items())
    for words in (("in", str(tmp_path / "in"), "/staged"), ("out", "/staged", str(tmp_path / "out"))):
        again = stage(howdah, *words)
        assert again.code == 2
        assert f"{words[2]} is there already" in again.err
    on("hadoop", "fs", "-rm", "-r", "-skipTrash", "/staged").ok()


@pytest.mark.promise("A shared file system is staged from where it is mounted", "how-to/stage")
def test_what_is_on_another_file_system_is_staged(howdah: Howdah, on: Callable[..., Said]) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as mounted:
        Path(mounted, "one").write_bytes(b"abc")
        record = stage(howdah, "in", f"{mounted}/one", "/mounted", "--json").json()
        assert (record["files"], record["verified"]) == ({"": 3}, "COMPOSITE-CRC32C")
        stage(howdah, "out", "/mounted", f"{mounted}/back").ok()
        assert Path(mounted, "back").read_bytes() == b"abc"
        stage(howdah, "in", mounted, "/both").ok()
        assert on("hadoop", "fs", "-cat", "/both/one", "/both/back").ok().out == "abcabc"
    on("hadoop", "fs", "-rm", "-r", "-skipTrash", "/mounted", "/both").ok()


@pytest.mark.promise("A stage that was interrupted goes on where it was", "how-to/stage")
def test_a_stage_that_is_killed_goes_on(howdah: Howdah, on: Callable[..., Said], tmp_path: Path) -> None:
    contents = make(tmp_path / "in", 8, 64 * MB)
    words = ("stage", "in", str(tmp_path / "in"), "/killed", "--name", "staging", "--maps", "1", "--replication", "1")
    first = subprocess.Popen([*howdah.command, *words], env=howdah.environment, stdout=subprocess.DEVNULL)

    def whole() -> dict[str, str]:
        """When files that are whole were made, by name."""
        said = on("hadoop", "fs", "-find", "/killed", "-name", "f*").out.split()
        names = [name for name in said if "/f" in name]
        if not names:
            return {}
        times = on("hadoop", "fs", "-stat", "%n %Y", *names).out.split("\n")
        return dict(line.split() for line in times if line)

    deadline = time.monotonic() + 100
    while not (before := whole()):
        assert first.poll() is None, "it was faster than this test"
        assert time.monotonic() < deadline
    first.send_signal(signal.SIGKILL)
    first.wait()
    ledgers = list((howdah.home / "stages").glob("in-*.json"))
    assert "copying" in {json.loads(one.read_text())["state"] for one in ledgers}
    deadline = time.monotonic() + 60
    while "application_" in on("yarn", "application", "-list").out:
        assert time.monotonic() < deadline, "what it had submitted runs on"
    record = howdah(*words, "--json", timeout=200).json()
    assert (record["state"], record["verified"]) == ("done", "COMPOSITE-CRC32C")
    assert record["files"].keys() == contents.keys()
    after = whole()
    assert len(after) == 8
    assert {name: after[name] for name in before} == before, "what was whole was not copied again"
    assert ".distcp.tmp" not in on("hadoop", "fs", "-ls", "-R", "/killed").out
    on("hadoop", "fs", "-rm", "-r", "-skipTrash", "/killed").ok()


@pytest.mark.soak(part="batch")
@pytest.mark.promise("A stage that was interrupted goes on where it was", "how-to/stage")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("at", ["in listed", "in compared", "out copied", "out compared"])
def test_a_stage_may_be_interrupted_at_any_moment(
    howdah: Howdah, on: Callable[..., Said], tmp_path: Path, at: str, how: signal.Signals
) -> None:
    way, moment = at.split()
    target = f"/{way}-{moment}-{how.name}"
    contents = make(tmp_path / "in", 4, 16 * MB)
    words = ("in", str(tmp_path / "in"), target)
    if way == "out":
        stage(howdah, *words).ok()
        words = ("out", target, str(tmp_path / "out"))
    known = set((howdah.home / "stages").glob("*.json"))
    command = [*howdah.command, "stage", *words, "--name", "staging"]
    first = subprocess.Popen(command, env=howdah.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reached: dict[str, Callable[[], bool]] = {
        "listed": lambda: set((howdah.home / "stages").glob("*.json")) > known,
        "copied": lambda: any((tmp_path / "out").rglob("*")),
        "compared": lambda: any("-checksum" in one for one in below([first.pid]).values()),
    }
    deadline = time.monotonic() + 100
    while not reached[moment]():
        assert first.poll() is None, "it was faster than this test"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first.send_signal(how)
    assert first.wait(60) != 0
    record = stage(howdah, *words, "--json").json()
    assert (record["state"], record["verified"]) == ("done", "COMPOSITE-CRC32C")
    assert record["files"].keys() == contents.keys()
    assert "application_" not in on("yarn", "application", "-list").out
    if way == "out":
        back = {str(one.relative_to(tmp_path / "out")) for one in (tmp_path / "out").rglob("*") if one.is_file()}
        assert back == set(contents)
    assert ".distcp.tmp" not in on("hadoop", "fs", "-ls", "-R", target).out
    on("hadoop", "fs", "-rm", "-r", "-skipTrash", target).ok()


@pytest.mark.promise("A source that is changed meanwhile is no good copy", "how-to/stage")
def test_a_source_that_changes_is_told(howdah: Howdah, on: Callable[..., Said], tmp_path: Path) -> None:
    make(tmp_path / "in", 3, MB)
    words = ("stage", "in", str(tmp_path / "in"), "/changed", "--name", "staging")
    running = subprocess.Popen(
        [*howdah.command, *words], env=howdah.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60

    def is_listed() -> bool:
        """Whether the source was read, which is written down before the copy begins."""
        ledgers = [json.loads(one.read_text()) for one in (howdah.home / "stages").glob("in-*.json")]
        return any(one["target"] == "/changed" for one in ledgers)

    while not is_listed():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.utime(tmp_path / "in" / "d0" / "f0", (1, 1))
    _, err = running.communicate(timeout=100)
    assert running.returncode == 3
    assert f"{tmp_path}/in was changed while it was copied" in err
    on("hadoop", "fs", "-rm", "-r", "-skipTrash", "/changed").ok()


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("in", "/no/such", "/x"), 1, "No such file or directory: '/no/such'"),
        (("in", "{tmp}", "/x"), 2, "there are no files in {tmp}"),
        (("in", "{tmp}", "relative"), 2, "'relative' is no absolute path of HDFS"),
        (("out", "/no/such", "{tmp}/x"), 2, "there are no files in /no/such of HDFS"),
        (("in", "{tmp}/link", "/x"), 1, "{tmp}/link/d is a link to a directory"),
    ],
)
def test_what_cannot_be_staged(
    howdah: Howdah, on: Callable[..., Said], tmp_path: Path, words: tuple[str, ...], code: int, why: str
) -> None:
    if "link" in words[1]:
        (tmp_path / "link").mkdir()
        (tmp_path / "link" / "d").symlink_to("/etc")
    said = stage(howdah, *(word.format(tmp=tmp_path) for word in words))
    assert said.code == code
    assert why.format(tmp=tmp_path) in said.err
