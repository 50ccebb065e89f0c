"""The energy of runs: sums over hosts, what is missing, meters that contradict each other, levels."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from howdah.engine.energy.checks import contradictions
from howdah.engine.energy.later import add_energy
from howdah.engine.energy.readings import metered
from howdah.engine.energy.record import MeasuredEnergy, measure_energy
from howdah.engine.energy.totals import parts_of, totals
from howdah.errors import UsageError
from howdah.model.meter import POWER, SERIES, Meter, encode_meter
from howdah.model.run import Outcome
from howdah.spec.meters import read_meters
from howdah.store import RunWriter, StoredRun, read_run
from tests.unit.report.example_runs import HOST, Example, write_example

Power = Callable[[float], float]


def about(watts: float) -> Power:
    """Power that is so many watts in the mean, and does not stand still."""
    return lambda utc: watts + (1.0 if utc % 2 else -1.0)


def meter(name: str, **own: object) -> Meter:
    usual: dict[str, object] = {
        "source": "test",
        "domain": "node",
        "side": "ac",
        "reading": "mean",
        "interval_seconds": 1.0,
        "accuracy": 0.01,
        "resolution": 0.1,
        "clock": "host",
        "offset_error": 0.0,
        "covers": (HOST,),
        "quality": "measured",
    }
    return Meter(name=name, **{**usual, **own})  # type: ignore[arg-type]


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return write_example(tmp_path, Example("run", 3, speed=0.5))


def with_meters(run: StoredRun, *meters: tuple[Meter, Power]) -> StoredRun:
    """The run with series of meters, a reading a second from before it until after it."""
    assert run.run.end is not None
    start, end = math.floor(run.run.start.utc) - 5, math.ceil(run.run.end.utc) + 5
    writer = RunWriter.reopened(run.path)
    for one, power in meters:
        writer.series(SERIES + one.name, encode_meter(one))
        total = 0.0
        for utc in range(start, end):
            value = power(utc)
            total += value
            column = total if one.reading == "counter" else value
            point = {one.column: column} if value > 0 else {"fault": "0 W"}
            writer.series(SERIES + one.name, {"kind": POWER, "role": POWER, "utc": utc, "monotonic": utc, **point})
    writer.close()
    return read_run(run.path)


def measured(run: StoredRun, hosts: Sequence[str] = (HOST,), **more: object) -> MeasuredEnergy:
    given: dict[str, object] = {"absent": (), "idle": None, "others": None, **more}
    return measure_energy(run, run.samples, hosts, **given)  # type: ignore[arg-type]


def by(found: MeasuredEnergy, metric: str) -> Mapping[tuple[str | None, str], float]:
    return {(one.phase, one.role): one.value for one in found.samples if one.metric == metric}


def test_phases_and_the_whole_run(run: StoredRun) -> None:
    run = with_meters(run, (meter("ipmi"), about(200.0)))
    found = measured(run)
    energies = by(found, "energy")
    seconds = {one.phase: one.value for one in run.samples if one.metric == "job_seconds"}
    assert {phase for phase, _ in energies} == {None, *seconds}
    for phase, time in seconds.items():
        assert energies[phase, "node"] == pytest.approx(200 * time, rel=2e-3)
        assert by(found, "mean_power")[phase, "node"] == pytest.approx(200, rel=2e-3)
        assert by(found, "peak_power")[phase, "node"] == 201
        assert by(found, "energy_delay")[phase, "node"] == pytest.approx(200 * time**2, rel=2e-3)
    rate = next(one.value for one in run.samples if (one.phase, one.metric) == ("sort", "throughput"))
    assert by(found, "work_per_joule")["sort", "node"] == pytest.approx(rate / 200 / 1e6, rel=2e-3)
    assert by(found, "energy_per_tb")["sort", "node"] == pytest.approx(200 / rate * 1e12 / 3600, rel=2e-3)
    assert not found.caveats
    json.dumps(found.record, allow_nan=False)


def test_hosts_add_up_and_their_errors_do_not_add(run: StoredRun) -> None:
    run = with_meters(run, *((meter(f"ipmi@h{n}", covers=(f"h{n}",)), about(100.0 + n)) for n in range(4)))
    hosts = [f"h{n}" for n in range(4)]
    found = measured(run, hosts)
    [whole] = [one for one in found.record["stretches"] if one["phase"] is None]
    [total] = whole["totals"]
    seconds = whole["end"] - whole["start"]
    assert total["joules"] == pytest.approx(406 * seconds, rel=1e-3)
    assert total["half_width"] / total["joules"] == pytest.approx(0.01 / 3**0.5 / 2 * 1.96, rel=0.05), "÷ √4"
    assert total["peak_watts"] == pytest.approx(410)


@pytest.mark.promise("Meters of redundant feeds are added, and one feed alone is no energy", "how-to/energy")
def test_feeds_are_added_and_one_alone_is_no_energy(run: StoredRun) -> None:
    feeds = [meter(f"pdu{n}", domain="pdu", feed=(n, 2)) for n in (1, 2)]
    both = with_meters(run, (feeds[0], about(80.0)), (feeds[1], about(130.0)), (meter("bmc"), about(205.0)))
    found = measured(both)
    [whole] = [one for one in found.record["stretches"] if one["phase"] is None]
    seconds = whole["end"] - whole["start"]
    total = next(one for one in whole["totals"] if one["domain"] == "pdu")
    assert total["joules"] == pytest.approx(210 * seconds, rel=1e-3)
    assert total["meters"] == ["pdu1", "pdu2"]
    assert by(found, "energy")[None, "pdu"] == pytest.approx(210 * seconds, rel=1e-3)
    assert not found.caveats, "the BMC agrees with the sum, and with no feed"


def test_a_feed_without_readings_takes_the_energy_of_the_other(run: StoredRun) -> None:
    feeds = [meter(f"pdu{n}", domain="pdu", feed=(n, 2)) for n in (1, 2)]
    found = measured(with_meters(run, (feeds[0], about(80.0)), (feeds[1], lambda _: 0.0)))
    assert not found.samples
    [whole] = [one for one in found.record["stretches"] if one["phase"] is None]
    assert whole["missing"]["pdu1"] == "of 2 feeds, 1 has an energy"


@pytest.mark.promise("Energy that is not of every host is no sample, and the report says of how many", "how-to/energy")
def test_a_host_without_a_meter_leaves_no_energy(run: StoredRun) -> None:
    found = measured(with_meters(run, (meter("ipmi"), about(200.0))), (HOST, "other"))
    assert not found.samples
    assert "energy by node is of 1 of 2 hosts, and no sample: nothing measured other" in found.caveats


def test_chips_are_no_hosts(run: StoredRun) -> None:
    package = meter("rapl", domain="package", side="chip", reading="counter", accuracy=None)
    memory = meter("dram", domain="dram", side="chip", reading="counter", accuracy=None)
    found = measured(with_meters(run, (package, about(80.0)), (memory, about(20.0))))
    seconds = {one.phase: one.value for one in run.samples if one.metric == "job_seconds"}
    assert by(found, "energy")["sort", "package"] == pytest.approx(100 * seconds["sort"], rel=5e-3)
    assert found.record["level"] == {
        "level": 0,
        "limit": "3: the network is neither measured nor estimated (`others`)",
    }


def test_few_readings_are_enough_for_the_whole_run_alone(run: StoredRun) -> None:
    """A BMC that measures every twenty seconds."""
    assert run.run.end is not None
    writer = RunWriter.reopened(run.path)
    slow = meter("slow", reading="instant", interval_seconds=20.0)
    writer.series(SERIES + "slow", encode_meter(slow))
    for number, utc in enumerate(range(math.floor(run.run.start.utc) - 20, math.ceil(run.run.end.utc) + 21, 20)):
        point = {"kind": POWER, "role": POWER, "utc": utc, "monotonic": utc, "watts": 200.0 + 10 * (number % 3)}
        writer.series(SERIES + "slow", point)
    writer.close()
    found = measured(read_run(run.path))
    assert set(by(found, "energy")) == {(None, "node")}
    [whole] = [one for one in found.record["stretches"] if one["phase"] is None]
    assert 3 <= whole["totals"][0]["readings"] < 10
    assert whole["totals"][0]["half_width"] > 0.01 * whole["totals"][0]["joules"]


@pytest.mark.promise("A reading that does not change while the load does is not believed", "how-to/energy")
def test_a_stuck_meter(run: StoredRun) -> None:
    run = with_meters(run, (meter("stuck"), lambda _: 200.0), (meter("good"), lambda utc: 200.0 + utc % 3))
    found = measured(run)
    problems = {one["name"]: one["problem"] for one in found.record["meters"]}
    assert "did not change" in problems["stuck"]
    assert problems["good"] is None
    assert [one["meters"] for one in found.record["stretches"][0]["totals"]] == [["good"]]


@pytest.mark.promise("A meter that says ten percent too much, among three that do not, is named", "how-to/energy")
def test_one_that_lies(run: StoredRun) -> None:
    wave = [1.0, 1.0, 1.1, 1.0]
    run = with_meters(
        run, *((meter(f"m{n}"), lambda utc, gain=gain: gain * (200 + utc % 5)) for n, gain in enumerate(wave))
    )
    assert run.run.end is not None
    start, end = run.run.start.utc + 1, run.run.end.utc - 1
    parts, _ = parts_of(metered(run), start, end)
    [words] = contradictions(parts, totals(parts, start, end))
    assert words.startswith("m2 is +10.0% off the median of 4 meters")


def test_two_that_disagree(run: StoredRun) -> None:
    run = with_meters(run, (meter("a"), lambda utc: 200 + utc % 5), (meter("b"), lambda utc: 230 + utc % 5))
    assert any(words.startswith("a and b disagree") for words in measured(run).caveats)


def test_a_part_that_takes_more_than_the_whole(run: StoredRun) -> None:
    package = meter("rapl", domain="package", side="chip")
    run = with_meters(run, (package, lambda utc: 300 + utc % 5), (meter("bmc"), lambda utc: 200 + utc % 5))
    assert any(words.startswith("package has more than node") for words in measured(run).caveats)


@pytest.mark.promise("Net energy is energy less idle power, where that is steady", "how-to/energy")
@pytest.mark.parametrize("steady", [True, False])
def test_net_energy(run: StoredRun, steady: bool) -> None:
    begun = run.run.start.utc

    def power(utc: float) -> float:
        return (100.0 + utc % 2 if steady else 100 + 20 * (utc % 29)) if utc < begun + 20 else 300.0 + utc % 3

    found = measured(with_meters(run, (meter("ipmi"), power)), idle=(begun - 4, begun + 18))
    idle = found.record["idle"]
    assert idle["subtracted"] is steady
    assert not idle["claim"], "ten minutes are needed"
    net = by(found, "net_energy")
    assert bool(net) is steady
    if steady:
        seconds = next(one.value for one in run.samples if (one.phase, one.metric) == ("sort", "job_seconds"))
        expected = by(found, "energy")["sort", "node"] - idle["watts"]["node"] * seconds
        assert net["sort", "node"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("own", "given", "level", "limit"),
    [
        ({"quality": "simulated"}, {}, 0, "simulated"),
        ({}, {}, 0, "3: the network"),
        ({"accuracy": None}, {"others": 100.0}, 0, "4b: the accuracy"),
        ({"accuracy": 0.08}, {"others": 100.0}, 0, "4b: a meter of 5 %"),
        ({"side": "dc"}, {"others": 100.0}, 0, "4: measured behind"),
        ({}, {"others": 100.0}, 1, "1c: idle power"),
        ({"domain": "pdu"}, {}, 1, "1c: idle power"),
    ],
)
def test_levels(run: StoredRun, own: dict[str, object], given: dict[str, float], level: int, limit: str) -> None:
    assert run.run.end is not None
    assert run.run.end.utc - run.run.start.utc > 60
    found = measured(with_meters(run, (meter("m", **own), about(200.0))), **given).record["level"]  # type: ignore[arg-type]
    assert found["level"] == level
    assert found["limit"].startswith(limit)


@pytest.mark.promise("Of two passes of HS, the slower one's energy per TB counts", "how-to/energy")
def test_the_slower_of_two_passes_counts(run: StoredRun) -> None:
    """The phases of the example, as if `gen` and `sort` were a pass each."""
    phases = tuple(
        replace(phase, name=name) for phase, name in zip(run.run.phases, ("gen-1", "gen-2", "other"), strict=True)
    )
    seconds = {"pass-1": 20.0, "pass-2": 40.0}
    first = run.samples[0]
    passes = [
        replace(first, metric="hs_seconds", value=value, unit="s", phase=phase) for phase, value in seconds.items()
    ]
    run = with_meters(run, (meter("ipmi"), about(200.0)))
    hs = replace(run, run=replace(run.run, phases=phases), samples=tuple(passes))
    found = by(measured(hs), "energy_per_tb")
    spans = {f"pass-{n}": phase.end.utc - phase.start.utc for n, phase in enumerate(phases, 1) if phase.end}
    size = (run.run.dataset or {})["bytes"] / 1e12
    for name in seconds:
        assert found[name, "node"] == pytest.approx(200 * spans[name] / 3600 / size, rel=5e-3)
    assert found["slower", "node"] == found["pass-2", "node"]


CSV = """
meters:
  - { kind: csv, name: pdu, file: "%s", time: Time, format: "%%Y-%%m-%%d %%H:%%M:%%S", zone: %s, value: Watts,
      unit: kW, reading: mean, interval: 1, accuracy: 2%%, covers: [vm] }
