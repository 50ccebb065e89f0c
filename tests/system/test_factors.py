"""Factors by name on real clusters: that each takes effect, and that nothing of them is left. Some four minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from howdah.hadoop.configuration.tuning import TASK_OPTIONS
from tests.system.kept import Kept
from tests.system.running import Howdah

pytestmark = pytest.mark.daemons

SHAPE = ("--size", "50M", "--nodes", "2", "--maps", "4", "--reduces", "2")
QUICK = ("--no-calibration", "--no-report", "--json")
FILES = "org.apache.hadoop.mapreduce.FileSystemCounter"
FILE = """\
question: Does anything of this matter?
workload: { pi: { size: smoke, maps: 4 } }
cluster: { nodes: 1 }
baseline: { memory: 12G }
factors:
  cpus: [2, 1]
  jvm: [usual, "-XX:+UseParallelGC"]
  shuffle_dir: [work, %s]
  storage: [hdfs, "posix:%s"]
  vcores: [4, 2]
design: together
stop: { min: 2, max: 2 }
"""


@pytest.fixture(scope="module")
def shuffle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shuffle")


@pytest.fixture(scope="module")
def arms(howdah: Howdah, shuffle: Path) -> tuple[list[Kept], list[Kept], dict[str, Any]]:
    """The runs of the baseline, those with the other levels, and what was found."""
    file, directory = shuffle.parent / "factors.yaml", shuffle.parent / "factors"
    shared = shuffle.parent / "shared"
    shared.mkdir()
    file.write_text(FILE % (shuffle, shared), encoding="utf-8")
    howdah("experiment", "run", str(file), "--out", str(directory), timeout=900).ok()
    sides: tuple[list[Kept], list[Kept]] = ([], [])
    for path in sorted((directory / "runs").iterdir()):
        kept = Kept(path)
        sides[int(kept.record("run.json")["labels"]["arm"])].append(kept)
    return (*sides, howdah("experiment", "report", str(directory), "--json").json())


def checks(kept: Kept) -> dict[str, bool]:
    return {check["name"]: check["passed"] for check in kept.record("run.json")["checks"]}


def held(kept: Kept, key: str) -> list[str]:
    found: list[str] = kept.record("readback.json")["held"][key]
    return found


def maps_at_once(kept: Kept) -> int:
    """The most maps that ran at any time."""
    maps = [attempt["whole"] for job in kept.jobs() for attempt in job["attempts"] if attempt["kind"] == "map"]
    counts: list[int] = [sum(other["start"] <= one["start"] < other["end"] for other in maps) for one in maps]
    return max(counts)


def test_every_level_took_effect(arms: tuple[list[Kept], list[Kept], dict[str, Any]], shuffle: Path) -> None:
    for kept, processors, cores in ((arms[0][0], 2, "4"), (arms[1][0], 1, "2")):
        assert checks(kept)["processors"]
        assert checks(kept)["settings"]
        assert kept.record("run.json")["cluster"]["defaults"]["processors"] == processors
        assert held(kept, "daemons/yarn.nodemanager.resource.cpu-vcores") == [cores]
        assert held(kept, "daemons/yarn.nodemanager.resource.memory-mb") == [str(12_000_000_000 >> 20)]
    usual, changed = arms[0][0], arms[1][0]
    assert "-XX:+UseSerialGC" in held(usual, f"pi/{TASK_OPTIONS}")[0]
    [flags] = held(changed, f"pi/{TASK_OPTIONS}")
    assert flags.endswith(" -XX:+UseParallelGC")
    assert "SerialGC" not in flags, "a JVM takes one collector"
    assert (maps_at_once(usual), maps_at_once(changed)) == (2, 1), "the application master has one of two vcores"
    assert str(shuffle) in held(changed, "daemons/yarn.nodemanager.local-dirs")[0]
    for kept, storage, scheme in ((usual, "hdfs", "HDFS"), (changed, f"posix:{shuffle.parent}/shared", "POSIXFS")):
        assert kept.record("run.json")["trial"]["settings"].get("storage", "hdfs") == storage
        assert kept.job("pi")["counters"][FILES][f"{scheme}_BYTES_READ"] > 0
    assert str(shuffle) not in held(usual, "daemons/yarn.nodemanager.local-dirs")[0]


def test_they_are_replicates_and_comparable(arms: tuple[list[Kept], list[Kept], dict[str, Any]]) -> None:
    for side in arms[:2]:
        assert len(side) == 2
        assert len({kept.record("run.json")["trial"]["identity"] for kept in side}) == 1
        assert len({json.dumps(kept.record("readback.json")) for kept in side}) == 1, "they agree in every line"
    [finding] = arms[2]["findings"]
    assert finding["unlike"] == []
    assert finding["verdict"] == "not enough data", "two runs against two"
    assert finding["outcomes"] == {"valid": 2}


def test_nothing_of_the_containers_is_left(arms: tuple[list[Kept], list[Kept], dict[str, Any]], shuffle: Path) -> None:
    assert list(shuffle.iterdir()) == []


@pytest.mark.promise("A job survives the loss of a NodeManager", "issue 2")
def test_a_daemon_is_killed_in_the_middle_and_the_cache_was_empty(howdah: Howdah, tmp_path: Path) -> None:
    factors = ("--factor", "faults=nodemanager@30%", "--factor", "cache=dropped", "--out", str(tmp_path))
    [one] = howdah("run", "pi", "--size", "smoke", "--maps", "8", "--nodes", "2", *factors, *QUICK).json()["runs"]
    kept = Kept(Path(one["path"]))
    assert checks(kept)["fault"]
    assert any("nodemanager of node2" in caveat["text"] for caveat in one["run"]["caveats"])
    assert one["run"]["trial"]["settings"]["cache"] == "dropped"
    assert one["run"]["trial"]["settings"]["fault"] == {"role": "nodemanager", "at": 0.3}
    assert json.loads((kept.path / "run.json").read_text())["outcome"]["kind"] == "valid"


@pytest.mark.promise("Map outputs in a directory that all hosts share are read from their files", "how-to/accelerate")
def test_map_outputs_in_a_directory_that_all_hosts_see_are_read_where_they_lie(howdah: Howdah, tmp_path: Path) -> None:
    """By our own shuffle, those of the other node as well. Without such a directory it fetches them, as the random jobs
    of `test_accelerator.py` show."""
    shared = tmp_path / "shared"
    shared.mkdir()
    options = ("--accelerator", "sort", "--factor", f"shuffle_dir={shared}", "--out", str(tmp_path / "runs"))
    [one] = howdah("run", "terasort", *SHAPE, *options, *QUICK).json()["runs"]
    assert one["run"]["outcome"]["kind"] == "valid"
    job = Kept(Path(one["path"])).job("sort")
    assert len({attempt["node"] for attempt in job["attempts"]}) == 2, "all of it ran on one node"
    shuffle = job["counters"]["Howdah Shuffle"]
    assert (shuffle["SEGMENTS_DIRECT"], shuffle.get("SEGMENTS_HTTP", 0)) == (4 * 2, 0)


@pytest.mark.promise("A level that this machine cannot offer is refused before the first run", "reference/experiment")
def test_what_cannot_be_is_refused_before_anything_is_started(howdah: Howdah, tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    for old, new, message in (
        ("cpus: [2, 1]", "cpus: [2, 4096]", "cpus cannot be 4096 here: "),
        ("cpus: [2, 1]", "disks: [1, 2]", "disks is '1', and that of local is what it is"),
        ("cpus: [2, 1]", "cache: [warm, cold]", "there is no cache 'cold' here"),
        ("shuffle_dir: [work, %s]", "shuffle_dir: [work, /none]", "has no directory /none"),
    ):
        file.write_text(FILE.replace(old, new).replace("%s", str(tmp_path)), encoding="utf-8")
        said = howdah("experiment", "run", str(file), "--out", str(tmp_path / "never"))
        assert said.code == 2, said.err
        assert message in said.err
        assert not (tmp_path / "never").exists()
    assert howdah("run", "pi", "--factor", "cpus=1", "--cluster", "any").code == 2
    assert "there is no factor 'cpu'" in howdah("run", "pi", "--factor", "cpu=1").err
