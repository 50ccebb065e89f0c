"""What a copy is compared by, with checksums as `hadoop fs -checksum` prints them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from howdah.engine.staging.listing import StagedFile
from howdah.engine.staging.stage import Stage, Wish
from howdah.errors import Untrusted
from howdah.host import Completed

SOURCE, TARGET = "posixfs:///in", "hdfs://n:1/out"
CRC = "COMPOSITE-CRC32C"


class Client:
    """`hadoop fs -checksum`, with kinds and values by URI."""

    def __init__(self, sums: Mapping[str, tuple[str, str]]) -> None:
        self._sums = sums

    def run(self, argv: list[str], **_: Any) -> Completed:
        lines = ("\t".join((uri, *self._sums[uri])) for uri in argv if uri in self._sums)
        return Completed(0, "\n".join(lines).encode(), b"", 1.0, 1.0)


class Case(Stage):
    """A stage whose commands are words alone."""

    def __init__(self, sums: Mapping[str, tuple[str, str]]) -> None:
        super().__init__(cast("Any", SimpleNamespace(client=Client(sums))), Wish("in", "/in", "/out", 2), "h")

    @property
    def _uris(self) -> tuple[str, str]:
        return SOURCE, TARGET

    def _command(self, place: Path, *words: str) -> tuple[list[str], Mapping[str, str]]:
        return list(words), {}


def files(**sizes: int) -> dict[str, StagedFile]:
    return {name: StagedFile(size, 1) for name, size in sizes.items()}


def sums(kind: str, there: str, **values: str) -> dict[str, tuple[str, str]]:
    """The checksums of both sides; those of the target are of kind `there`."""
    both = ((SOURCE, kind), (TARGET, there))
    return {f"{uri}/{name}": (of, value) for uri, of in both for name, value in values.items()}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))


def test_equal_checksums_verify_a_copy() -> None:
    stage = Case(sums(CRC, CRC, a="1", b="2"))
    assert stage._verify(files(a=10, b=20, empty=0), files(a=10, b=20, empty=0)) == CRC


@pytest.mark.promise("Where there is no checksum to compare, a copy is called unverified", "how-to/stage")
@pytest.mark.parametrize(("here", "there"), [(CRC, "MD5-of-0MD5-of-512CRC32C"), ("NONE", "NONE")])
def test_checksums_that_cannot_be_compared_verify_nothing(here: str, there: str) -> None:
    assert Case(sums(here, there, a="1"))._verify(files(a=10), files(a=10)) is None


def test_files_without_content_are_equal_by_their_length() -> None:
    assert Case({})._verify(files(a=0), files(a=0)) == "length"


def test_a_copy_that_is_not_equal_is_an_error() -> None:
    wrong = {**sums(CRC, CRC, a="1"), f"{TARGET}/a": (CRC, "7")}
    with pytest.raises(Untrusted, match="checksums of a in /out are not those of the source"):
        Case(wrong)._verify(files(a=10), files(a=10))
    for copied in (files(a=9), files(), files(a=10, b=1)):
        with pytest.raises(Untrusted, match=r"1 files of /out are not as in the source: [ab]"):
            Case({})._verify(files(a=10), copied)
