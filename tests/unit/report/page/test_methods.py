"""The paragraph for a paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from howdah.cli.main import howdah
from howdah.model.environment import Environment
from howdah.model.run import Outcome
from howdah.report import methods
from tests.unit.report.example_runs import Example, write_example

HOST = {
    "cpu": {"threads": 2, "model": "AMD EPYC"},
    "memory": {"total": 25276510208},
    "disks": {"vda": {}},
    "os": "Debian 12",
    "kernel": {"name": "Linux", "release": "6.1"},
}


@pytest.mark.promise("`howdah report --format methods` writes a paragraph for a paper", "CHANGELOG")
def test_it_says_how_the_numbers_were_made(tmp_path: Path) -> None:
    runs = [write_example(tmp_path, Example(f"r{n}", n, series=False)) for n in range(4)]
    environment = {"before": Environment({"a": HOST, "b": HOST}, {})}
    said = methods([replace(run, environment=environment) for run in runs])
    assert said.count("\n") == 1
    assert "4 runs began from 2026-" in said
    assert (
        "2 of 2 machines had 2 processors (AMD EPYC), 25.3 GB of memory, 1 disk and Debian 12 with Linux 6.1." in said
    )
    assert "We measured sort/job_seconds: " in said
    assert "n = 4, CV " in said
    assert "passed these checks: order, checksum and rows." in said
    assert ".." not in said
    assert "None" not in said


def test_what_does_not_count_is_said_and_trials_have_a_paragraph_each(tmp_path: Path) -> None:
    runs = [write_example(tmp_path, Example(f"r{n}", n, series=False)) for n in range(2)]
    runs.append(write_example(tmp_path, Example("bad", 2, series=False, outcome=Outcome("failed", "x"))))
    runs.append(write_example(tmp_path, Example("other", 3, series=False, settings={"heap": "2g"})))
    first, second = methods(runs).split("\n\n")
    assert "1 failed: no number is of these." in first
    assert second.count("The run began at 2026-") == 1


def test_the_command_prints_it(tmp_path: Path) -> None:
    write_example(tmp_path, Example("r1", 1, series=False))
    said = CliRunner().invoke(howdah, ["report", "r1", "--out", str(tmp_path), "--format", "methods"])
    assert said.exit_code == 0, said.output
    assert said.output.startswith("TeraSort of ")
    refused = CliRunner().invoke(howdah, ["report", "r1", "--out", str(tmp_path), "--format", "methods", "--json"])
    assert refused.exit_code == 2
