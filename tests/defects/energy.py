"""Defects of energy."""

from __future__ import annotations

from tests.defects.defect import Defect

_READERS = "tests/unit/host/test_power.py"
_ENERGY = "tests/unit/engine/energy/test_energy.py"

DEFECTS = (
    Defect(
        name="counter-begins-again",
        promise="A counter of RAPL that begins again goes on.",
        file="src/howdah/host/agent/power_files.py",
        old="            total += (now - before) % wrap",
        new="            total += now - before",
        tests=(f"{_READERS}::test_a_counter_that_begins_again_goes_on",),
    ),
    Defect(
        name="deactivated-meter-is-zero",
        promise="A BMC's reading that is none is absent, never 0 W.",
        file="src/howdah/host/agent/power_programs.py",
        old='    return {"watts": float(watts)} if watts > 0 else {"fault": "0 W"}',
        new='    return {"watts": float(watts)}',
        tests=(f"{_READERS}::test_what_programs_print",),
    ),
    Defect(
        name="energy-of-some-hosts",
        promise="Energy that is not of every host is no sample.",
        file="src/howdah/engine/energy/record.py",
        old="            if set(one.hosts) == set(hosts):",
        new="            if one.hosts:",
        tests=(f"{_ENERGY}::test_a_host_without_a_meter_leaves_no_energy",),
    ),
    Defect(
        name="stuck-meter",
        promise="A reading that does not change while the load does is not believed.",
        file="src/howdah/engine/energy/readings.py",
        old="    if stuck is not None:",
        new="    if stuck == meter.name:",
        tests=(f"{_ENERGY}::test_a_stuck_meter",),
    ),
    Defect(
        name="uncertainty-too-small",
        promise="Nineteen of twenty energies are within what is stated.",
        file="src/howdah/stats/energy.py",
        old="    normal = math.hypot(*budget.values())",
        new="    normal = math.hypot(*budget.values()) / 10",
        tests=("tests/unit/stats/test_energy.py::test_stated_intervals_have_the_truth",),
    ),
    Defect(
        name="hour-that-is-there-twice",
        promise="A time that is there twice, as clocks were put back, is refused.",
        file="src/howdah/probe/power/imported.py",
        old="        if first.utcoffset() != second.utcoffset():",
        new="        if first.utcoffset() is None:",
        tests=(f"{_ENERGY}::test_times_that_cannot_be_told",),
    ),
)
