"""Parts of `make soak`: that each is there, is written down, and goes on where it was interrupted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.soak import PAGE, PARTS, recorded

ROOT = Path(__file__).parents[3]


def test_every_part_that_a_test_names_is_there_and_has_a_row() -> None:
    files = [*ROOT.glob("tests/system/*.py"), *ROOT.glob("tests/faults/*.py")]
    named = {part for file in files for part in re.findall(r'mark\.soak\(part="(.*?)"\)', file.read_text())}
    assert named
    assert named <= PARTS.keys()
    rows = re.findall(r"^\| `(\S+)` \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: what for name, what in rows if name in PARTS} == {name: part.what for name, part in PARTS.items()}


def test_the_last_result_of_a_part_replaces_the_one_before() -> None:
    text = "| `a` | what | before | old |\n| `ab` | other | never | |\n"
    assert recorded(text, "a", "now", "new") == "| `a` | what | now | new |\n| `ab` | other | never | |\n"
    with pytest.raises(SystemExit):
        recorded(text, "b", "now", "new")


def test_what_has_passed_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pathlib\n"
        "def test_first(): assert True\n"
        "def test_second(): assert pathlib.Path(__file__).with_name('mended').exists()\n"
        "def test_third(): assert True\n"
    )
    passed = tmp_path / "passed.txt"

    def run(*options: str) -> tuple[int, str]:
        command = (sys.executable, "-m", "pytest", "-q", "-p", "tests.resuming", "-p", "no:cacheprovider")
        done = subprocess.run(
            (*command, "--rootdir", str(tmp_path), "-c", "/dev/null", "--passed", str(passed), *options, str(tmp_path)),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    code, said = run("--minutes", "0")
    assert (code, "the time of this part is over" in said, passed.exists()) == (2, True, True)
    code, said = run()
    assert (code, "1 failed, 1 passed, 1 deselected" in said) == (1, True), said
    (tmp_path / "mended").touch()
    code, said = run()
    assert (code, "1 passed, 2 deselected" in said) == (0, True), said
    assert run()[0] == pytest.ExitCode.NO_TESTS_COLLECTED
