"""What programs of Hadoop wrote on a real cluster is read as it was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.workload import dfsio, namenode, pi, terasort
from howdah.workload.grep import read_matches
from howdah.workload.outputs import read_text
from howdah.workload.text import read_counts
from tests.unit.workload.sessions import FakeFiles, FakeSession

GOLDEN = Path(__file__).parents[2] / "golden/hadoop/3.4.2"


def stored(*names: str) -> FakeSession:
    return FakeSession(FakeFiles({f"/run/out/{name}": (GOLDEN / name).read_bytes() for name in names}))


@pytest.mark.parametrize("name", ["teravalidate.txt", "teravalidate.deflate"])
def test_teravalidate_of_sorted_rows(name: str) -> None:
    report = read_text(stored(name).storage, f"/run/out/{name}")
    assert [check.passed for check in terasort.judge(report, 0x9D2A454A26B)] == [True, True]
    assert [check.passed for check in terasort.judge(report, 1)] == [True, False]


def test_teravalidate_of_rows_that_are_not_sorted() -> None:
    order, checksum = terasort.judge((GOLDEN / "teravalidate_misorder.txt").read_text(), 0x9D2A454A26B)
    assert not order.passed
    assert "misorder in part-m-0000" in order.detail
    assert checksum.passed


def test_testdfsio_with_the_prefix_of_its_own_log4j() -> None:
    [report] = dfsio.parse_reports((GOLDEN / "testdfsio_log4j.log").read_text())
    assert (report.operation, report.files, report.bytes) == ("write", 2, 16 << 20)


def test_testdfsio_of_hadoop_3_5() -> None:
    reports = dfsio.parse_reports((GOLDEN.parent / "3.5.0/testdfsio.log").read_text())
    assert [(one.operation, one.files) for one in reports] == [
        (operation, 2) for operation in ("write", "read", "random read", "append")
    ]
    assert {one.bytes for one in reports if one.operation != "random read"} == {16 << 20}


@pytest.mark.parametrize("version", ["3.4.2", "3.5.0"])
@pytest.mark.parametrize(
    ("phase", "operation"),
    [
        ("create", "create"),
        ("open", "open"),
        ("rename", "rename"),
        ("delete", "delete"),
        ("file-status", "fileStatus"),
    ],
)
def test_nnthroughput_by_operation(version: str, phase: str, operation: str) -> None:
    [report] = namenode.parse_reports((GOLDEN.parent / version / f"nnthroughput_{phase}.log").read_text())
    assert (report.operation, report.operations) == (operation, 1000)


def test_pi() -> None:
    [estimate] = pi._ESTIMATE.findall((GOLDEN / "pi.log").read_text())
    assert pi.judge(estimate, 100_000).passed


def test_grep() -> None:
    found, order = read_matches((GOLDEN / "grep.txt").read_text().splitlines())
    assert all(match.startswith("q") for match in found)
    assert order == sorted(order, reverse=True)


def test_word_counts_are_those_of_the_generator_whatever_the_codec() -> None:
    session = stored("wordcount.gz", "wordcount.bz2", "textgen_counts.txt")
    one, other, generated = (
        read_counts(session, "/run/out", [name]) for name in ("wordcount.gz", "wordcount.bz2", "textgen_counts.txt")
    )
    assert one == other == generated
    assert generated.total() == 12047