"""


def exported(run: StoredRun, place: Path, zone: str = "UTC", shift: int = 0) -> Path:
    """A file of meters, and what it names: a CSV with a reading a second of the time of the run."""
    assert run.run.end is not None
    lines = ["Time,Watts"]
    for utc in range(math.floor(run.run.start.utc) - 9, math.ceil(run.run.end.utc) + 9):
        at = datetime.fromtimestamp(utc + shift, ZoneInfo(zone))
        lines.append(f'{at:%Y-%m-%d %H:%M:%S},"0.{200 + utc % 5}"')
    (place / "power.csv").write_text("\n".join(lines) + "\n")
    (place / "meters.yaml").write_text(CSV % (place / "power.csv", zone))
    return place / "meters.yaml"


@pytest.mark.promise("Readings in a CSV file are added to a run that has ended", "how-to/energy")
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_readings_of_a_csv_file_are_added_later(run: StoredRun, tmp_path: Path, zone: str) -> None:
    before = len(run.samples)
    add_energy(run.path, read_meters(exported(run, tmp_path, zone)))
    again = read_run(run.path)
    assert not again.problems
    added = [one for one in again.samples[before:] if (one.metric, one.phase) == ("energy", "sort")]
    seconds = next(one.value for one in run.samples if (one.phase, one.metric) == ("sort", "job_seconds"))
    assert [one.value for one in added] == [pytest.approx(202 * seconds, rel=0.02)]
    assert {one.quality for one in again.samples[before:]} == {"imported", "derived"}
    assert {metric.name for metric in again.run.metrics} >= {"energy", "mean_power"}
    with pytest.raises(UsageError, match="has energy already"):
        add_energy(run.path, read_meters(tmp_path / "meters.yaml"))


def test_a_run_whose_meters_were_absent_says_so_and_stays_as_it_is(run: StoredRun, tmp_path: Path) -> None:
    writer = RunWriter.reopened(run.path)
    writer.keep_json("energy.json", measured(run, absent=["rapl on vm: no counters"]).record)
    writer.close()
    with pytest.raises(UsageError, match="was made with --meters, none of which was there"):
        add_energy(run.path, read_meters(exported(run, tmp_path)))
    assert not list((run.path / "series").glob("power-*"))


def test_readings_of_another_day_add_nothing(run: StoredRun, tmp_path: Path) -> None:
    before = sorted(run.path.rglob("*")), (run.path / "run.json").read_bytes()
    with pytest.raises(UsageError, match="no reading of the time of the run"):
        add_energy(run.path, read_meters(exported(run, tmp_path, shift=86_400)))
    assert before == (sorted(run.path.rglob("*")), (run.path / "run.json").read_bytes())


def test_only_valid_runs_and_meters_that_keep_their_readings(tmp_path: Path) -> None:
    failed = write_example(tmp_path, Example("failed", 3, Outcome("failed", "the sort job failed")))
    (tmp_path / "now.yaml").write_text("meters: [{kind: rapl}]\n")
    with pytest.raises(UsageError, match="only a valid run has energy"):
        add_energy(failed.path, read_meters(tmp_path / "now.yaml"))
    run = write_example(tmp_path, Example("valid", 3))
    with pytest.raises(UsageError, match="rapl knows only what is drawn now"):
        add_energy(run.path, read_meters(tmp_path / "now.yaml"))


@pytest.mark.promise("A time that is there twice, as clocks were put back, is refused", "how-to/energy")
@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("2026-10-25 02:30:00", "line 2: 2026-10-25 02:30:00 is there twice in Europe/Berlin"),
        ("2026-03-29 02:30:00", "line 2: 2026-03-29 02:30:00 is not there in Europe/Berlin"),
        ("yesterday", "line 2: 'yesterday' is not written as"),
    ],
)
def test_times_that_cannot_be_told(run: StoredRun, tmp_path: Path, time: str, message: str) -> None:
    meters = exported(run, tmp_path, "Europe/Berlin")
    (tmp_path / "power.csv").write_text(f"Time,Watts\n{time},0.2\n")
    with pytest.raises(UsageError) as caught:
        add_energy(run.path, read_meters(meters))
    assert message in str(caught.value)
