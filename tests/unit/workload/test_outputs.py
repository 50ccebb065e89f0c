"""What jobs have written is read whatever it is; what cannot be read is not trusted."""

from __future__ import annotations

import bz2
import gzip
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import Untrusted, UsageError
from howdah.workload.grep import read_matches
from howdah.workload.hs import judge_files, judge_lengths
from howdah.workload.outputs import check_codec, count_of, read_text
from howdah.workload.pi import judge as judge_pi
from howdah.workload.terasort import judge as judge_rows
from howdah.workload.text import read_counts
from tests.unit.workload.sessions import FakeFiles, FakeSession

TEXT = "the\t7\nquick\t1\n"
STORED = {
    "part-r-00000": TEXT.encode(),
    "part-00000-c000.txt": TEXT.encode(),
    "part-r-00000.deflate": zlib.compress(TEXT.encode()),
    "part-r-00000.gz": gzip.compress(TEXT.encode()),
    "part-r-00000.bz2": bz2.compress(TEXT.encode()),
    "part-00000-c000.txt.gz": gzip.compress(TEXT.encode()),
}
ENABLED = {"mapreduce.output.fileoutputformat.compress": "true"}
CODEC = "mapreduce.output.fileoutputformat.compress.codec"


def read(name: str, content: bytes) -> str:
    return read_text(FakeFiles({f"/out/{name}": content}), f"/out/{name}")


@pytest.mark.parametrize("name", STORED)
def test_a_file_is_decompressed_as_its_name_says(name: str) -> None:
    assert read(name, STORED[name]) == TEXT


@pytest.mark.parametrize("name", ["part-r-00000.deflate", "part-r-00000.gz", "part-r-00000.bz2"])
def test_a_file_that_is_cut_off_or_something_else_is_not_trusted(name: str) -> None:
    for content in (STORED[name][:-5], TEXT.encode()):
        with pytest.raises(Untrusted, match=f"/out/{name} cannot be decompressed"):
            read(name, content)


def test_a_compression_that_is_not_known_is_not_trusted() -> None:
    with pytest.raises(Untrusted, match=r"\.snappy is no compression that Howdah knows"):
        read("part-r-00000.snappy", b"")


def test_bytes_that_are_no_text_are_no_fault() -> None:
    assert read("part-r-00000", b"\xff\t1\n") == "\ufffd\t1\n"


@given(st.sampled_from([*STORED, "part.lz4"]), st.binary(max_size=60))
def test_any_bytes_are_text_or_not_trusted(name: str, content: bytes) -> None:
    with suppress(Untrusted):
        assert isinstance(read(name, content), str)


@pytest.mark.parametrize(
    "conf",
    [
        {},
        ENABLED,
        {CODEC: "org.apache.hadoop.io.compress.SnappyCodec"},
        {**ENABLED, CODEC: "org.apache.hadoop.io.compress.GzipCodec"},
        {**ENABLED, CODEC: " org.apache.hadoop.io.compress.BZip2Codec "},
    ],
)
def test_outputs_that_can_be_read_may_be_asked_for(conf: dict[str, str]) -> None:
    check_codec(conf)


def test_others_are_refused() -> None:
    with pytest.raises(UsageError, match=r"is org\.apache\.hadoop\.io\.compress\.Lz4Codec: Howdah could not read"):
        check_codec({**ENABLED, CODEC: "org.apache.hadoop.io.compress.Lz4Codec"})


def test_what_is_no_count_is_quoted() -> None:
    assert count_of("3", "") == 3
    for text in ("", "-1", "1.5", "NaN", "1_0", "9" * 5000):
        with pytest.raises(Untrusted, match=r"a job wrote 'a word', which has no count"):
            count_of(text, "a word")


lines = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.tuples(st.text(max_size=6), st.text(max_size=6)).map("\t".join),
        st.sampled_from(["checksum\t", "checksum\tzz", "checksum\t0x5", "checksum\t5", "error", "3", "3\ta", "a\t3"]),
    ),
    max_size=6,
)


@given(lines)
def test_any_lines_are_counts_or_not_trusted(found: list[str]) -> None:
    with suppress(Untrusted):
        counts, order = read_matches(found)
        assert counts.total() == sum(order)
    session = FakeSession(FakeFiles({"/out/part": "\n".join(found).encode(errors="replace")}))
    with suppress(Untrusted):
        assert read_counts(session, "/out", ["part"]).total() >= 0


@given(lines, st.none() | st.integers(-(1 << 63), (1 << 63) - 1))
def test_any_report_of_teravalidate_is_judged(found: list[str], generated: int | None) -> None:
    assert [check.name for check in judge_rows("\n".join(found), generated)] == ["order", "checksum"]


@given(
    st.lists(
        st.text(max_size=12)
        | st.from_regex(r"\d{1,30} part-\S{1,4}", fullmatch=True)
        | st.from_regex(
            r"/a/part-\S \d{1,30} bytes, replicated: replication=\d{1,30}, 1 block\(s\):  OK", fullmatch=True
        )
    )
)
def test_anything_that_hdfs_says_is_judged(said: list[str]) -> None:
    assert judge_files("check", "\n".join(said), 100, 1).name == "check"
    assert judge_lengths("check", "\n".join(said), 100).name == "check"


@given(st.from_regex(r"[0-9]{1,9}(\.[0-9]{1,40})?", fullmatch=True), st.sampled_from([100, 10**9]))
def test_any_estimate_of_pi_is_judged(estimate: str, samples: int) -> None:
    assert judge_pi(estimate, samples).name == "answer"
