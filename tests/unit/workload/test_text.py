"""The workloads over generated text: WordCount and Grep."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import howdah.workload
from howdah.errors import Untrusted, UsageError
from howdah.model.run import Check
from howdah.workload import Asked, Workload
from howdah.workload.grep import Grep, read_matches
from howdah.workload.wordcount import WordCount
from tests.unit.workload.sessions import FakeFiles, FakeSession

SCRIPTS = Path(howdah.workload.__file__).parent / "scripts"
GENERATED = {"org.howdah.workloads.TextGenerator$Generated": {"BYTES": 100, "WORDS": 12}}
KNOWN = {
    "/run/input/_counts-m-00000": b"the\t4\nquick\t1\n",
    "/run/input/_counts-m-00001": b"the\t3\nqed\t2\nzzz\t2\n",
    "/run/input/part-m-00000": b"not read",
}
COUNTED = {"/run/output/part-r-00000": b"the\t7\nquick\t1\n", "/run/output/part-r-00001": b"qed\t2\nzzz\t2\n"}


def run(workload: Workload, files: dict[str, bytes], **own: str) -> tuple[FakeSession, list[Check]]:
    session = FakeSession(FakeFiles({**KNOWN, **files}), counters=GENERATED)
    settings = workload.resolve(Asked(size=1000, maps=2, reduces=3, own=own), {"dfs.replication": "1"})
    workload.prepare(session, settings)
    workload.run(session, settings)
    return session, list(workload.verify(session, settings))


def test_counts_that_are_the_generators_are_right() -> None:
    session, checks = run(WordCount(), COUNTED)
    assert [check.passed for check in checks] == [True, True]
    gen, count = (program for _, _, program in session.programs)
    assert gen[:3] == ("workloads.jar", "textgen", "-Dmapreduce.job.maps=2")
    assert gen[-2:] == ("1000", "hdfs://here/run/input")
    places = ("hdfs://here/run/input", "hdfs://here/run/output")
    assert count == ("examples.jar", "wordcount", "-Dmapreduce.job.reduces=3", *places)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [(b"qed\t2\nzzz\t1\n", "'zzz' is there 2 times, counted 1"), (b"", "'qed'"), (b"qed\t2\nzzz\t2\nno\t1\n", "'no'")],
)
def test_any_other_count_is_wrong_and_named(part: bytes, wrong: str) -> None:
    _, checks = run(WordCount(), {**COUNTED, "/run/output/part-r-00001": part})
    assert [check.passed for check in checks] == [False, False]
    assert wrong in checks[0].detail


@pytest.mark.parametrize(
    ("ending", "compress"), [(".deflate", zlib.compress), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_compressed_output_is_read(ending: str, compress: Callable[[bytes], bytes]) -> None:
    _, checks = run(WordCount(), {f"{name}{ending}": compress(content) for name, content in COUNTED.items()})
    assert all(check.passed for check in checks)
    _, checks = run(Grep(), {f"/run/output/part-r-00000{ending}": compress(b"2\tqed\n1\tquick\n")})
    assert all(check.passed for check in checks)


@pytest.mark.parametrize("line", ["3", "3\t", "\t3", "qed", "qed\tmany", "qed\t1.5"])
def test_a_line_without_a_count_is_not_trusted(line: str) -> None:
    for workload in (WordCount(), Grep()):
        if line == {"wordcount": "\t3", "grep": "3\t"}[workload.name]:
            continue  # An empty word, that is: wrong, but whole.
        with pytest.raises(Untrusted, match="has no count"):
            run(workload, {"/run/output/part-r-00000": line.encode()})


def test_a_codec_that_cannot_be_read_is_refused() -> None:
    conf = {
        "mapreduce.output.fileoutputformat.compress": "true",
        "mapreduce.output.fileoutputformat.compress.codec": "org.apache.hadoop.io.compress.ZStandardCodec",
    }
    for workload in (WordCount(), Grep()):
        with pytest.raises(UsageError, match="could not read the output"):
            workload.resolve(Asked(size=1000, conf=conf), {})


def test_text_that_may_have_nothing_to_find_is_refused() -> None:
    assert Grep().resolve(Asked(size=1000), {})["size_bytes"] == 1000
    with pytest.raises(UsageError, match="999 bytes of text may have no word that begins with q") as raised:
        Grep().resolve(Asked(size=999), {})
    assert raised.value.hint == "--size 1000 is the least."


def test_no_output_is_wrong() -> None:
    _, checks = run(WordCount(), {})
    assert not any(check.passed for check in checks)


def test_the_engine_is_chosen() -> None:
    session, checks = run(WordCount(), COUNTED, engine="streaming")
    assert all(check.passed for check in checks)
    assert session.programs[1][2][0] == "streaming.jar"
    assert session.programs[1][2][-2:] == ("streaming_words.py", "streaming_sums.py")


def test_the_streaming_scripts_count_words() -> None:
    def through(script: str, data: bytes) -> bytes:
        return subprocess.run([sys.executable, SCRIPTS / script], input=data, capture_output=True, check=True).stdout

    ones = through("streaming_words.py", b"the cat\nthe  dog \n\nthe")
    assert ones == b"the\t1\ncat\t1\nthe\t1\ndog\t1\nthe\t1\n"
    assert through("streaming_sums.py", b"".join(sorted(ones.splitlines(keepends=True)))) == b"cat\t1\ndog\t1\nthe\t3\n"
    assert through("streaming_sums.py", b"") == b""


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        (b"2\tqed\n1\tquick\n", [True, True]),
        (b"1\tquick\n2\tqed\n", [True, False]),
        (b"2\tqed\n", [False, True]),
        (b"2\tqed\n1\tquick\n1\tthe\n", [False, True]),
        (b"", [False, True]),
    ],
)
def test_grep_finds_what_the_generator_wrote(output: bytes, passed: list[bool]) -> None:
    session, checks = run(Grep(), {"/run/output/part-r-00000": output})
    assert [check.passed for check in checks] == passed
    program = session.programs[1][2]
    assert program[-1] == r"\bq[a-z]*"
    assert set(session.at_home()) < set(program), "what is between its jobs goes with the run"


def test_matches_are_read_with_their_order() -> None:
    assert read_matches(["3\ta b", "1\tc"]) == ({"a b": 3, "c": 1}, [3, 1])


def test_less_than_a_byte_a_map_is_refused() -> None:
    with pytest.raises(UsageError, match="too few for 4 maps"):
        WordCount().resolve(Asked(size=3, maps=4), {})
