"""Run directories that a crash, a full disk or an editor has damaged: what is whole is shown, the rest is named."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import Home, one_message

_GOLDEN = Path(__file__).parent.parent / "golden/run-v1"
_WHOLE, _DAMAGED = "20260101-000000-terasort-aaaa", "20260102-000000-terasort-bbbb"


@pytest.fixture
def damaged(bare_home: Home) -> Path:
    """The second of two runs, still whole."""
    for name in (_WHOLE, _DAMAGED):
        run = bare_home.path / "runs" / name
        shutil.copytree(_GOLDEN, run)
        record = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps({**record, "id": name}))
    return bare_home.path / "runs" / _DAMAGED


def half(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def noise(file: Path) -> None:
    file.write_bytes(b"\x00\xff\xfe not text \n" * 20)


def other_shape(file: Path) -> None:
    file.write_text('[{"schema": 1}, null]\n{"schema": 1}\n[]\n')


DAMAGES: tuple[Callable[[Path], None], ...] = (half, noise, other_shape)


@pytest.mark.parametrize("damage", [*DAMAGES, Path.unlink])
def test_run_json(bare_home: Home, damaged: Path, damage: Callable[[Path], None]) -> None:
    damage(damaged / "run.json")
    listed = bare_home.howdah("runs")
    assert listed.code == 0, listed.said
    (whole,) = (line for line in listed.out.splitlines() if line.startswith(_WHOLE))
    (broken,) = (line for line in listed.out.splitlines() if line.startswith(_DAMAGED))
    assert re.search(r"\d s( |$)", whole), "its result"
    assert "unreadable" in broken
    for command in (("show", _DAMAGED), ("report", _DAMAGED, "-o", str(bare_home.path / "r.html"))):
        ended = bare_home.howdah(*command)
        assert ended.code == 2, ended.said
        assert str(damaged) in one_message(ended)
    assert bare_home.howdah("show", _WHOLE).code == 0


@pytest.mark.promise(
    "A directory that is cut off or damaged is a problem with a name, not a crash", "reference/run-directory"
)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name", ["samples.jsonl", "environment.json", "series/vm.jsonl", "jobs/job_1759999990000_0001.json"]
)
def test_other_files(bare_home: Home, damaged: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(damaged / name)
    page = bare_home.path / "report.html"
    shown = bare_home.howdah("show", _DAMAGED)
    reported = bare_home.howdah("report", _DAMAGED, "-o", str(page))
    for ended in (shown, reported):
        assert ended.code == 0, ended.said
        assert "Traceback" not in ended.said
    for text in (" ".join(shown.out.split()).lower(), page.read_text().lower()):
        assert Path(name).name in text or f"the history of {Path(name).stem} cannot be read" in text
    listed = bare_home.howdah("runs").out
    assert sum(line.startswith("20") for line in listed.splitlines()) == 3
    assert "unreadable" not in listed


def test_a_damaged_run_named_latest_does_not_hide_the_others(bare_home: Home, damaged: Path) -> None:
    half(damaged / "run.json")
    assert bare_home.howdah("show", "latest").code == 2
    assert bare_home.howdah("show", _WHOLE[:8]).code == 0
