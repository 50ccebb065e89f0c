"""Secrets that are typed are in no output, run directory or report."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from howdah.cli.main import howdah
from tests.unit.model.test_redaction import SECRET_KEYS

_PLANTED = [
    (f"{key}" if turn == 0 else f"my{turn}.{key}", f"planted-{turn}-{number:03}")
    for turn in range(10)
    for number, key in enumerate(SECRET_KEYS)
]


@pytest.mark.promise("Of 200 planted secrets none is in any output, run directory or report", "how-to/secure")
def test_no_planted_secret_is_anywhere(tmp_path: Path) -> None:
    truth, runs = tmp_path / "truth.yaml", tmp_path / "runs"
    effects = "".join(f"  {key}: {{ {value}: 1 }}\n" for key, value in _PLANTED)
    truth.write_text(f"value: 60\neffects:\n{effects}noise: {{ cv: 2% }}\n")
    planted = [word for key, value in _PLANTED for word in ("--conf", f"{key}={value}")]
    assert len(set(planted)) == 1 + 10 * len(SECRET_KEYS) > 200
    flags = ("--jvm-flag", "-Dmy.own.password=planted-flag")
    place = ("--out", str(runs))
    run = ("run", "terasort", "--size", "1G", "--cluster", f"synthetic:{truth}", "--repeat", "2", "--label", "a=b")
    commands: list[tuple[str, ...]] = [
        (*run, *place, *planted),
        (*run, *place, *planted, "--json"),
        ("run", "terasort", "--size", "1G", *flags, "--cluster", "nosuch", *planted),
        ("runs", *place),
        ("runs", *place, "--csv"),
        ("runs", *place, "--json"),
        ("show", "latest", *place),
        ("report", "a=b", *place, "--json"),
        ("report", "a=b", *place, "--format", "methods"),
        *(("report", "a=b", *place, "-o", str(tmp_path / f"page.{ending}")) for ending in ("html", "md", "json")),
    ]
    for command in commands:
        said = CliRunner(env={"HOWDAH_HOME": str(tmp_path / "home")}).invoke(howdah, command)
        assert "nosuch" in command or said.exit_code == 0, said.output
        assert "planted-" not in said.output + said.stderr + str(said.exception), command[:3]
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file != truth]
    assert {"run.json", "page.html", "page.md", "page.json"} <= {file.name for file in files}
    assert [file for file in files if b"planted-" in file.read_bytes()] == []
