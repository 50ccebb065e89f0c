"""Times, limits and timelines of one run."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.cli.reporting import print_result
from howdah.model.job import Attempt, Span
from howdah.model.run import Caveat
from howdah.model.sample import Sample
from howdah.report import build_report, render_text
from howdah.report.document.blocks import Table
from howdah.report.page.detail import Detail, limits_section
from howdah.report.phases.limits import Load, PhaseLimit, judge
from howdah.report.phases.timeline import build_timeline, place, short_name
from howdah.report.phases.times import phase_times
from howdah.store import StoredRun
from tests.unit.report.example_runs import Example, wide_shape, write_example


def attempt(name: str, node: str, start: float, end: float, kind: str = "m") -> Attempt:
    steps = {"map": Span(start, end)}
    full = f"attempt_1_1_{kind}_{name}"
    return Attempt(full, "task", "map", "SUCCEEDED", node, None, Span(start, end), steps, {})


def limit(detail: Detail, phase: str) -> PhaseLimit:
    return next(entry for entry in detail.limits if entry.phase == phase)


def load(share: float | None, resource: str = "CPU", host: str = "vm") -> Load:
    return Load(resource, host, "cores", 1.0, None if share is None else 1 / share, share, 0.5)


@pytest.mark.promise("The pieces of a phase add up to the phase", "explanation/reading-the-report")
def test_the_pieces_of_a_phase_add_up(single: StoredRun) -> None:
    for time in Detail(single).times:
        assert time.outside + time.starting + time.tasks + time.ending == pytest.approx(time.seconds, abs=1e-6)
        assert min(time.outside, time.starting, time.tasks, time.ending) > 0


def test_a_cluster_that_has_one_of_two_processors_is_judged_by_it(single: StoredRun) -> None:
    cluster = {**single.run.cluster, "defaults": {"processors": 1}}
    confined = replace(single, run=replace(single.run, cluster=cluster), samples=())
    [cpu] = [one for one in limit(Detail(confined), "sort").loads if one.resource == "CPU"]
    assert (cpu.bound, cpu.share, cpu.exceeded) == (1.0, 1.0, None)


def test_jobs_at_once_take_their_time_once(single: StoredRun) -> None:
    detail = Detail(single)
    [sort] = [entry for entry in detail.jobs if entry.phase == "sort"]
    phase = next(one for one in single.run.phases if one.name == "sort")
    late = replace(sort, job=replace(sort.job, submit=sort.job.submit + 1, finish=sort.job.finish + 0.5))
    [alone], [both] = phase_times([phase], [sort]), phase_times([phase], [sort, late])
    assert both.tasks == pytest.approx(alone.tasks)
    assert both.outside == pytest.approx(alone.outside - 0.5)
    assert both.outside + both.starting + both.tasks + both.ending == pytest.approx(both.seconds)


def test_the_phases_of_the_example_are_limited_as_they_were_made(single: StoredRun) -> None:
    detail = Detail(single)
    assert [entry.phase for entry in detail.limits] == ["gen", "sort", "validate"]
    assert limit(detail, "sort").verdict.endswith("the processors limited it")
    assert limit(detail, "validate").verdict == "nothing above 60 % of its bound: waiting, latency or scheduling"
    by_resource = {entry.resource: entry for entry in limit(detail, "gen").loads}
    assert by_resource["disk write"].bound == 472e6
    assert by_resource["disk write"].used == pytest.approx(165e6, rel=0.1)  # not twice, though vda1 is there too


@pytest.mark.promise("Each phase is judged by the bounds of the page's table", "explanation/reading-the-report")
@pytest.mark.parametrize(
    ("loads", "words"),
    [
        ((load(0.96), load(0.2, "disk write")), "CPU 96 % busy: the processors limited it"),
        ((load(0.3), load(0.9, "disk write")), "disk write 90 % of its bound: writing to disk limited it"),
        ((load(0.72),), "CPU 72 % busy: the nearest to its bound, but not at it"),
        ((load(0.2), load(0.5, "loopback")), "nothing above 60 % of its bound: waiting, latency or scheduling"),
        ((load(None),), "no bound is known to judge it by"),
        ((load(0.2), load(0.99, host="b")), "CPU 99 % busy on b: the processors limited it"),
    ],
)
def test_the_rule(loads: tuple[Load, ...], words: str) -> None:
    assert judge(loads) == words


@pytest.mark.promise("A resource without a bound is not judged", "explanation/reading-the-report")
def test_an_unknown_bound_is_not_taken_for_a_free_resource() -> None:
    assert "no bound is known for disk read" in judge((load(0.2), load(None, "disk read")))


def test_processor_seconds_by_role_add_up_to_less_than_the_host(single: StoredRun) -> None:
    for phase, roles in Detail(single).roles.items():
        assert set(roles) == {"container", "datanode", "client", "nodemanager"}, phase
        assert roles["container"] > roles["datanode"] > 0


def test_attempts_take_the_first_free_lane_of_their_node() -> None:
    placed = place(
        [attempt("a", "n2", 0, 5), attempt("b", "n1", 0, 3), attempt("c", "n1", 1, 4), attempt("d", "n1", 3, 6)]
    )
    assert [(node, [[a.id[-1] for a in lane] for lane in lanes]) for node, lanes in placed] == [
        ("n1", [["b", "d"], ["c"]]),
        ("n2", [["a"]]),
    ]


def test_no_two_stretches_of_a_lane_overlap(single: StoredRun) -> None:
    detail = Detail(single)
    for entry in detail.jobs:
        drawing = build_timeline(single, entry, detail.series)
        for lane in range(len(drawing.lanes)):
            own = sorted((s for s in drawing.stretches if s.lane == lane), key=lambda s: s.start)
            assert all(first.end <= second.start + 1e-6 for first, second in itertools.pairwise(own))


@pytest.mark.promise("Failed attempts are hollow in the timeline and listed", "explanation/reading-the-report")
def test_a_failed_attempt_is_hollow_and_named(single: StoredRun) -> None:
    detail = Detail(single)
    broken = [s for s in build_timeline(single, detail.jobs[1], detail.series).stretches if s.broken]
    assert [(stretch.colour, stretch.label) for stretch in broken] == [("lost", "✕ m 1")]


def test_short_names_tell_second_attempts() -> None:
    assert short_name(attempt("000003_0", "n", 0, 1)) == "m 3"
    assert short_name(attempt("000012_2", "n", 0, 1)) == "m 12.2"


def test_many_short_attempts_are_joined_and_lose_their_titles(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("wide", 0, shapes=wide_shape(2000)))
    detail = Detail(run)
    drawing = build_timeline(run, detail.jobs[0], detail.series)
    assert len(drawing.stretches) < 2000
    assert not any(stretch.title for stretch in drawing.stretches)
    seconds = sum(s.end - s.start for s in drawing.stretches if s.colour == "map")
    in_jobs = sum(a.steps["map"].seconds for a in detail.jobs[0].job.attempts if a.kind == "map")
    assert seconds == pytest.approx(in_jobs, rel=0.6)


def test_a_missing_and_a_damaged_history_are_said(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("damaged", 0))
    files = sorted((run.path / "jobs").glob("*.json"))
    files[0].unlink()
    files[1].write_text('{"id": "job_1"}')
    detail = Detail(run)
    assert len(detail.jobs) == 1
    assert [problem.split(":")[0] for problem in detail.problems] == ["phase gen", "phase sort"]
    assert "is missing" in detail.problems[0]
    assert "cannot be read" in detail.problems[1]


def test_without_series_nothing_is_said_of_limits(tmp_path: Path) -> None:
    detail = Detail(write_example(tmp_path, Example("bare", 0, series=False)))
    assert (detail.limits, detail.roles) == ((), {})


@pytest.mark.promise("The report judges no phase by what the submitting machine did", "how-to/existing-cluster")
def test_what_the_submitting_machine_did_is_not_what_a_foreign_cluster_did(single: StoredRun) -> None:
    run = replace(single, run=replace(single.run, cluster={"kind": "conf", "conf": "/etc/hadoop"}))
    detail = Detail(run)
    assert (detail.limits, detail.roles, detail.foreign("sort")) == ((), {}, None)
    text = " ".join(render_text(build_report([run])).split())
    assert "are out of reach of its probes: what the host did meanwhile is not known" in text


def with_bound(run: StoredRun, metric: str, value: float) -> StoredRun:
    samples = tuple(replace(sample, value=value) if sample.metric == metric else sample for sample in run.samples)
    return replace(run, samples=samples)


def test_a_bound_that_was_exceeded_is_no_bound(single: StoredRun) -> None:
    found = limit(Detail(with_bound(single, "bound_cpu_cores", 0.98)), "sort").loads[0]
    assert found.exceeded == 0.98
    assert found.bound == pytest.approx(2.0, rel=0.01)
    assert found.share is not None
    assert found.share < 1
    disk = limit(Detail(with_bound(single, "bound_disk_write", 1e6)), "sort").loads[1]
    assert (disk.exceeded, disk.bound, disk.share) == (1e6, None, None)
    text = render_text(build_report([with_bound(single, "bound_cpu_cores", 0.98)]))
    assert "CPU on vm: calibration found 0.98 cores, but" in text


@pytest.mark.promise("A rate above its bound is named with its phase and length", "explanation/reading-the-report")
def test_a_series_that_passes_its_bound_in_bursts_is_named(single: StoredRun) -> None:
    run = with_bound(single, "bound_disk_write", 160e6)
    disk = limit(Detail(run), "gen").loads[1]
    assert (disk.bound, disk.exceeded) == (160e6, None), "its mean does not"
    assert disk.highest == pytest.approx(214e6, rel=0.01)
    assert 1 <= disk.burst < 10, "the phase takes eleven seconds"
    text = " ".join(render_text(build_report([run])).split())
    assert "Rates of more than 1.1 times a bound" in text
    assert "disk write of vda on vm" in text
    assert "not what the device can do" in text
    assert "Rates of more than" not in render_text(build_report([single]))


def on_hosts(run: StoredRun, number: int) -> StoredRun:
    """The same run as if so many hosts had done each what its one host did."""
    file = run.path / "series" / "vm.jsonl"
    header, *lines = file.read_text(encoding="utf-8").splitlines()
    memory = '"kind":"machine","memory_total":8000000000,"memory_available":5000000000'
    lines = [line.replace('"kind":"machine"', memory) for line in lines]
    names = [f"h{one:02}" for one in range(number)]
    for name in names:
        own = json.dumps({**json.loads(header), "host": name})
        file.with_stem(name).write_text("\n".join([own, *lines]) + "\n", encoding="utf-8")
    file.unlink()
    bounds = [sample for sample in run.samples if sample.phase == "calibration"]
    others = [sample for sample in run.samples if sample.phase != "calibration"]
    return replace(run, samples=(*others, *(replace(one, host=name) for name in names for one in bounds)))


@pytest.mark.promise("A page about fifty hosts stays readable", "explanation/reading-the-report")
def test_of_many_hosts_the_page_shows_those_that_stand_out(tmp_path: Path) -> None:
    run = on_hosts(with_bound(write_example(tmp_path, Example("many", 0)), "bound_disk_write", 30e6), 50)
    shown = limits_section(Detail(run), "").blocks
    tables = {one.caption.partition(" of ")[0]: one for one in shown if isinstance(one, Table)}
    assert len(tables["Rates"].rows) == 30
    assert "; the 30 longest of " in tables["Rates"].caption
    memory = tables["Memory"]
    assert len(memory.rows) == 12
    assert memory.caption.endswith(", the 12 of 50 that used most")
    exceeded = [one.text for one in shown if isinstance(one, Caveat) and "alibration" in one.text]
    assert len(exceeded) == 13
    assert exceeded[-1] == "Calibration was exceeded as well by 38 other resources of hosts."


def test_the_processors_have_no_bursts(single: StoredRun) -> None:
    cpu = limit(Detail(with_bound(single, "bound_cpu_cores", 0.98)), "sort").loads[0]
    assert (cpu.burst, cpu.highest) == (0.0, None)


def about(load: Load) -> tuple[Any, ...]:
    return load.disks, load.used, load.share


@pytest.mark.promise("Each disk is compared with its own bound", "explanation/reading-the-report")
def test_of_several_disks_each_has_its_own_bound(tmp_path: Path) -> None:
    """The example's disk is `vda`; `sdb` and `sdc` are given twice and three times its bytes."""
    run = write_example(tmp_path, Example("disks", 0))
    whole = limit(Detail(run), "sort").loads[1]
    assert (whole.disks, whole.name) == ("vda", "disk write of vda")
    file = run.path / "series" / "vm.jsonl"
    header, *lines = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    for name, times in (("sdb", 2), ("sdc", 3)):
        lines += [
            {**line, "device": name, "write_bytes": times * line["write_bytes"]}
            for line in lines
            if line.get("device") == "vda"
        ]
    lines.sort(key=lambda line: line["utc"])
    file.write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]), encoding="utf-8")
    measured, other = limit(Detail(run), "sort").loads[1:3]
    assert (measured.disks, measured.used) == ("vda", whole.used)
    assert about(other) == ("sdb+sdc", pytest.approx(5 * whole.used), None)

    def bound(role: str, value: float) -> tuple[Sample, ...]:
        return tuple(
            replace(sample, role=role, value=value) for sample in run.samples if sample.metric == "bound_disk_write"
        )

    rest = tuple(sample for sample in run.samples if sample.metric != "bound_disk_write")
    mixed = replace(run, samples=(*rest, *bound("vda", 4 * whole.used), *bound("sdb+sdc", 5.5 * whole.used)))
    found = limit(Detail(mixed), "sort")
    one, two = (load for load in found.loads if load.resource == "disk write")
    assert about(one) == ("vda", whole.used, pytest.approx(0.25))
    assert about(two) == ("sdb+sdc", pytest.approx(5 * whole.used), pytest.approx(5 / 5.5))
    assert found.verdict == "disk write of sdb+sdc 91 % of its bound: writing to disk limited it"
    together = replace(run, samples=(*rest, *bound("machine", 12 * whole.used)))
    disk = limit(Detail(together), "sort").loads[1]
    assert about(disk) == ("", pytest.approx(6 * whole.used), pytest.approx(0.5))


