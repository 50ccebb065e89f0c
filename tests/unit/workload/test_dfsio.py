from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import Untrusted, UsageError
from howdah.model.job import Attempt, Span
from howdah.workload import Asked
from howdah.workload.dfsio import MIB, Dfsio, parse_reports, straggler
from tests.unit.workload.sessions import FakeFiles, FakeSession

GOLDEN = Path(__file__).parents[2] / "golden/hadoop/3.4.2"
# The Gordon paper's, Hadoop 1: no head, log prefixes, all decimals.
GORDON = """\
13/01/30 18:56:00 INFO fs.TestDFSIO:      Number of files: 8
13/01/30 18:56:00 INFO fs.TestDFSIO: Total MBytes processed: 8192
13/01/30 18:56:00 INFO fs.TestDFSIO:      Throughput mb/sec: 41.651837012782316
13/01/30 18:56:00 INFO fs.TestDFSIO: Average IO rate mb/sec: 93.37788391113281
13/01/30 18:56:00 INFO fs.TestDFSIO: IO rate std deviation: 58.587153756958564
13/01/30 18:56:00 INFO fs.TestDFSIO:      Test exec time sec: 99.554
13/01/30 18:56:00 INFO fs.TestDFSIO:
13/01/30 18:57:16 INFO fs.TestDFSIO:      Number of files: 8
13/01/30 18:57:16 INFO fs.TestDFSIO: Total MBytes processed: 8192
13/01/30 18:57:16 INFO fs.TestDFSIO:      Throughput mb/sec: 207.49746707193515
13/01/30 18:57:16 INFO fs.TestDFSIO: Average IO rate mb/sec: 207.5077362060547
13/01/30 18:57:16 INFO fs.TestDFSIO: IO rate std deviation: 1.4632078247537383
13/01/30 18:57:16 INFO fs.TestDFSIO:      Test exec time sec: 41.365
"""
# A results file, with the line of the releases that divide by milliseconds.
RESULTS = """\
----- TestDFSIO ----- : write
            Date & time: Wed Feb 13 10:00:00 UTC 2019
        Number of files: 2
 Total MBytes processed: 16.0
      Throughput mb/sec: 8.5
Total Throughput mb/sec: 0.0
 Average IO rate mb/sec: 9.25
  IO rate std deviation: 0.5
     Test exec time sec: 20.5

"""


@pytest.mark.promise("TestDFSIO's throughput is told from the cluster's", "reference/workloads")
def test_hadoops_throughput_is_not_the_clusters() -> None:
    write, read = parse_reports(GORDON)
    assert write.operation is None
    assert (write.files, write.bytes) == (8, 8192 * MIB)
    assert write.task_rate / MIB == pytest.approx(41.65, abs=0.005)
    assert write.wall_rate / MIB == pytest.approx(82.29, abs=0.005)
    assert write.task_seconds == pytest.approx(196.7, abs=0.05)
    assert read.file_rate / MIB == pytest.approx(207.51, abs=0.005)


def test_a_results_file_without_prefixes_and_with_the_line_in_milliseconds() -> None:
    [report] = parse_reports(RESULTS)
    assert report.operation == "write"
    assert (report.task_rate, report.file_rate, report.seconds) == (8.5 * MIB, 9.25 * MIB, 20.5)


def test_todays_client_log() -> None:
    reports = parse_reports((GOLDEN / "testdfsio.log").read_text())
    assert [(one.operation, one.files, one.bytes) for one in reports] == [
        ("write", 2, 16 * MIB),
        ("read", 2, 16 * MIB),
        ("random read", 2, 16.75 * MIB),
        ("append", 2, 16 * MIB),
    ]
    assert (reports[2].task_rate, reports[2].seconds) == (49.13 * MIB, 29.22)


def test_several_blocks_in_one_file() -> None:
    both = parse_reports(RESULTS + RESULTS.replace(": write", ": random read"))
    assert [report.operation for report in both] == ["write", "random read"]


@pytest.mark.parametrize("gone", ["Number of files", "Throughput mb/sec: 8", "IO rate std"])
def test_a_block_that_lacks_a_line_is_refused(gone: str) -> None:
    text = "\n".join(line for line in RESULTS.splitlines() if gone not in line)
    with pytest.raises(Untrusted, match="has no line"):
        parse_reports(text)


