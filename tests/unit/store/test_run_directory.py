"""Writing and reading a run directory: nothing that was written is lost, and a crash at any byte is survived."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import HostProblem, UsageError
from howdah.model.environment import Environment
from howdah.model.run import Outcome
from howdah.store import RunWriter, read_run
from howdah.store.reader import read_identity
from tests.unit.store import values

_WRITES_AND_DIES = """
import os, signal, sys
from pathlib import Path
from howdah.store import RunWriter
from tests.unit.store import values
writer = RunWriter(Path(sys.argv[1]), values.run("three", outcome="running"))
os.kill(os.getpid(), signal.SIGKILL)
"""
ENVIRONMENT = Environment({"vm": {"processors": 2}}, {"version": "3.4.2"})


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A whole, valid run with three samples."""
    writer = RunWriter(tmp_path, values.run())
    writer.environment({"before": ENVIRONMENT})
    writer.samples([values.sample(1.0), values.sample(2.0), values.sample(3.0)])
    writer.close()
    return writer.path


@given(values.RUN, st.lists(values.SAMPLE, max_size=3), values.ENVIRONMENT)
def test_what_was_written_is_read(run, samples, environment):
    with TemporaryDirectory() as root:
        writer = RunWriter(Path(root), replace(run, id="one"))
        writer.environment({"before": environment, "after": environment})
        for sample in samples:
            writer.samples([sample])
        stored = read_run(writer.path)
        writer.close()
    assert stored.run == replace(run, id="one")
    assert stored.samples == tuple(samples)
    assert stored.environment == {"before": environment, "after": environment}
    assert bool(stored.problems) == (run.outcome.kind == "valid" and not samples)


@pytest.mark.promise("`run.json` is replaced whole after every step", "reference/run-directory")
def test_save_replaces_run_json_whole(written: Path, tmp_path: Path):
    writer = RunWriter(tmp_path, values.run("two", outcome="running"))
    before = (writer.path / "run.json").stat().st_ino
    writer.save(values.run("two", outcome="failed", reason="disk full"))
    assert read_identity(writer.path).outcome == Outcome("failed", "disk full")
    # A new file under the old name: a reader that had it open still has the old one whole.
    assert (writer.path / "run.json").stat().st_ino != before
    writer.close()
    assert {path.name for path in writer.path.iterdir()} == {"run.json", "conf", "series", "jobs", "logs"}


@pytest.mark.promise("A `running` run without its lock is read as `aborted`", "reference/run-directory")
def test_a_running_run_that_nobody_writes_any_more_is_aborted(tmp_path: Path):
    writer = RunWriter(tmp_path, values.run("two", outcome="running"))
    assert read_identity(writer.path).outcome == Outcome("running")
    with subprocess.Popen([sys.executable, "-c", _WRITES_AND_DIES, tmp_path]) as killed:
        killed.wait()
    writer.close()
    for left in ("two", "three"):
        outcome = read_identity(tmp_path / left).outcome
        assert (outcome.kind, outcome.reason) == ("aborted", "the process that ran it ended before the run did")


@pytest.mark.promise("What a cluster keeps is readable by its owner only", "issue 2")
def test_only_the_owner_may_look(written: Path):
    assert written.stat().st_mode & 0o777 == 0o700


@pytest.mark.promise(
    "A directory that is cut off or damaged is a problem with a name, not a crash", "reference/run-directory"
)
def test_samples_cut_at_any_byte(written: Path):
    file = written / "samples.jsonl"
    content = file.read_bytes()
    for length in range(len(content) + 1):
        file.write_bytes(content[:length])
        stored = read_run(written)
        whole = content[:length].count(b"\n")
        assert [sample.value for sample in stored.samples] == [1.0, 2.0, 3.0][:whole]
        assert any("cut off" in problem for problem in stored.problems) == (
            length > 0 and content[length - 1 :][:1] != b"\n"
        )


@pytest.mark.parametrize("line", [b"\0" * 64, b"7", b"[]", b"{}", b'{"metric": "x"}', b"\xff\xfe"])
def test_a_damaged_sample_ends_the_reading_and_is_told(written: Path, line: bytes):
    file = written / "samples.jsonl"
    first, second, third = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + line + b"\n" + second + third)
    stored = read_run(written)
    assert [sample.value for sample in stored.samples] == [1.0]
    assert stored.problems == ("samples.jsonl is cut off or damaged after line 1; nothing after it was read",)


