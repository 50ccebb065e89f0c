"""Defects of workloads: what is verified, what is read back, what data is used again."""

from __future__ import annotations

from tests.defects.defect import Defect

_TERASORT = "src/howdah/workload/terasort.py"
_JOBS = "tests/faults/test_jobs.py"

DEFECTS = (
    Defect(
        name="checksum-not-compared",
        promise="The checksum of a TeraSort's output is compared with that of its input, always.",
        file=_TERASORT,
        old='return order, Check("checksum", expected == found,',
        new='return order, Check("checksum", found > 0,',
        tests=("tests/unit/workload/test_terasort.py::test_lost_rows_are_seen_even_if_the_rest_is_in_order",),
    ),
    Defect(
        name="disorder-validated",
        promise="A TeraSort whose output is not in order is invalid and has no numbers.",
        file=_TERASORT,
        old='order = Check("order", not errors and whole,',
        new='order = Check("order", whole,',
        tests=(f"{_JOBS}::test_output_that_is_not_sorted",),
    ),
    Defect(
        name="settings-not-read-back",
        promise="A setting that did not take effect makes a run invalid.",
        file="src/howdah/engine/evidence/readback.py",
        old="        if values and value.strip() not in values:",
        new="        if len(values) > 1 and value.strip() not in values:",
        tests=(f"{_JOBS}::test_a_setting_that_a_program_overrides",),
    ),
    Defect(
        name="containers-logs-lost",
        promise="A run that failed keeps the logs of its containers.",
        file="src/howdah/engine/evidence/surroundings.py",
        old='if applications is not None and application["name"] not in applications:',
        new='if applications is None or application["name"] in applications:',
        tests=(f"{_JOBS}::test_tasks_that_die",),
    ),
    Defect(
        name="job-that-waits-for-ever",
        promise="A job that no node could ever hold is refused before it is submitted.",
        file="src/howdah/hadoop/configuration/sizing.py",
        old='"mapreduce.map.cpu.vcores", "mapreduce.reduce.cpu.vcores"):',
        new='"mapreduce.reduce.cpu.vcores"):',
        tests=(f"{_JOBS}::test_a_job_that_could_never_be_scheduled[mapreduce.map.cpu.vcores-1000]",),
    ),
    Defect(
        name="wrong-pi-accepted",
        promise="Up to a million points, Pi is verified to the very number.",
        file="src/howdah/workload/pi.py",
        old='return Check("answer", inside == expected,',
        new='return Check("answer", abs(inside - expected) <= 1,',
        tests=("tests/unit/workload/test_pi.py::test_up_to_a_million_points_the_answer_must_be_the_very_number",),
    ),
    Defect(
        name="missing-counter-is-right",
        promise="What was not counted is not right.",
        file="src/howdah/workload/counts.py",
        old="return None not in counted and len(set(counted)) == 1",
        new="return len({*counted} - {None}) <= 1",
        tests=("tests/unit/workload/test_sort.py::test_what_was_not_counted_is_not_right",),
    ),
    Defect(
        name="damaged-data-used-again",
        promise="Kept data with a file missing, or one too many, is made again.",
        file="src/howdah/engine/run/datasets.py",
        old="for name in sorted(stored.keys() | now.keys()):",
        new="for name in sorted(stored.keys() & now.keys()):",
        tests=("tests/unit/engine/run/test_datasets.py::test_a_missing_or_additional_file_is_noticed",),
    ),
    Defect(
        name="disk-filled-by-spills",
        promise="Data that does not fit the disk, map outputs included, is refused before anything is started.",
        file="src/howdah/engine/measurement/preflight.py",
        old="parts = ((work, size + between),) if together",
        new="parts = ((work, size),) if together",
        tests=("tests/unit/engine/measurement/test_preflight.py::test_what_is_on_one_disk_adds_up",),
    ),
    Defect(
        name="misplaced-record-unseen",
        promise="The check of the sort workload sees every record in the wrong file.",
        file="java/workloads/src/main/java/org/howdah/workloads/SortCheck.java",
        old="partitioner.getPartition(key, value, partitions) == partition ? 0 : 1;",
        new="partition < partitions ? 0 : 1;",
        tests=("workloads:SortCheckTest#everyErrorIsSeen",),
    ),
)
