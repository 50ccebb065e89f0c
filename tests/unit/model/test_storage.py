"""What one writes as `--storage`."""

from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.model.storage import Storages, parse_storages


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hdfs", Storages(True, None, "hdfs")),
        ("posix:/mnt/a", Storages(False, "/mnt/a", "posix")),
        ("hdfs,posix:/mnt/a/", Storages(True, "/mnt/a", "hdfs")),
        ("posix:/, hdfs", Storages(True, "/", "posix")),
    ],
)
def test_the_first_is_the_default(text: str, meant: Storages) -> None:
    assert parse_storages(text) == meant


@pytest.mark.parametrize("text", ["", "posix", "posix:", "posix:mnt", "hdfs:/x", "hdfs,hdfs", "posix:/a,posix:/b"])
def test_what_is_no_storage(text: str) -> None:
    with pytest.raises(UsageError, match="no storage"):
        parse_storages(text)
