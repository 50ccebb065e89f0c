"""Defects of run directories, and of the locks by which commands keep out of each other's way."""

from __future__ import annotations

from tests.defects.defect import Defect

_WRITER, _READER = "src/howdah/store/writer.py", "src/howdah/store/reader.py"
_DIRECTORY = "tests/unit/store/test_run_directory.py"

DEFECTS = (
    Defect(
        name="run-readable-by-all",
        promise="A run directory is readable by its owner only.",
        file=_WRITER,
        old="self.path.mkdir(mode=0o700)",
        new="self.path.mkdir()",
        tests=(f"{_DIRECTORY}::test_only_the_owner_may_look",),
    ),
    Defect(
        name="kept-file-replaced",
        promise="A file that a run has kept is never written over.",
        file=_WRITER,
        old='target.open("xb")',
        new='target.open("wb")',
        tests=(f"{_DIRECTORY}::test_kept_files_are_never_replaced",),
    ),
    Defect(
        name="nan-is-a-measurement",
        promise="A number that is not finite is no measurement and is not written.",
        file=_WRITER,
        old='json.dumps(record, separators=(",", ":"), allow_nan=False)',
        new='json.dumps(record, separators=(",", ":"))',
        tests=(f"{_DIRECTORY}::test_a_number_that_is_none_is_not_written",),
    ),
    Defect(
        name="cut-off-samples-not-said",
        promise="Samples that a crash has cut off are read up to the cut, and the cut is named.",
        file=_READER,
        old="            return every, bool(rest)",
        new="            return every, False",
        tests=(f"{_DIRECTORY}::test_samples_cut_at_any_byte",),
    ),
    Defect(
        name="newer-schema-guessed",
        promise="A run directory of a newer schema is refused.",
        file=_READER,
        old="if schema > layout.SCHEMA:",
        new="if schema > layout.SCHEMA + 1:",
        tests=(f"{_DIRECTORY}::test_a_newer_schema_is_refused",),
    ),
    Defect(
        name="killed-run-goes-on",
        promise="A run whose process was killed is shown as aborted.",
        file=_READER,
        old="    return holder_of(path / layout.LOCK) is None",
        new="    return not (path / layout.LOCK).exists()",
        tests=(f"{_DIRECTORY}::test_a_running_run_that_nobody_writes_any_more_is_aborted",),
    ),
    Defect(
        name="identity-depends-on-order",
        promise="Runs of the same settings are replicates, in whatever order the settings were given.",
        file="src/howdah/model/run.py",
        old='sort_keys=True, separators=(",", ":"))',
        new='separators=(",", ":"))',
        tests=("tests/unit/model/test_trial.py::test_order_and_storage_do_not_matter",),
    ),
    Defect(
        name="experiments-not-locked",
        promise="One machine runs one experiment at a time, whoever starts it.",
        file="src/howdah/store/experiment.py",
        old="        if not lock_file(handle, wait=False):",
        new="        if False:",
        tests=("tests/unit/store/test_locks.py::test_two_people_cannot_measure_one_machine",),
    ),
)
