"""What a host says of its own power, from files as kernels have them and from what programs print."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from howdah.host.agent.power import run
from howdah.host.agent.power_programs import parse_dcmi
from howdah.host.agent.power_reader import ReaderPlaces
from howdah.host.agent.power_slurm import SlurmMeter, parse_sstat
from tests.children import children

IPMITOOL = """
    Instantaneous power reading:                   {watts} Watts
    Minimum during sampling period:                162 Watts
    Maximum during sampling period:                276 Watts
    Average power reading over sample period:      176 Watts
    IPMI timestamp:                           Wed Feb 15 12:49:51 2017
    Sampling period:                          01131466 Seconds.
    Power reading state is:                   {state}
"""
FREEIPMI = """Current Power                        : 90 Watts
Average Power over sampling duration : 89 watts
Power Measurement                    : Active
"""
IPMIUTIL = """  Current Power:                   49 Watts
  Avg Power over sample duration:  48 Watts
  Power reading state is:          active
"""


@pytest.mark.promise("A BMC's reading that is none is absent, never 0 W", "how-to/energy")
@pytest.mark.parametrize(
    ("text", "point"),
    [
        (IPMITOOL.format(watts=215, state="activated"), {"watts": 215.0}),
        (IPMITOOL.format(watts=0, state="deactivated"), {"fault": "the BMC's power reading is deactivated"}),
        (IPMITOOL.format(watts=0, state="activated"), {"fault": "0 W"}),
        (FREEIPMI, {"watts": 90.0}),
        (IPMIUTIL, {"watts": 49.0}),
        ("", {"fault": "the BMC's answer has no power reading"}),
        ("DCMI request failed because: Invalid command (c1)", {"fault": "the BMC's answer has no power reading"}),
    ],
)
def test_what_programs_print(text: str, point: dict[str, Any]) -> None:
    assert parse_dcmi(text) == point


def program(argv: list[str], timeout: float, *_: Any) -> dict[str, Any]:
    """As `Children.run`, without a thread that reaps this process's children."""
    done = subprocess.run(argv, capture_output=True, check=False, timeout=timeout)
    return {"code": done.returncode, "cpu_seconds": 0.0, "stdout": done.stdout, "stderr": done.stderr}


class Machine:
    """Directories with the files of /sys and /proc that readers look at."""

    def __init__(self, path: Path) -> None:
        self.sys, self.proc = path / "sys", path / "proc"
        self.proc.mkdir()

    def zone(self, zone: str, name: str, joules: float, wrap: float = 1000.0) -> Path:
        place = self.sys / "class/powercap" / zone
        place.mkdir(parents=True, exist_ok=True)
        (place / "name").write_text(f"{name}\n")
        (place / "max_energy_range_uj").write_text(f"{round(wrap * 1e6) - 1}\n")
        (place / "energy_uj").write_text(f"{round(joules * 1e6)}\n")
        return place

    def hwmon(self, name: str, **files: str) -> Path:
        place = self.sys / "class/hwmon/hwmon3"
        place.mkdir(parents=True, exist_ok=True)
        (place / "name").write_text(f"{name}\n")
        for file, content in files.items():
            (place / file).write_text(f"{content}\n")
        return place

    def watch(self, *sources: dict[str, Any], between: Any = None) -> list[dict[str, Any]]:
        """What is emitted of `sources`, while `between` happens after the first readings."""
        records: list[dict[str, Any]] = []
        stop = threading.Event()
        given = [{"interval": 0.1, "accuracy": None, **source} for source in sources]

        def work() -> None:
            run(records.extend, stop, sources=given, program=program, sys=str(self.sys), proc=str(self.proc))

        thread = threading.Thread(target=work)
        thread.start()
        deadline = time.monotonic() + 10
        while not any("utc" in one or "absent" in one for one in list(records)):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        if between is not None:
            between()
        time.sleep(0.25)
        stop.set()
        thread.join(10)
        assert not thread.is_alive()
        return records


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def headers(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["meter"]: one["header"] for one in records if "header" in one}


def values(records: list[dict[str, Any]], meter: str, column: str) -> list[float]:
    return [one[column] for one in records if one.get("meter") == meter and column in one]


def test_rapl_has_packages_and_memory_and_no_part_twice(machine: Machine) -> None:
    for zone, name in (
        ("intel-rapl:0", "package-0"),
        ("intel-rapl:0:0", "core"),
        ("intel-rapl:0:1", "dram"),
        ("intel-rapl:1", "package-1"),
        ("intel-rapl:2", "psys"),
        ("intel-rapl-mmio:0", "package-0"),
    ):
        machine.zone(zone, name, 5.0)
    found = headers(machine.watch({"kind": "rapl"}))
    domains = {name: (header["domain"], header["side"]) for name, header in found.items()}
    assert domains == {
        "rapl-package-0": ("package", "chip"),
        "rapl-package-1": ("package", "chip"),
        "rapl-dram-0": ("dram", "chip"),
        "rapl-psys-2": ("node", "dc"),
    }
    assert {header["reading"] for header in found.values()} == {"counter"}


