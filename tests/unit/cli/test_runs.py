"""The list of runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from howdah.cli.main import howdah
from tests.unit.report.example_runs import Example, write_example


@pytest.mark.promise("`howdah runs` says which runs were accelerated", "how-to/accelerate")
def test_it_says_which_runs_were_accelerated(tmp_path: Path) -> None:
    write_example(tmp_path, Example("fast", 0, settings={"accelerator": "sort"}, series=False))
    write_example(tmp_path, Example("plain", 1, series=False))
    listed = CliRunner().invoke(howdah, ["runs", "--out", str(tmp_path)]).output.splitlines()
    assert ["accelerator sort" in line for line in listed] == [True, False]
    records = json.loads(CliRunner().invoke(howdah, ["runs", "--out", str(tmp_path), "--json"]).output)
    assert [one["accelerator"] for one in records] == ["sort", "none"]
