"""What a comparison of energy says about meters that its sides do not share."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from howdah.report.comparison.meters import meters_apart
from howdah.report.document.results import Measure
from howdah.store import StoredRun, read_run
from tests.unit.report.example_runs import Example, write_example

ENERGY = Measure("sort", "energy", "node")


def with_energy(root: Path, name: str, meters: Sequence[str], error: float | None) -> StoredRun:
    """A run whose sort took 1,000 J by these meters, give or take `error` by their accuracy."""
    run = write_example(root, Example(name, 0))
    budget = {"sampling": 1.0, **({} if error is None else {"meter": error})}
    total: dict[str, Any] = {"domain": "node", "meters": list(meters), "joules": 1000.0, "budget": budget}
    record = {"stretches": [{"phase": "sort", "totals": [total]}, {"phase": None, "totals": []}]}
    (run.path / "energy.json").write_text(json.dumps(record))
    return read_run(run.path)


def test_the_same_meters_have_the_same_error_on_both_sides(tmp_path: Path) -> None:
    left, right = (with_energy(tmp_path, name, ["bmc@a", "bmc@b"], 20) for name in ("l", "r"))
    assert meters_apart([left], [right], ENERGY) == (0.0, None)
    assert meters_apart([left], [right], Measure("sort", "job_seconds")) == (0.0, None)


@pytest.mark.promise("Errors of different meters widen the interval of a ratio of energies", "how-to/energy")
def test_different_meters_have_an_error_in_the_ratio(tmp_path: Path) -> None:
    left = [with_energy(tmp_path, f"l{n}", ["bmc"], error) for n, error in enumerate((20, 30))]
    right = [with_energy(tmp_path, "r", ["pdu"], 40)]
    error, words = meters_apart(left, right, ENERGY)
    assert error == pytest.approx(math.hypot(0.03, 0.04))
    assert words is not None
    assert words.startswith("Different meters measured the two: bmc; pdu. The interval has their errors, too: 5")


def test_an_unknown_accuracy_is_said(tmp_path: Path) -> None:
    left, right = with_energy(tmp_path, "l", ["bmc"], None), with_energy(tmp_path, "r", ["pdu"], 40)
    error, words = meters_apart([left], [right], ENERGY)
    assert error == 0
    assert words is not None
    assert "The accuracy of some is not known, and not in the interval." in words
