"""Copies before the time is up."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from howdah.cluster.supervision.stageout import StageOut, parse_copy
from howdah.cluster.walltime import expected_copy, remember_copy
from howdah.errors import UsageError
from howdah.hadoop.interfaces.http import Unreachable


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "clusters").mkdir(parents=True)
    return tmp_path


def test_what_is_to_be_copied(home: Path) -> None:
    assert parse_copy(f"/a/b/={home}/c=d") == ("/a/b", f"{home}/c=d")
    assert parse_copy(f"/={home}/all") == ("/", f"{home}/all")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("/a", "--stage-out is '/a'"),
        ("a={home}/x", "--stage-out is 'a="),
        ("/a=", "--stage-out is '/a='"),
        ("/a={home}", "is there already"),
        ("/a={home}/no/x", "there is no directory {home}/no"),
    ],
)
def test_what_cannot_be_copied(home: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_copy(text.format(home=home))
    assert why.format(home=home) in raised.value.message


def test_time_is_set_aside_by_the_least_of_the_last_rates() -> None:
    assert expected_copy(0) == 30.0
    assert expected_copy(2 * 10**9) == 30.0 + 150.0
    remember_copy(10**6, 10.0)
    assert expected_copy(2 * 10**9) == 180.0, "a small copy tells nothing of the rate"
    remember_copy(10**9, 10.0)
    remember_copy(10**9, 20.0)
    assert expected_copy(2 * 10**9) == 30.0 + 1.5 * 40.0


def test_the_time_for_all_copies_is_kept_up_to_date(home: Path) -> None:
    asked = threading.Event()

    def length(path: str) -> int:
        if path == "/gone":
            asked.set()
            raise Unreachable("n:1", "no")
        return 4 * 10**8

    assert StageOut("c", (), length, home / "log").seconds == 0.0
    staging = StageOut("c", (("/a", "/x"), ("/gone", "/y")), length, home / "log")
    assert asked.wait(10)
    deadline = time.monotonic() + 10
    while staging.seconds != 30.0 + 30.0 + 30.0:
        assert time.monotonic() < deadline, staging.seconds


def test_copies_that_fail_are_in_the_log_and_those_without_time_are_ended(home: Path) -> None:
    staging = StageOut("none", (("/a", f"{home}/x"), ("/b", f"{home}/y")), lambda _: 0, home / "log")
    staging.run(lambda: False)
    said = (home / "log").read_text()
    assert said.count("no cluster called 'none' is up") == 2
    staging.run(lambda: True)
    assert (home / "log").read_text().count("There is no time left") == 2