@pytest.mark.promise("A counter of RAPL that begins again goes on", "how-to/energy")
def test_a_counter_that_begins_again_goes_on(machine: Machine) -> None:
    machine.zone("intel-rapl:0", "package-0", 999.0)
    records = machine.watch({"kind": "rapl"}, between=lambda: machine.zone("intel-rapl:0", "package-0", 6.0))
    joules = values(records, "rapl-package-0", "joules")
    assert joules[0] == 0
    assert joules[-1] == pytest.approx(7.0)
    assert joules == sorted(joules)


def test_no_rapl_is_absent(machine: Machine) -> None:
    record, _ = machine.watch({"kind": "rapl"})
    assert record["absent"] == "rapl"
    assert "no RAPL counters" in record["why"]


def test_rapl_that_cannot_be_read_is_absent(machine: Machine) -> None:
    counter = machine.zone("intel-rapl:0", "package-0", 1.0) / "energy_uj"
    counter.unlink()
    counter.mkdir()  # As root, which tests may be run by, a file's mode would forbid nothing.
    record, _ = machine.watch({"kind": "rapl"})
    assert record["absent"] == "rapl"
    assert "energy_uj" in record["why"]


def test_a_counter_that_vanishes_is_a_fault(machine: Machine) -> None:
    place = machine.zone("intel-rapl:0", "package-0", 1.0)
    records = machine.watch({"kind": "rapl"}, between=(place / "energy_uj").unlink)
    assert any("fault" in one and "energy_uj" in one["fault"] for one in records)


def test_the_power_meter_of_acpi(machine: Machine) -> None:
    place = machine.hwmon(
        "power_meter", power1_average="215000000", power1_average_interval="1000", power1_accuracy="98.5%"
    )
    records = machine.watch({"kind": "hwmon"}, between=lambda: (place / "power1_average").write_text("0\n"))
    [header] = headers(records).values()
    assert (header["reading"], header["interval_seconds"], header["domain"]) == ("mean", 1.0, "node")
    assert header["accuracy"] == pytest.approx(0.015)
    assert values(records, "hwmon-hwmon3", "watts")[0] == 215.0
    assert 0.0 not in values(records, "hwmon-hwmon3", "watts")
    assert any(one.get("fault") == "0 W" for one in records)


def test_other_sensors_are_no_power_meter(machine: Machine) -> None:
    machine.hwmon("amdgpu", power1_average="30000000")
    record, _ = machine.watch({"kind": "hwmon"})
    assert record["absent"] == "hwmon"


def test_a_simulated_meter_follows_the_processors(machine: Machine) -> None:
    stat = machine.proc / "stat"
    stat.write_text("cpu  0 0 0 1000 0 0 0 0 0 0\n")
    records = _busy(machine, stat)
    joules = values(records, "simulated", "joules")
    assert joules[0] == 0
    assert joules == sorted(joules)
    times = [one["monotonic"] for one in records if "joules" in one]
    grown = next(at for at, value in enumerate(joules) if value)
    assert 200 * (times[grown] - times[grown - 1]) <= joules[grown] <= 201 * (times[grown] - times[0] + 0.1)
    assert headers(records)["simulated"]["quality"] == "simulated"


