from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from howdah.engine.run.judge import bytes_written, check_storage
from howdah.model.job import Job
from howdah.storage import Storage
from howdah.storage.local import LocalFiles
from howdah.storage.posix import PosixFiles
from tests.unit.engine.run.clusters import FakeHost

HOST: Any = FakeHost({})
GROUP = "org.apache.hadoop.mapreduce.FileSystemCounter"


def job(**counters: int) -> Job:
    groups = {GROUP: counters} if counters else {}
    return Job("job_1_1", "", "", "", "SUCCEEDED", 0, 0, 1, 1, 1, groups, {}, {}, (), None)


@pytest.fixture
def posix() -> Storage:
    return PosixFiles(HOST, {"fs.posixfs.mount": "/mnt"})


def test_bytes_count_by_the_scheme_of_the_storage(posix: Storage) -> None:
    done = job(POSIXFS_BYTES_WRITTEN=5, POSIXFS_BYTES_READ=7, HDFS_BYTES_WRITTEN=9, FILE_BYTES_WRITTEN=11)
    assert bytes_written(posix, [done]) == 5
    assert list(check_storage(posix, done)) == []


@pytest.mark.promise("A run whose job moved nothing on its storage has a caveat", "how-to/filesystem")
def test_a_job_that_worked_elsewhere_is_told(posix: Storage) -> None:
    done = job(HDFS_BYTES_WRITTEN=9, FILE_BYTES_WRITTEN=11)
    assert bytes_written(posix, [done]) == 0
    assert list(check_storage(posix, done)) == ["job_1_1 read and wrote nothing in posix"]


def test_without_counters_nothing_is_claimed(posix: Storage) -> None:
    assert bytes_written(posix, [job()]) is None
    assert list(check_storage(posix, job())) == []


def test_an_uberized_job_counts_what_its_master_wrote_as_well(posix: Storage) -> None:
    assert bytes_written(posix, [replace(job(POSIXFS_BYTES_WRITTEN=5), uberized=True)]) is None


def test_files_of_the_hosts_have_the_scheme_of_the_tasks_own_disks() -> None:
    local = LocalFiles(HOST, "/mnt")
    assert bytes_written(local, [job(FILE_BYTES_WRITTEN=11)]) is None
    assert list(check_storage(local, job(FILE_BYTES_WRITTEN=11))) == []
