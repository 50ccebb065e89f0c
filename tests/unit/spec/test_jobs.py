"""What one may ask of a batch system, and what a site says."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.spec.jobs import JobHosts, JobWish, format_time, parse_job, parse_time
from howdah.spec.site import Partition, Site, expand, find_site, read_site

_SAMPLE = Path(__file__).parents[3] / "sites" / "sample.yaml"
_SCHEMA = json.loads((resources.files("howdah.spec") / "site.schema.json").read_text(encoding="utf-8"))


def test_a_job_to_be_submitted() -> None:
    text = "nodes=4,time=2h,partition=short,account=p-1,constraint=ib&ssd,exclusive=no,scratch=/scratch/ann"
    wish = JobWish(4, 7200, "short", "p-1", constraint="ib&ssd", exclusive=False)
    assert parse_job("slurm", text) == JobHosts(wish, scratch="/scratch/ann")


def test_a_job_that_runs_and_the_one_that_one_is_in() -> None:
    assert parse_job("slurm", "job=17") == JobHosts(job="17")
    assert parse_job("pbs", "java=/opt/jdk,python=/opt/python3") == JobHosts(java="/opt/jdk", python="/opt/python3")


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("slurm", "", "a job has no ''"),
        ("slurm", "node=4", "a job has no 'node'"),
        ("slurm", "nodes=4", "time must be said"),
        ("slurm", "partition=p", "nodes and time must be said"),
        ("slurm", "nodes=0,time=1h", "nodes is '0'"),
        ("slurm", "nodes=4,time=2", "time is '2'"),
        ("slurm", "nodes=4,time=10s", "time is '10s'"),
        ("slurm", "nodes=4,nodes=5,time=1h", "or is there twice"),
        ("slurm", "nodes=4,time=1h,exclusive=maybe", "exclusive is 'maybe'"),
        ("slurm", "nodes=4,time=1h,partition=a b", "is no KEY=VALUE"),
        ("slurm", "job=1,nodes=4", "a job that runs already has its nodes"),
        ("slurm", "scratch=here", "which is no absolute path"),
        ("pbs", "nodes=4,time=1h,partition=p", "a job has no 'partition'"),
    ],
)
def test_what_cannot_be_asked(kind: str, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_job(kind, text)


@given(st.integers(1, 10**5))
def test_times_are_read_in_every_form(minutes: int) -> None:
    seconds = 60 * minutes
    hours, rest = divmod(minutes, 60)
    days, of_day = divmod(hours, 24)
    for text in (
        f"{minutes}m",
        f"{seconds}s" if seconds < 10**6 else f"{minutes}m",
        f"{days}-{of_day:02}:{rest:02}:00",
    ):
        assert parse_time(text) == seconds


def test_times_are_told_shortly() -> None:
    assert [format_time(one) for one in (45, 119, 600, 3600, 5400)] == ["45 s", "119 s", "10 min", "1 h", "1 h 30 min"]


def sample() -> Any:
    return yaml.safe_load(_SAMPLE.read_text(encoding="utf-8"))


@pytest.mark.promise("A site file has a schema and a sample", "reference/site")
def test_the_sample_is_read_and_has_every_key() -> None:
    site = read_site(_SAMPLE)
    assert set(sample()) == set(_SCHEMA["properties"])
    jsonschema.validate(sample(), _SCHEMA)
    assert site.partitions["long"] == Partition(2 * 86400, 64, ("ann", "bob"))
    assert site.disks == ("/data1/${USER}", "/data2/${USER}")


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("batch", "lsf", "batch is 'lsf'"),
        ("scratch", "scratch", "which is no absolute path"),
        ("disks", ["/a", "b"], "which is no absolute path"),
        ("disks", "/a", "must be a list"),
        ("network", "10.1.0.0/99", "network 10.1.0.0/99"),
        ("scratch", "/s/${HOME}", r"scratch has \$\{HOME\}"),
        ("java", "/s/${USER}", r"java has \$\{USER\}"),
        ("partitions", {"p": {"time": "soon"}}, "time is 'soon'"),
        ("partitions", {"p": {"nodes": "all"}}, "nodes is 'all'"),
        ("partitions", {"p": {"node": 1}}, "unknown key 'node'"),
        ("owner", "ann", "unknown key 'owner'"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, key: str, value: object, why: str) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump({**sample(), key: value}))
    with pytest.raises(UsageError, match=why) as caught:
        read_site(file)
    assert caught.value.message.startswith(f"{file}, line ")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (JobWish(1, 60, "shrt"), "names no partition 'shrt'"),
        (JobWish(1, 5 * 3600, "short"), "partition short allows 4 h, and 5 h are wished"),
        (JobWish(17, 60, "short"), "partition short allows 16 hosts, and 17 are wished"),
        (JobWish(1, 60, "long"), "is for ann, bob, and you are eve"),
    ],
)
def test_what_a_site_does_not_allow(wish: JobWish, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_site(_SAMPLE).check(wish, "eve")


def test_what_a_site_allows() -> None:
    read_site(_SAMPLE).check(JobWish(16, 4 * 3600, "short"), "eve")
    read_site(_SAMPLE).check(JobWish(1, 60), "eve")
    Site().check(JobWish(1, 60, "any"), "eve")


def test_where_it_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howdah.spec.site.USUAL_PLACE", tmp_path / "none.yaml")
    monkeypatch.delenv("HOWDAH_SITE", raising=False)
    assert find_site(None) == Site()
    for name in ("named", "variable", "none"):
        (tmp_path / f"{name}.yaml").write_text(f"scratch: /{name}\n")
    assert find_site(None).scratch == "/none"
    monkeypatch.setenv("HOWDAH_SITE", str(tmp_path / "variable.yaml"))
    assert find_site(None).scratch == "/variable"
    assert find_site(str(tmp_path / "named.yaml")).scratch == "/named"
    with pytest.raises(UsageError, match="cannot be read"):
        find_site(str(tmp_path / "nowhere.yaml"))


def test_variables_are_put_in() -> None:
    assert expand("/scratch/${USER}/${JOB_ID}", "ann", "17") == "/scratch/ann/17"