def test_a_block_that_is_cut_off_is_refused() -> None:
    cut = RESULTS[: RESULTS.index("IO rate std")]
    for text in (cut, cut + RESULTS):
        with pytest.raises(Untrusted, match="ends after 'Average IO rate mb/sec'"):
            parse_reports(text)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(Untrusted, match="no number"):
        parse_reports(RESULTS.replace("20.5", "NaN?"))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "0", "-1", "0.0", "1e300", "∞", "1e-300", "1,5"])
@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("Number of files", "2"),
        ("Total MBytes processed", "16.0"),
        (" Throughput mb/sec", "8.5"),
        ("Average IO rate mb/sec", "9.25"),
        ("IO rate std deviation", "0.5"),
        ("Test exec time sec", "20.5"),
    ],
)
def test_a_number_that_cannot_be_is_refused_and_quoted(name: str, now: str, value: str) -> None:
    text = RESULTS.replace(f"{name}: {now}", f"{name}: {value}")
    assert text != RESULTS
    if "deviation" in name and value in ("0", "0.0"):
        assert parse_reports(text)[0].file_rate_deviation == 0
        return
    with pytest.raises(Untrusted, match=f"no number that can be: {re.escape(name.strip())}: {re.escape(value)}"):
        parse_reports(text)


def test_half_a_file_is_none() -> None:
    with pytest.raises(Untrusted, match=r"no number of files: Number of files: 2\.5"):
        parse_reports(RESULTS.replace("files: 2", "files: 2.5"))


LOG4J = "2026-01-01 00:00:00,000 INFO  fs.TestDFSIO (TestDFSIO.java:analyzeResult(880)) - "


@pytest.mark.parametrize("prefix", ["", "INFO fs.TestDFSIO: ", LOG4J])
def test_log_prefixes_of_any_pattern(prefix: str) -> None:
    [report] = parse_reports("\n".join(f"{prefix}{line}" for line in RESULTS.splitlines()))
    assert report == parse_reports(RESULTS)[0]


def test_a_head_without_fields_is_refused() -> None:
    head = RESULTS.splitlines()[0]
    for text in (head, f"{head}\n{RESULTS}", RESULTS + head):
        with pytest.raises(Untrusted, match="a TestDFSIO report ends after its head: write"):
            parse_reports(text)


def test_a_block_is_not_completed_by_the_next_where_there_are_no_heads() -> None:
    lines = GORDON.splitlines()
    cut, lacking = lines[:5], [line for line in lines[7:] if "deviation" not in line]
    with pytest.raises(Untrusted, match="a TestDFSIO report ends after 'IO rate std deviation'"):
        parse_reports("\n".join(cut + lacking))


values = st.sampled_from(["NaN", "0", "-1", "Infinity", "2", "8.5", "1e308", "1e-320", "x", ""])
names = st.sampled_from([line.partition(":")[0] for line in RESULTS.splitlines()[2:] if line])


@pytest.mark.promise("A program's output that cannot be read is not trusted", "reference/workloads")
@given(
    st.lists(
        st.text(max_size=12)
        | st.sampled_from([*RESULTS.splitlines(), *GORDON.splitlines()])
        | st.tuples(names, values).map(": ".join),
        max_size=16,
    )
)
def test_any_text_has_whole_reports_or_is_not_trusted(lines: list[str]) -> None:
    with suppress(Untrusted):
        for report in parse_reports("\n".join(lines)):
            assert report.files >= 1
            for value in (report.wall_rate, report.task_rate, report.file_rate, report.seconds, report.task_seconds):
                assert 0 < value < math.inf


def test_output_without_a_report_has_none() -> None:
    assert parse_reports("INFO fs.TestDFSIO: TestDFSIO.1.8\n") == ()


def test_files_have_whole_mebibytes_and_the_size_is_what_is_moved() -> None:
    settings = Dfsio().resolve(Asked(size=10**9, maps=3), {})
    assert (settings["files"], settings["file_bytes"]) == (3, 317 * MIB)
    assert settings["moved_bytes"] == 3 * 317 * MIB
    with pytest.raises(UsageError, match="less than a MiB in each of 3 files"):
        Dfsio().resolve(Asked(size=2 * MIB, maps=3), {})


def run(output: Mapping[str, str], lengths: list[int]) -> tuple[FakeSession, dict[str, bool]]:
    """Two files of 8 MiB; `output` is what each phase prints, `lengths` what the files have at the end of each."""
    session, workload = FakeSession(FakeFiles(), output=output), Dfsio()
    settings = workload.resolve(Asked(size=16 * MIB, maps=2), {})
    session.storage.lengths = {f"/run/io_data/test_io_{number}": length for number, length in enumerate(lengths)}
    workload.run(session, settings)
    return session, {check.name: check.passed for check in workload.verify(session, settings)}