@pytest.mark.parametrize("at", [1, 10, 40])
def test_a_line_that_is_broken_in_two_is_not_mended(written: Path, at: int):
    """With a comma between them, two such halves may be a whole object."""
    file = written / "samples.jsonl"
    first, second, third = file.read_bytes().splitlines(keepends=True)
    comma = second.index(b",", at)
    file.write_bytes(first + second[:comma] + b"\n" + second[comma + 1 :] + third)
    stored = read_run(written)
    assert [sample.value for sample in stored.samples] == [1.0]
    assert len(stored.problems) == 1


@pytest.mark.promise(
    "A directory that is cut off or damaged is a problem with a name, not a crash", "reference/run-directory"
)
def test_run_json_cut_at_any_byte_is_a_usage_error(written: Path):
    file = written / "run.json"
    content = file.read_bytes()
    for length in range(0, len(content.rstrip()) - 1, 7):
        file.write_bytes(content[:length])
        with pytest.raises(UsageError, match=r"run\.json"):
            read_run(written)


@pytest.mark.parametrize("record", [[], 7, {}, {"schema": "1"}, {"schema": 0}, {"schema": 1}, {"schema": True}])
def test_other_json_is_no_run(written: Path, record):
    (written / "run.json").write_text(json.dumps(record))
    with pytest.raises(UsageError, match=r"run\.json"):
        read_run(written)


def test_every_missing_key_of_run_json_is_a_usage_error(written: Path):
    file = written / "run.json"
    record = json.loads(file.read_text())
    for key in record:
        file.write_text(json.dumps({name: value for name, value in record.items() if name != key}))
        with pytest.raises(UsageError, match=r"run\.json"):
            read_run(written)


def test_a_newer_schema_is_refused(written: Path):
    file = written / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "schema": 2}))
    with pytest.raises(UsageError, match="has schema 2; this Howdah reads up to 1"):
        read_run(written)


@pytest.mark.parametrize(
    "content", [None, b"", b'{"schema": 1, "befo', b"[]", b'{"before": 7}', b'{"before": {}}', b"\xff"]
)
def test_a_missing_or_damaged_environment_is_a_problem_of_the_run(written: Path, content: bytes | None):
    file = written / "environment.json"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    stored = read_run(written)
    assert len(stored.samples) == 3
    assert stored.environment == {}
    assert len(stored.problems) == 1
    assert "environment.json" in stored.problems[0]


def test_a_valid_run_without_samples_is_told(written: Path):
    (written / "samples.jsonl").unlink()
    assert read_run(written).problems == ("the run is valid but samples.jsonl has no samples",)


def test_not_a_run_directory(tmp_path: Path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file", tmp_path / "nothing"):
        with pytest.raises(UsageError, match="not a run directory"):
            read_run(path)


def test_two_runs_with_one_id_are_refused_and_the_first_is_kept(written: Path):
    before = (written / "run.json").read_bytes()
    with pytest.raises(HostProblem, match="exists"):
        RunWriter(written.parent, values.run(outcome="failed", reason="other"))
    assert (written / "run.json").read_bytes() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_not_written(written: Path, tmp_path: Path, value: float):
    writer = RunWriter(tmp_path, values.run("two"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        writer.samples([values.sample(1.0), values.sample(value)])
    with pytest.raises(ValueError, match="not JSON compliant"):
        writer.series("vm", {"cpu_user": value})
    with pytest.raises(ValueError, match="not JSON compliant"):
        writer.save(replace(values.run("two"), dataset={"bytes": value}))
    writer.close()
    assert read_run(writer.path).samples == ()
    assert (writer.path / "series" / "vm.jsonl").read_bytes() == b""
    assert read_identity(writer.path) == values.run("two")


def test_series_are_readable_while_they_grow_and_when_cut_off(tmp_path: Path):
    writer = RunWriter(tmp_path, values.run())
    lines = [{"schema": 1, "host": "vm"}, {"kind": "machine", "load1": 0.5}, {"kind": "machine", "load1": 0.75}]
    for line in lines:
        writer.series("vm", line)
    stored = read_run(writer.path)
    assert list(stored.series()) == [("vm", lines)]
    file = writer.path / "series" / "vm.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    assert list(stored.series()) == [("vm", lines[:2])]
    writer.close()
    writer.close()


def test_kept_files_are_never_replaced(tmp_path: Path):
    writer = RunWriter(tmp_path, values.run())
    writer.keep("jobs/job_1.json", b'{"id": "job_1"}')
    with pytest.raises(FileExistsError):
        writer.keep("jobs/job_1.json", b"{}")
    stored = read_run(writer.path)
    assert stored.job_file("job_1.json") == {"id": "job_1"}
    assert stored.job_file("job_2.json") is None
    writer.close()