@pytest.mark.promise("Foreign use of the processors is a caveat", "explanation/reading-the-report")
@pytest.mark.promise("`howdah run`: the terminal has the caveats of the page", "CHANGELOG")
def test_what_else_used_the_processors_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_example(tmp_path, Example("noisy", 0))
    assert (Detail(run).foreign("sort") or 0) < 0.15
    assert "Something else" not in render_text(build_report([run]))
    file = run.path / "series" / "vm.jsonl"
    kept = [line for line in file.read_text().splitlines() if '"nodemanager"' not in line and '"container"' not in line]
    file.write_text("\n".join(kept) + "\n")
    assert (Detail(run).foreign("sort") or 0) < 0.15  # Accounting knows better than the series.
    run = replace(run, samples=tuple(sample for sample in run.samples if sample.metric != "cpu_seconds"))
    assert (Detail(run).foreign("sort") or 0) > 0.8
    text = " ".join(render_text(build_report([run])).split())
    assert "Something else on the machine used much of the processor time of sort" in text
    print_result([run])
    assert "Something else on the machine used much of the processor time of sort" in capsys.readouterr().out


@pytest.mark.promise("Lanes are called by the names of the nodes", "CHANGELOG")
def test_lanes_have_the_names_that_everything_else_has(single: StoredRun) -> None:
    detail = Detail(single)
    entry = detail.jobs[1]
    assert [name for name in build_timeline(single, entry, detail.series).lanes if name] == [
        "127.0.0.2", "127.0.0.3", "127.0.0.4",
    ]  # fmt: skip
    known = {"127.0.0.1": "master", "127.0.0.2": "node1", "127.0.0.3": "node2", "127.0.0.4": "node3"}
    named = replace(single, run=replace(single.run, cluster={**single.run.cluster, "addresses": known}))
    assert [name for name in build_timeline(named, entry, detail.series).lanes if name] == ["node1", "node2", "node3"]
    strange = {"127.0.0.2": "node", "127.0.0.3": "node"}
    same = replace(single, run=replace(single.run, cluster={**single.run.cluster, "addresses": strange}))
    assert len({name for name in build_timeline(same, entry, detail.series).lanes if name}) == 3, (
        "told apart all the same"
    )