def test_each_operation_is_judged_by_what_it_reports_and_what_is_stored() -> None:
    text = (GOLDEN / "testdfsio.log").read_text()
    starts = [found.start() for found in re.finditer(r"^\S+ \S+ INFO fs.TestDFSIO: -----", text, re.MULTILINE)]
    parts = [text[start:end] for start, end in pairwise((*starts, len(text)))]
    output = dict(zip(("write", "read", "random-read", "append"), parts, strict=True))
    session, checks = run(output, [8 * MIB, 8 * MIB])
    assert checks == {"write": True, "read": True, "random-read": True, "append": False}, "nothing was appended"
    assert session.samples["random-read", "dfsio_task_throughput"] == 49.13 * MIB
    assert session.samples["random-read", "throughput"] == 16.75 * MIB / 10, "of what was read"
    assert len(session.samples) == 17
    quality, formula = session.sources["write", "dfsio_wall_throughput"]
    assert (quality, formula.partition(" B ÷ ")[1]) == ("derived", " B ÷ ")
    assert session.sources["write", "dfsio_task_throughput"] == ("measured", "TestDFSIO's report")
    assert run(output, [16 * MIB, 16 * MIB])[1]["append"]
    assert not run(output, [8 * MIB, 7 * MIB])[1]["read"]
    assert not run(output, [8 * MIB])[1]["read"]
    assert not run({**output, "read": output["random-read"]}, [8 * MIB, 8 * MIB])[1]["read"], "it reports too much"


def test_a_repetition_has_its_own_checks_only() -> None:
    workload = Dfsio()
    settings = workload.resolve(Asked(size=16 * MIB, maps=2), {})
    for _ in range(2):
        session = FakeSession(FakeFiles(), output=dict.fromkeys(("write", "read", "random-read", "append"), RESULTS))
        workload.prepare(session, settings)
        workload.run(session, settings)
        assert [check.name for check in workload.verify(session, settings)] == [
            "write",
            "read",
            "random-read",
            "append",
        ]


def test_no_report_or_two_are_not_guessed_from() -> None:
    for output, number in (("", 0), (RESULTS + RESULTS, 2)):
        with pytest.raises(Untrusted, match=f"write: TestDFSIO printed {number} reports"):
            run({"write": output}, [])


def attempt(number: int, seconds: float, state: str = "SUCCEEDED") -> Attempt:
    """A map of 8 on a node of its own."""
    span = Span(100.0, 100.0 + seconds)
    return Attempt(f"attempt_1_m_{number}", f"task_{number}", "map", state, f"n{number}:45454", None, span, {}, {})


@pytest.mark.promise("The slowest map and its host are named where TestDFSIO's two rates are far apart", "CHANGELOG")
def test_rates_far_apart_name_the_slowest_map_and_its_host() -> None:
    write, read = parse_reports(GORDON)
    maps = [*(attempt(number, 12.0) for number in range(7)), attempt(7, 88.0), attempt(8, 99.0, "KILLED")]
    assert straggler(write, maps) == (
        "Throughput (43.7 MB/s) and Average IO rate (97.9 MB/s) are 2.2 times apart, so some files were much slower "
        "than others. The slowest of 8 maps was attempt_1_m_7 on n7:45454: it took 88.0 s, the median map 12.0 s."
    )
    assert straggler(read, maps) is None
    assert str(straggler(write, maps[8:])).endswith("the job's history has no maps that could be named.")


def test_a_single_file_has_no_straggler() -> None:
    for report in parse_reports((GOLDEN.parent / "others/testdfsio_whale.log").read_text()):
        assert report.files == 1
        assert straggler(report, [attempt(0, 30.0)]) is None


def test_a_straggler_is_a_caveat_of_the_run_and_its_phase() -> None:
    apart = RESULTS.replace("Average IO rate mb/sec: 9.25", "Average IO rate mb/sec: 17.1")
    output = {**dict.fromkeys(("write", "read", "random-read", "append"), RESULTS), "read": apart}
    session = FakeSession(FakeFiles(), output=output, attempts=(attempt(0, 5.0), attempt(1, 50.0)))
    Dfsio().run(session, Dfsio().resolve(Asked(size=16 * MIB, maps=2), {}))
    [caveat] = session.caveats
    assert caveat.startswith("read: Throughput (8.91 MB/s)")
    assert "attempt_1_m_1 on n1:45454" in caveat
