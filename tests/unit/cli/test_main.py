"""The first words of the command line: the version, and what shells complete."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from howdah import __version__
from howdah.cli.main import COMPLETION, howdah
from howdah.hadoop.distribution.lock import managed_versions


def complete(*words: str, shell: str = "bash") -> list[str]:
    """What `howdah WORDS…` may go on with; the last word is the one to complete."""
    count = len(words)
    asked = {COMPLETION: f"{shell}_complete", "COMP_WORDS": " ".join(("howdah", *words)), "COMP_CWORD": str(count)}
    said = CliRunner().invoke(howdah, [], prog_name="howdah", env=asked)
    assert said.exit_code == 0, said.output
    return [line.partition(",")[2] for line in said.output.splitlines()]


@pytest.mark.promise("`howdah --version` names the commit and every Hadoop", "how-to/install")
def test_the_version_names_the_commit_and_every_hadoop() -> None:
    first, second = CliRunner().invoke(howdah, ["--version"]).output.splitlines()
    assert first.startswith(f"howdah {__version__}, commit ")
    assert second.startswith("Hadoop 3.4.2 (primary), ")
    assert all(version in second for version in managed_versions())


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("ru",), ["run", "runs"]),
        (("--v",), ["--version"]),
        (("run", "tera"), ["terasort"]),
        (("run", "terasort", "--acc"), ["--accelerator"]),
        (("run", "terasort", "--accelerator", "so"), ["sort"]),
        (("hadoop", ""), ["fetch", "list", "verify"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("nothing", "ru"), ["run", "runs"]),
        (("run", "nothing", "tera"), ["terasort"]),
    ],
)
def test_completes(words: tuple[str, ...], found: list[str]) -> None:
    assert complete(*words) == found


@pytest.mark.promise("`howdah completion` prints a script that completes commands and options", "how-to/install")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_howdah(shell: str) -> None:
    script = CliRunner().invoke(howdah, ["completion", shell])
    assert script.exit_code == 0
    assert f"{COMPLETION}={shell}_complete" in script.output


@pytest.mark.promise("`howdah completion` prints a script that completes commands and options", "how-to/install")
def test_bash_completes_by_the_script(tmp_path: Path) -> None:
    script = tmp_path / "howdah.bash"
    script.write_text(CliRunner().invoke(howdah, ["completion", "bash"]).output)
    lines = (
        f"PATH={Path(sys.executable).parent}:$PATH; . {script}",
        "COMP_WORDS=(howdah dow); COMP_CWORD=1; _howdah_completion howdah; echo ${COMPREPLY[*]}",
    )
    said = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["down"]


def test_commands_are_completed_without_importing_them() -> None:
    program = f"""
import os, sys
os.environ.update({COMPLETION}="bash_complete", COMP_WORDS="howdah ", COMP_CWORD="1")
from howdah.cli.main import howdah
try:
    howdah.main(prog_name="howdah")
except SystemExit:
    print(*(name for name in sys.modules if name.startswith("howdah.")))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1].split() == ["howdah.cli", "howdah.errors", "howdah.cli.main"]


@pytest.mark.promise("`howdah run WORKLOAD --help` has its options in groups", "CHANGELOG")
@pytest.mark.parametrize("columns", [80, 120])
def test_the_options_of_a_workload_are_in_groups(columns: int) -> None:
    said = CliRunner().invoke(howdah, ["run", "terasort", "--help"], terminal_width=columns)
    lines = said.output.splitlines()
    heads = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert heads == [
        "Workload:", "Measurement:", "Settings:", "Cluster:", "Cluster that is made for the run:", "Output:",
    ]  # fmt: skip
    assert max(map(len, lines)) <= columns
    for heading, option in (("Workload:", "--size SIZE"), ("Settings:", "--conf KEY=VALUE"), ("Output:", "--help")):
        after = lines[lines.index(heading) + 1 :]
        end = next((at for at, line in enumerate(after) if line in heads), len(after))
        assert any(option in line for line in after[:end]), (heading, option)
    options = re.findall(r"^  (?:-h, )?(--\S+)", said.output, re.M)
    assert sorted(options) == sorted(set(options)), "each once"
    assert len(options) == 39


def commands(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of a command, and of every command below it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, *words, name)


@pytest.mark.promise("Help fits in 80 columns, and has an example for every command", "reference/commands")
@pytest.mark.parametrize("columns", [80, 120])
def test_every_page_of_help_fits_its_terminal(columns: int) -> None:
    for words in commands(howdah):
        said = CliRunner().invoke(howdah, [*words, "--help"], prog_name="howdah", env={"COLUMNS": str(columns)})
        assert said.exit_code == 0, said.output
        lines = [line for line in said.output.splitlines() if not line.startswith("Usage:")]
        assert not [line for line in lines if len(line) > columns or line.endswith("...")], words
        assert not re.search(r"^  (?:-\w, )?--\S+ (?:TEXT|INTEGER|FLOAT|PATH)\s", said.output, re.M), words
        assert "\n  Example" in said.output or "COMMAND [ARGS]" in said.output, words
