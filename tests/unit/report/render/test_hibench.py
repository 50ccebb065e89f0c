"""Lines of hibench.report, with the numbers that HiBench itself gave for a run on three nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.model.run import Outcome, Phase
from howdah.model.sample import Moment, Sample
from howdah.report import render_hibench
from howdah.store import StoredRun
from tests.unit.report.example_runs import Example, write_example

WIDTHS = (12, 10, 8, 20, 20, 20, 20)
HEAD = "Type Date Time Input_data_size Duration(s) Throughput(bytes/s) Throughput/node"
LINE = "HadoopTerasort 2018-12-24 20:35:46 3284915032 164.111 20016422 6672140"


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return write_example(tmp_path, Example("one", 0, workload="terasort"))


def with_numbers(run: StoredRun, seconds: float, size: int, nodes: int | None) -> StoredRun:
    """`run` with a sort that took `seconds` over `size` bytes and ended when the real one did."""
    end = Moment(1545683746.9, 100.0)
    phase = Phase("sort", "run", Moment(end.utc - seconds, 100.0 - seconds), end)
    sample = Sample("client_seconds", seconds, "s", "measured", "agent", "h", "client", "sort", end)
    changed = replace(
        run.run, phases=(phase,), dataset={"bytes": size}, cluster={} if nodes is None else {"nodes": nodes}
    )
    return replace(run, run=changed, samples=(sample,))


def test_the_numbers_of_a_real_line(run: StoredRun) -> None:
    head, line = render_hibench([with_numbers(run, 164.1119, 3284915032, 3)]).splitlines()
    for printed, expected in ((head, HEAD), (line, LINE)):
        assert printed.split() == expected.split()
        assert printed == " ".join(field.ljust(width) for field, width in zip(expected.split(), WIDTHS, strict=True))


def test_small_numbers_are_cut_and_unknown_nodes_are_one(run: StoredRun) -> None:
    assert render_hibench([with_numbers(run, 37.204, 36705, 3)]).split()[-2:] == ["986", "328"]
    assert render_hibench([with_numbers(run, 37.204, 36705, None)]).split()[-2:] == ["986", "986"]


def test_the_size_is_what_was_written(run: StoredRun) -> None:
    drawn = with_numbers(run, 37.204, 36000, None)
    drawn = replace(drawn, run=replace(drawn.run, dataset={"bytes": 36000, "written_bytes": 36705}))
    assert render_hibench([drawn]).split()[-4:] == ["36705", "37.204", "986", "986"]


def test_what_hibench_does_not_have_is_refused(run: StoredRun) -> None:
    other = replace(run, run=replace(run.run, trial=replace(run.run.trial, workload="pi")))
    with pytest.raises(UsageError, match="no workload like 'pi'"):
        render_hibench([other])
    with pytest.raises(UsageError, match="is simulated"):
        render_hibench([replace(run, run=replace(run.run, cluster={"kind": "synthetic"}))])
    whole = with_numbers(run, 37.204, 36705, 3)
    for partial in (replace(whole, samples=()), replace(whole, run=replace(whole.run, dataset=None))):
        with pytest.raises(UsageError, match="has not the figures"):
            render_hibench([partial])
    invalid = replace(run, run=replace(run.run, outcome=Outcome("invalid", "not sorted")))
    with pytest.raises(UsageError, match="no valid run"):
        render_hibench([invalid])
