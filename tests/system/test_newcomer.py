"""A newcomer's first hour: the README's commands in a terminal of 80 columns, then what is printed is pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.running import Howdah
from tests.system.terminal import Shown, broken, in_terminal

pytestmark = pytest.mark.daemons

README = Path(__file__).parents[2] / "README.md"
_SMALLER = {"1G": "smoke", "5": "2"}
"""Words of the README by what this test writes instead, so that a step takes seconds."""
_WRONG = re.compile(r"\b(nan|None|inf|Traceback)\b|\{\w*\}|0x[0-9a-f]{6}")
"""What no person should read: values that are none, places that were not filled in."""
_PASTED = re.compile(r"(?<![\w-])howdah [a-z]+(?: [\w./=%:@-]+)*")
_READS = ("report", "show", "status", "runs", "compare", "logs", "value", "defaults", "energy")
"""Commands that change nothing, so that they can be pasted whenever they are printed."""


class Hour:
    """A terminal, in which commands are typed; it keeps what was printed by each."""

    def __init__(self, howdah: Howdah, directory: Path) -> None:
        self._howdah = howdah
        self._directory = directory
        self.printed: dict[str, Shown] = {}

    def type(self, command: str, columns: int = 80) -> Shown:
        words = shlex.split(command, comments=True)
        argv = [*self._howdah.command, *words[1:]]
        shown = in_terminal(["env", "-C", str(self._directory), *argv], columns=columns, env=self._howdah.environment)
        self.printed[f"{command} ({columns})"] = shown
        return shown


@pytest.fixture(scope="module")
def commands() -> list[str]:
    """The commands of the README's first hour, on smaller data."""
    [block] = re.findall(r"## A first hour\n+```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.partition("#")[0].strip() for line in block.splitlines()]
    shorter = [" ".join(_SMALLER.get(word, word) for word in line.split()) for line in lines]
    return [line for line in shorter if line.startswith("howdah ")]


@pytest.fixture(scope="module")
def hour(howdah: Howdah, commands: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hour]:
    """Every command was typed, each ended well, and what each printed is kept."""
    hour = Hour(howdah, tmp_path_factory.mktemp("newcomer"))
    try:
        for command in commands:
            shown = hour.type(command)
            assert shown.code == 0 or command == "howdah doctor", f"{command}:\n{shown.text}"
        for command in commands:
            if command.split()[1] in _READS:
                hour.type(command, 120)
        yield hour
    finally:
        howdah("down", "--all")


@pytest.mark.promise("The README's first hour works as it is printed", "README")
def test_every_command_says_what_it_did(hour: Hour, commands: list[str]) -> None:
    assert [command.split()[1] for command in commands] == [
        *("doctor", "up", "exec", "run", "runs", "show", "report", "down"),
    ]
    assert "validated" in hour.printed["howdah show latest (80)"].text
    assert "took" in next(shown for command, shown in hour.printed.items() if command.startswith("howdah run")).text


@pytest.mark.promise("At 80 and at 120 columns no word is broken", "README")
def test_no_line_breaks_in_the_middle_of_a_word(hour: Hour) -> None:
    found = {command: broken(shown, int(command[-4:-1].strip(" ("))) for command, shown in hour.printed.items()}
    assert {command: lines for command, lines in found.items() if lines} == {}


def test_nobody_reads_what_is_no_value(hour: Hour) -> None:
    wrong = {
        command: [line for line in shown.lines if _WRONG.search(line)]
        for command, shown in hour.printed.items()
        if not command.startswith("howdah exec")
    }
    assert {command: lines for command, lines in wrong.items() if lines} == {}


@pytest.mark.promise("Commands that Howdah prints can be pasted", "README")
def test_what_is_printed_can_be_pasted(hour: Hour) -> None:
    printed = {found for shown in hour.printed.values() for found in _PASTED.findall(shown.text)}
    pasted = sorted(one for one in printed if one.split()[1] in _READS and not re.search(r"\b[A-Z]{3,}\b|…", one))
    assert any(one.startswith("howdah show ") for one in pasted)
    for command in pasted:
        shown = hour.type(command)
        assert shown.code == 0, f"{command}:\n{shown.text}"
