"""The section about energy, of runs whose meters are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from howdah.engine.evidence.metrics import ENERGIES
from howdah.report import build_report, render_html, render_json, render_text
from howdah.report.page.energy import energy_report
from howdah.store import RunWriter, StoredRun, read_run
from howdah.store.layout import ENERGY
from tests.unit.engine.energy.test_energy import about, measured, meter, with_meters
from tests.unit.report.example_runs import HOST, Example, write_example


def drawn(
    root: Path, name: str, order: int, watts: float, hosts: tuple[str, ...] = (HOST,), **own: object
) -> StoredRun:
    """A run whose host drew so much."""
    run = with_meters(write_example(root, Example(name, order, speed=0.5)), (meter("ipmi", **own), about(watts)))
    found = measured(run, hosts)
    writer = RunWriter.reopened(run.path)
    writer.save(replace(run.run, metrics=(*run.run.metrics, *ENERGIES)))
    writer.keep_json(ENERGY, found.record)
    writer.samples(found.samples)
    writer.close()
    return read_run(run.path)


def test_one_run(tmp_path: Path) -> None:
    report = energy_report(drawn(tmp_path, "one", 1, 200.0))
    assert report is not None
    text = render_text(report)
    assert "In sort, 1 host drew " in text
    assert "200.0 W on average" in text or "200 W on average" in text
    assert "by meters of hosts (AC)" in text
    assert "Below level 1 of the EE HPC WG's power measurement methodology" in text
    render_json(report)


@pytest.mark.promise("Runs narrow their spread, and not what a meter is off by: the report has both", "how-to/energy")
def test_several_runs_have_both_uncertainties(tmp_path: Path) -> None:
    runs = [drawn(tmp_path, f"run-{n}", n, 200.0 + 2 * n) for n in range(5)]
    text = render_text(build_report(runs))
    assert "by what is known of the meters" in text
    assert "Over 5 runs: " in text
    assert "they do not narrow what the meter is off by" in " ".join(text.split())
    assert "energy@node" in text


def test_hosts_that_nothing_measured(tmp_path: Path) -> None:
    run = drawn(tmp_path, "half", 1, 200.0, (HOST, "other"))
    assert not [one for one in run.samples if one.metric == "energy"]
    report = energy_report(run)
    assert report is not None
    assert "1 of 2 hosts drew" in render_text(report)


def test_simulated_is_said_first_and_on_the_timeline(tmp_path: Path) -> None:
    run = drawn(tmp_path, "simulated", 1, 200.0, quality="simulated")
    page = render_html(build_report([run]))
    assert "Simulated, measured by nothing: in sort, 1 host drew" in page
    assert "hosts, simulated" in page


def test_runs_without_meters_have_no_section(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("plain", 1))
    assert energy_report(run) is None
    assert "energy" not in [section.id for section in build_report([run]).sections]


def test_meters_that_are_not_there(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("absent", 1))
    found = measured(run, absent=["rapl on vm: the kernel has no RAPL counters here"])
    writer = RunWriter.reopened(run.path)
    writer.keep_json(ENERGY, found.record)
    writer.close()
    report = energy_report(read_run(run.path))
    assert report is not None
    text = " ".join(render_text(report).split())
    assert "There is no energy of this run: nothing that was asked for measured it." in text
    assert "Asked for, and not there: rapl on vm: the kernel has no RAPL counters here." in text
    assert "Mean power" not in text
