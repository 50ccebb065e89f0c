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
    Defect(
        name="one-feed-for-all",
        promise="One of several feeds alone is no energy of its hosts.",
        file="src/howdah/engine/energy/totals.py",
        old="        if len(supply.parts) == feeds:",
        new="        if feeds:",
        tests=(f"{_ENERGY}::test_a_feed_without_readings_takes_the_energy_of_the_other",),
    ),
    Defect(
        name="slurm-repeats-itself",
        promise="Slurm's energy is a reading only when it has changed.",
        file="src/howdah/host/agent/power_slurm.py",
        old="        elif joules != self._before:",
        new="        else:",
        tests=(f"{_READERS}::test_energy_of_a_step_of_slurm",),
    ),
    Defect(
        name="slurm-without-end",
        promise="A valid run waits for the last value of Slurm, so that all of it has an energy.",
        file="src/howdah/probe/power/__init__.py",
        old="            while self._newest[meter] < now and time.monotonic() < until:",
        new="            while not until:",
        tests=("tests/unit/probe/test_clocks.py::test_a_whole_run_waits_for_the_last_value_of_slurm",),
    ),
    Defect(
        name="other-meters-no-error",
        promise="Errors of different meters widen the interval of a ratio of energies.",
        file="src/howdah/stats/compare.py",
        old="    half = math.hypot(t_quantile(1 - level / 2, freedom) * math.sqrt(sum(errors)), apart)",
        new="    half = t_quantile(1 - level / 2, freedom) * math.sqrt(sum(errors))",
        tests=(
            "tests/unit/stats/test_compare.py::"
            "test_what_repeating_does_not_show_widens_the_interval_and_holds_back_the_verdict",
        ),
    ),
    Defect(
        name="history-by-the-bmc-clock",
        promise="Means that a BMC of HPE keeps are read by its clock.",
        file="src/howdah/probe/power/redfish.py",
        old="                means = [(there - ahead, watts) for there, watts in place.means(self._get)]",
        new="                means = [(there, watts) for there, watts in place.means(self._get)]",
        tests=("tests/unit/probe/test_places.py::test_a_history_is_read_to_the_end_of_the_run",),
    ),
)
