"""From options to the request for a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howdah.cli.request import cluster_request
from howdah.errors import UsageError

NOTHING: dict[str, Any] = {
    "on": "local",
    "silence": 15.0,
    "network": None,
    "site": None,
    "secure": False,
    "protection": None,
    "insecure": False,
    "realm": None,
    "nodes": None,
    "hadoop": "3.4.2",
    "hadoop_home": None,
    "defaults": "tuned",
    "without": (),
    "jvm_flag": (),
    "work_dir": None,
    "storage": None,
    "offline": False,
}


def test_there_is_a_node_for_each_host_unless_one_says_how_many() -> None:
    assert cluster_request("c", {}, NOTHING).nodes == 1
    made = cluster_request("c", {}, {**NOTHING, "on": "channels:3"})
    assert (made.allocation, made.nodes) == ("channels:3", 3)
    assert cluster_request("c", {}, {**NOTHING, "on": "channels:3", "nodes": 5}).nodes == 5
    with pytest.raises(UsageError, match="--work-dir is for this machine"):
        cluster_request("c", {}, {**NOTHING, "on": "hosts:a,b", "work_dir": "/data"})
    with pytest.raises(UsageError, match="no kind of allocation called 'host'"):
        cluster_request("c", {}, {**NOTHING, "on": "host:a"})


def test_a_distribution_of_the_system_is_where_hadoop_home_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    assert cluster_request("c", {}, {**NOTHING, "hadoop": "system"}).hadoop_home == str(tmp_path)
    assert cluster_request("c", {}, NOTHING).hadoop_home is None, "a managed one is not the system's"
    named = cluster_request("c", {}, {**NOTHING, "hadoop": "system", "hadoop_home": "/opt/hadoop"})
    assert named.hadoop_home == "/opt/hadoop"


@pytest.mark.parametrize("value", [None, ""])
def test_without_hadoop_home_there_is_none(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("HADOOP_HOME", value)
    with pytest.raises(UsageError, match="--hadoop system needs HADOOP_HOME, which is not set"):
        cluster_request("c", {}, {**NOTHING, "hadoop": "system"})


@pytest.mark.parametrize("name", ["a b", "o'brien", "50%", "a,b", "a:b", "a#b"])
def test_a_place_that_hadoop_takes_apart_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    for options in ({"work_dir": name}, {"hadoop_home": f"/opt/{name}"}):
        with pytest.raises(UsageError, match="take such a path apart"):
            cluster_request("c", {}, {**NOTHING, **options})
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / name))
    with pytest.raises(UsageError, match="HOWDAH_HOME is "):
        cluster_request("c", {}, NOTHING)


def test_places_are_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    made = cluster_request("c", {}, {**NOTHING, "hadoop_home": "hadoop", "work_dir": "work"})
    assert (made.hadoop_home, made.work_directory) == (str(tmp_path / "hadoop"), str(tmp_path / "work"))
