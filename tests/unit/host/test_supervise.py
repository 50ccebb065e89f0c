"""Programs that a command of Howdah attends to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from howdah.host.supervise import attend

_ATTEND = "import os, sys; from howdah.host.supervise import attend; sys.exit(attend(sys.argv[1:], dict(os.environ)))"


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)])
def test_the_exit_code_is_that_of_the_program(script: str, code: int) -> None:
    done = subprocess.run((sys.executable, "-c", _ATTEND, "sh", "-c", script), check=False, timeout=30)
    assert done.returncode == code


def test_the_program_is_found_on_the_path_of_its_environment(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        attend(["hadoop"], {"PATH": str(tmp_path)})


def test_signals_are_passed_on(tmp_path: Path) -> None:
    script = f"trap 'echo told > {tmp_path}/told; exit 3' TERM; touch {tmp_path}/ready; while :; do sleep 0.1; done"
    process = subprocess.Popen((sys.executable, "-c", _ATTEND, "sh", "-c", script), env=os.environ)
    deadline = time.monotonic() + 30
    while not (tmp_path / "ready").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.terminate()
    assert process.wait(30) == 3
    assert (tmp_path / "told").read_text() == "told\n"
