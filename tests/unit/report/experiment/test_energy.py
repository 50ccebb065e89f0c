"""Time and measured energy of the arms of an experiment."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from howdah.report.document.blocks import Table
from howdah.report.experiment.energy import measured_energy, spent
from tests.unit.report.example_runs import HOST
from tests.unit.report.experiment.test_page import findings
from tests.unit.report.page.test_energy import drawn


@pytest.mark.promise("An experiment with meters has the Pareto front of time and measured energy", "how-to/energy")
def test_the_front_of_time_and_energy(tmp_path: Path) -> None:
    """Three arms that take the same time: the one that draws most is beaten."""
    found = findings(blocks=2)
    arms = sorted({one.arm for one in found.results})[:3]
    results = []
    for number, one in enumerate(one for one in found.results if one.arm in arms):
        run = drawn(tmp_path, f"run-{number}", number, 200.0 + 50 * arms.index(one.arm))
        results.append(replace(one, run=run.run.id))
    few = replace(found, results=tuple(results), phase="sort")
    domain, made = spent(few, tmp_path)
    assert domain == "node"
    assert {one.arm: one.best for one in made}[arms[0]] is True
    joules = {one.arm: one.joules for one in made}
    assert joules[arms[1]] / joules[arms[0]] == pytest.approx(1.25, rel=0.2)
    [table] = [block for block in measured_energy(few, tmp_path) if isinstance(block, Table)]
    assert table.caption == "Time and measured energy (node) of sort, fastest first"
    assert len(table.rows) == 3


def test_runs_without_energy_have_no_table(tmp_path: Path) -> None:
    found = findings(blocks=2)
    results = []
    for number, one in enumerate(found.results[:2]):
        hosts = (HOST,) if number else (HOST, "other")
        results.append(replace(one, run=drawn(tmp_path, f"run-{number}", number, 200.0, hosts).run.id))
    few = replace(found, results=tuple(results), phase="sort")
    assert spent(few, tmp_path) == ("", []), "one arm is of one host, the other of half of them"
    assert not list(measured_energy(few, tmp_path))
