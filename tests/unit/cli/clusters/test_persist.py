"""`howdah persist ls|verify|rm`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.main import howdah
from howdah.cluster.deployment.persistence import LOCK
from howdah.errors import Untrusted
from tests.persistent import data


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "clusters").mkdir(parents=True)
    return home


def typed(home: Path, *words: str, answer: str = "") -> Result:
    return CliRunner(env={"HOWDAH_HOME": str(home)}).invoke(howdah, ["persist", *words], input=answer)


def test_directories_are_listed_with_their_state(home: Path, tmp_path: Path) -> None:
    assert "No cluster has left data" in typed(home, "ls").output
    kept, gone = data(tmp_path / "kept"), tmp_path / "gone"
    (home / "clusters" / "persistent.json").write_text(json.dumps([str(gone), str(kept)]))
    head, first, second = typed(home, "ls").output.splitlines()
    assert head.split() == ["HADOOP", "NODES", "LAST", "USED", "STATE", "DIRECTORY"]
    assert "not seen from here" in first
    assert second.split()[:2] == ["3.4.2", "2"]
    assert second.split()[4] == "free"
    record = json.loads(typed(home, "ls", "--json").output)
    assert record[str(gone)] is None
    assert record[str(kept)]["record"]["nodes"] == 2


@pytest.mark.promise("`howdah persist verify` finds damaged and missing parts", "how-to/persist")
def test_damage_is_named_and_exits_with_3(home: Path, tmp_path: Path) -> None:
    kept = data(tmp_path / "kept")
    sound = typed(home, "verify", str(kept))
    assert (sound.exit_code, sound.output) == (0, f"{kept}: every part is there, and they belong together.\n")
    (kept / "node1" / "current" / "VERSION").unlink()
    damaged = typed(home, "verify", str(kept))
    assert isinstance(damaged.exception, Untrusted)
    assert f"{kept}/node1/current/VERSION is not there" in str(damaged.exception)


def test_data_are_removed_after_a_question(home: Path, tmp_path: Path) -> None:
    kept = data(tmp_path / "kept")
    assert typed(home, "rm", str(kept), answer="n\n").exit_code == 1
    assert kept.exists()
    (kept / LOCK).write_text("{}")
    assert "is in use: its lock cannot be read" in str(typed(home, "rm", str(kept), "--yes").exception)
    (kept / LOCK).unlink()
    assert typed(home, "rm", str(kept), "--yes").output == f"{kept} is removed.\n"
    assert not kept.exists()