def _busy(machine: Machine, stat: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    stop = threading.Event()
    source = {"kind": "simulated", "idle": "100", "busy": "300", "interval": 0.1, "accuracy": None}
    where = {"sys": str(machine.sys), "proc": str(machine.proc)}
    thread = threading.Thread(target=lambda: run(records.extend, stop, sources=[source], program=program, **where))
    thread.start()
    while not values(list(records), "simulated", "joules"):
        time.sleep(0.01)
    (fresh := stat.with_suffix(".new")).write_text("cpu  50 0 0 1050 0 0 0 0 0 0\n")
    fresh.replace(stat)
    time.sleep(0.3)
    stop.set()
    thread.join(10)
    return records


@pytest.mark.parametrize("kind", ["ipmi", "snmp"])
def test_a_program_that_is_missing_is_absent(machine: Machine, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("PATH", str(machine.proc))
    record, _ = machine.watch({"kind": kind, "address": "192.0.2.1", "oid": "1.3.6"})
    assert record["absent"] == kind
    assert record["why"].endswith("No such file or directory")


def test_a_program_that_hangs_holds_up_nobody(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    program = machine.proc / "ipmitool"
    said = IPMITOOL.format(watts=215, state="activated")
    program.write_text(
        f"#!/bin/sh\nwhile read -r asked; do [ ! -e $0.hang ] || exec sleep 600; cat <<EOT\n{said}\nEOT\ndone\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine.proc}:{os.environ['PATH']}")
    begun = time.monotonic()
    records = machine.watch({"kind": "ipmi"}, between=(machine.proc / "ipmitool.hang").touch)
    assert time.monotonic() - begun < 8
    assert values(records, "ipmi", "watts")[0] == 215.0
    assert any("did not answer" in one.get("fault", "") for one in records)
    assert not [pid for pid in children() if b"600" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]


@pytest.mark.parametrize(
    ("text", "joules"),
    [("123456\n", 123456.0), ("0\n", 0.0), ("18446744073709551614\n", 0.0), ("18446744073709551615\n", 0.0)],
)
def test_energy_that_slurm_counts(text: str, joules: float) -> None:
    assert parse_sstat(text) == joules


@pytest.mark.parametrize("text", ["", "1\n2\n", "1.5K\n", "slurm_load_jobs error"])
def test_other_words_of_slurm_are_no_energy(text: str) -> None:
    with pytest.raises(ValueError, match="no energy of one step"):
        parse_sstat(text)


class Accounting:
    """Slurm's commands: its configuration, and what sstat says, one after the other."""

    def __init__(self, plugin: str, *said: str) -> None:
        self.plugin, self.said = plugin, iter(said)

    def __call__(self, argv: list[str], *_: Any) -> dict[str, Any]:
        text = f"AcctGatherEnergyType    = {self.plugin}\n" if argv[0] == "scontrol" else next(self.said, "")
        return {"code": 0 if text else 1, "cpu_seconds": 0.5, "stdout": text.encode(), "stderr": b"a\nno such step\n"}


def slurm_of(monkeypatch: pytest.MonkeyPatch, plugin: str, *said: str, hosts: int = 2) -> SlurmMeter:
    for name, value in {"JOB_ID": "17", "STEP_ID": "0", "STEP_NUM_NODES": "2"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    place = ReaderPlaces("/sys", "/proc", threading.Event(), Accounting(plugin, *said))
    return SlurmMeter({"kind": "slurm", "interval": 10, "run_hosts": hosts}, place)


@pytest.mark.promise("Slurm's energy is read when it changes, and absent where Slurm counts none", "how-to/energy")
def test_energy_of_a_step_of_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = slurm_of(monkeypatch, "acct_gather_energy/ipmi", "0\n", "500\n", "500\n", "900\n")
    [header] = reader.meters
    assert {name: header[name] for name in ("source", "domain", "side", "reading", "offset_error")} == {
        "source": "sstat 17.0",
        "domain": "node",
        "side": "ac",
        "reading": "counter",
        "offset_error": 10.0,
    }
    said = [list(reader.read()) for _ in range(4)]
    assert said == [[("slurm", {"fault": "0 J"})], [("slurm", {"joules": 500})], [], [("slurm", {"joules": 900})]]
    with pytest.raises(ValueError, match="sstat ended with code 1: no such step"):
        list(reader.read())
    assert reader.program_seconds == 3.0


def test_what_is_missing_or_was_read_once_has_begun(machine: Machine) -> None:
    machine.zone("intel-rapl:0", "package-0", 1.0)
    records = machine.watch({"kind": "rapl"}, {"kind": "hwmon"})
    before = records[: records.index({"begun": True})]
    assert any("absent" in one for one in before)
    assert values(before, "rapl-package-0", "joules")
    assert records.count({"begun": True}) == 1


def test_a_slurm_without_energy_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"AcctGatherEnergyType of this Slurm is \(null\)"):
        slurm_of(monkeypatch, "(null)")
    with pytest.raises(ValueError, match="is gpu: it has no energy of nodes"):
        slurm_of(monkeypatch, "acct_gather_energy/gpu")
    with pytest.raises(ValueError, match="the step has 2 nodes, and the run 3 hosts"):
        slurm_of(monkeypatch, "acct_gather_energy/ipmi", hosts=3)
    monkeypatch.delenv("SLURM_STEP_ID", raising=False)
    with pytest.raises(ValueError, match="the agents are in no step of a job"):
        SlurmMeter(
            {"kind": "slurm", "interval": 10, "run_hosts": 2}, ReaderPlaces("/sys", "/proc", threading.Event(), program)
        )
