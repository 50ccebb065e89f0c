"""What the package says of itself agrees with what is installed and pinned."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _names(file: str) -> set[str]:
    text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
    return {match.group().lower() for match in re.finditer(r"^[A-Za-z][\w.-]*", text, re.MULTILINE)}


def test_dependencies_are_those_of_run_in():
    assert set(PROJECT["dependencies"]) == _names("run.in")


@pytest.mark.parametrize("name", ["run", "dev"])
def test_every_requirement_is_pinned(name: str):
    assert _names(f"{name}.in") <= _names(f"{name}.txt")


@pytest.mark.parametrize("name", ["run.txt", "dev.txt"])
def test_pins_have_hashes_and_no_address(name: str):
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    pins = re.findall(r"^\S+==.*(?:\n    --hash=.*)+", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[^\s#]", text, re.MULTILINE))
    assert "://" not in text
    assert not re.search(r"^\s*(-f|-i|--find-links|--index-url|--extra-index-url)", text, re.MULTILINE)
