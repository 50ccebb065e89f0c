"""Jobs on a directory through our own file system: with no HDFS at all, and beside it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.kept import Kept
from tests.system.running import Howdah
from tests.system.suites import failures

pytestmark = pytest.mark.daemons

SORT = ("run", "terasort", "--maps", "1", "--reduces", "1")
QUICK = ("--size", "smoke", "--no-calibration", "--no-probes", "--no-report", "--json")
COUNTERS = "org.apache.hadoop.mapreduce.FileSystemCounter"
COMPOSITE = "-Ddfs.checksum.combine.mode=COMPOSITE_CRC"


SIZE = 10_000_000
"""Of TeraSort's `smoke`."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def alone(howdah: Howdah, root: Path) -> Iterator[dict[str, Any]]:
    """A cluster with no HDFS."""
    yield howdah("up", "--name", "alone", "--storage", f"posix:{root}", "--json").json()
    howdah("down", "--name", "alone").ok()
    assert [path.name for path in root.iterdir() if path.name != "howdah"] == [], "only data of runs stays"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def both(howdah: Howdah, shared: Path) -> Iterator[dict[str, Any]]:
    """A cluster with both, whose default is HDFS."""
    yield howdah("up", "--name", "both", "--storage", f"hdfs,posix:{shared}", "--json").json()
    howdah("down", "--name", "both").ok()


def bytes_moved(kept: Kept, phase: str) -> dict[str, int]:
    counted = kept.job(phase)["counters"][COUNTERS]
    return {name: value for name, value in counted.items() if "_BYTES_" in name and not name.startswith("FILE_")}


@pytest.mark.promise("`howdah up --storage posix:DIR` starts no daemon of HDFS, and TeraSort runs", "how-to/filesystem")
def test_terasort_without_any_daemon_of_hdfs(howdah: Howdah, alone: dict[str, Any]) -> None:
    assert {one["role"] for one in alone["daemons"]} == {"resourcemanager", "historyserver", "nodemanager"}
    [one] = howdah(*SORT, "--cluster", "alone", *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    kept = Kept(Path(one["path"]))
    assert bytes_moved(kept, "gen")["POSIXFS_BYTES_WRITTEN"] == SIZE
    sort = bytes_moved(kept, "sort")
    assert sort["POSIXFS_BYTES_WRITTEN"] == SIZE
    assert sort["POSIXFS_BYTES_READ"] >= SIZE
    assert not any(value for name, value in sort.items() if not name.startswith("POSIXFS"))
    assert [caveat for caveat in one["run"]["caveats"] if "nothing in" in caveat["text"]] == []


@pytest.mark.promise("Spark under `exec` reads and writes the directory", "how-to/filesystem")
@pytest.mark.usefixtures("alone")
def test_spark_reads_and_writes_the_directory(howdah: Howdah) -> None:
    [one] = howdah("run", "wordcount", "--engine", "spark", "--cluster", "alone", *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}


@pytest.mark.usefixtures("alone")
def test_a_cluster_of_somebody_else_s_without_hdfs(howdah: Howdah) -> None:
    conf = howdah.home / "clusters" / "alone" / "conf"
    [one] = howdah(*SORT, "--cluster", f"conf:{conf}", *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    assert one["run"]["cluster"]["kind"] == "conf"
    assert bytes_moved(Kept(Path(one["path"])), "sort")["POSIXFS_BYTES_WRITTEN"] == SIZE


@pytest.mark.promise("Other programs see the files, without `.crc` files next to them", "how-to/filesystem")
@pytest.mark.usefixtures("alone")
def test_what_the_shell_writes_is_there_for_every_program(howdah: Howdah, root: Path, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(bytes(range(256)) * 5000)

    def fs(*arguments: str) -> str:
        return howdah("exec", "--name", "alone", "--", "hdfs", "dfs", *arguments).ok().out

    fs("-mkdir", "-p", "/user/ann")
    fs("-put", str(local), "/user/ann/a file")
    assert (root / "user/ann/a file").read_bytes() == local.read_bytes()
    assert not list((root / "user/ann").glob(".*")), "no checksum files beside it"
    assert "a file" in fs("-ls", "/user/ann")
    fs("-mv", "/user/ann/a file", "/user/ann/other")
    fs("-setfattr", "-n", "user.colour", "-v", "blue", "/user/ann/other")
    assert 'user.colour="blue"' in fs("-getfattr", "-d", "/user/ann/other")
    fs("-cp", "/user/ann/other", "/user/ann/copy")
    fs("-truncate", "-w", "1000", "/user/ann/copy")
    fs("-get", "/user/ann/cop*", str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_bytes() == local.read_bytes()[:1000]
    fs("-chmod", "640", "/user/ann/copy")
    fs("-setfacl", "-m", "user:nobody:r--", "/user/ann/copy")
    assert "user:nobody:r--" in fs("-getfacl", "/user/ann/copy")
    assert (root / "user/ann/copy").stat().st_mode & 0o777 == 0o640
    assert fs("-count", "/user/ann").split()[:3] == ["1", "2", str(local.stat().st_size + 1000)]
    assert fs("-df", "/").splitlines()[-1].split()[0].startswith("posixfs:")
    fs("-D", "fs.trash.interval=60", "-rm", "/user/ann/other")
    [trash] = root.glob("user/*/.Trash/Current/user/ann/other")
    assert trash.read_bytes() == local.read_bytes()
    fs("-rm", "-r", "-skipTrash", "/user")
    assert not (root / "user").exists()


@pytest.mark.promise("YARN, the job history and jobs run on `lustrefs:` as the default", "how-to/filesystem")
@pytest.mark.promise("`howdah down` removes what the cluster kept in the directory", "how-to/filesystem")
@pytest.mark.soak(part="storage")
def test_yarn_the_job_history_and_jobs_on_lustrefs_as_the_default(howdah: Howdah) -> None:
    """On a file system in memory: no Lustre, but something that is mounted."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as mount:
        (Path(mount) / "in").write_text("a b\na c\n")
        keys = {
            "fs.lustrefs.impl": "org.howdah.filesystem.LustreFileSystem",
            "fs.AbstractFileSystem.lustrefs.impl": "org.howdah.filesystem.LustreFs",
            "fs.lustrefs.mount": mount,
            "fs.defaultFS": "lustrefs:///",
        }
        options = [word for key, value in keys.items() for word in ("--conf", f"{key}={value}")]
        howdah("up", "--name", "lustre", "--storage", f"posix:{mount}", *options).ok()
        try:
            jar = "$HADOOP_HOME/share/hadoop/mapreduce/*examples-3*.jar"
            command = f"hadoop jar {jar} wordcount -D mapreduce.job.reduces=1 /in /out"
            said = howdah("exec", "--name", "lustre", "--", "sh", "-c", command).ok()
        finally:
            howdah("down", "--name", "lustre").ok()
        [part] = Path(mount).glob("out/part-r-*")
        assert part.read_text() == "a\t2\nb\t1\nc\t1\n"
        assert not [*Path(mount).glob(".howdah*")]
    # By the history server, as the application master is gone. Read are what the client says of the splits, too.
    assert re.search(r"LUSTREFS: Number of bytes written=12\n", said.err)
    assert re.search(r"LUSTREFS: Number of bytes read=[1-9]", said.err)


@pytest.mark.promise("Hadoop's contract suites pass, on MooseFS and `lustrefs:` too", "how-to/filesystem")
@pytest.mark.soak(part="storage")
def test_hadoops_suites_pass_on_lustrefs() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        assert failures(Path(place), "lustrefs", scheme="lustrefs") == set()


@pytest.mark.soak(part="storage")
def test_a_run_without_a_cluster_brings_one_up_on_the_storage(howdah: Howdah, tmp_path: Path) -> None:
    [one] = howdah(*SORT, "--storage", f"posix:{tmp_path}", *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    assert bytes_moved(Kept(Path(one["path"])), "sort")["POSIXFS_BYTES_WRITTEN"] == SIZE


@pytest.mark.promise("On a cluster with two storages, a run chooses one", "how-to/filesystem")
@pytest.mark.usefixtures("both")
def test_a_run_chooses_among_the_storages(howdah: Howdah, shared: Path) -> None:
    trials = set()
    for storage, scheme in ((f"posix:{shared}", "POSIXFS"), ("hdfs", "HDFS")):
        [one] = howdah(*SORT, "--cluster", "both", "--storage", storage, *QUICK).json()["runs"]
        assert one["run"]["outcome"]["kind"] == "valid"
        moved = bytes_moved(Kept(Path(one["path"])), "sort")
        assert moved[f"{scheme}_BYTES_WRITTEN"] == SIZE
        # What is the job's own is in HDFS.
        assert scheme == "HDFS" or moved["POSIXFS_BYTES_READ"] == SIZE
        trials.add(one["run"]["trial"]["identity"])
        assert one["run"]["trial"]["settings"].get("storage", "hdfs") == storage
    assert len(trials) == 2, "they are no replicates"


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("source", "target", "way"),
    [
        pytest.param("hdfs", "posix", ("--to", "posix"), marks=pytest.mark.soak(part="storage")),
        # The generator has to work on another storage than the default.
        pytest.param(
            *("posix", "hdfs", ("--storage", "posix:SHARED", "--to", "hdfs")), marks=pytest.mark.soak(part="storage")
        ),
        pytest.param("posix", "hdfs", ("--from", "posix", "--to", "hdfs"), marks=pytest.mark.soak(part="storage")),
    ],
)
def test_the_workload_distcp_copies_from_one_storage_to_the_other(
    howdah: Howdah, shared: Path, source: str, target: str, way: tuple[str, ...]
) -> None:
    options = [one.replace("SHARED", str(shared)) for one in way]
    [one] = howdah("run", "distcp", "--cluster", "both", *options, *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    moved = bytes_moved(Kept(Path(one["path"])), "copy")
    names = {"hdfs": "HDFS", "posix": "POSIXFS"}
    assert moved[f"{names[source]}_BYTES_READ"] >= 16 << 20
    assert moved[f"{names[target]}_BYTES_WRITTEN"] >= 16 << 20


@pytest.mark.usefixtures("alone")
@pytest.mark.soak(part="storage")
@pytest.mark.parametrize("workload", ["dfsio", "hs"])
def test_workloads_that_ask_the_storage_need_no_hdfs(howdah: Howdah, workload: str) -> None:
    [one] = howdah("run", workload, "--cluster", "alone", *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    refused = howdah("run", "distcp", "--cluster", "alone", "--to", "hdfs", *QUICK)
    assert refused.code == 2
    assert "--to hdfs: the cluster has no such storage; it has posix" in refused.err


@pytest.mark.soak(part="storage")
def test_the_storage_that_is_named_first_is_the_default(howdah: Howdah, tmp_path: Path) -> None:
    root = tmp_path / "first"
    root.mkdir()
    howdah("up", "--name", "first", "--storage", f"posix:{root},hdfs").ok()
    try:
        for options, scheme in (((), "POSIXFS"), (("--storage", "hdfs"), "HDFS")):
            [one] = howdah("run", "pi", "--cluster", "first", *options, *QUICK).json()["runs"]
            assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
            assert bytes_moved(Kept(Path(one["path"])), "pi")[f"{scheme}_BYTES_READ"] > 0
    finally:
        howdah("down", "--name", "first").ok()


@pytest.mark.promise("DistCp compares checksums with HDFS", "how-to/filesystem")
@pytest.mark.usefixtures("both")
def test_distcp_compares_checksums_with_hdfs(howdah: Howdah, shared: Path, tmp_path: Path) -> None:
    content = tmp_path / "content"
    content.write_bytes(b"some bytes\n" * 300_000)

    def on(*command: str) -> str:
        return howdah("exec", "--name", "both", "--", *command).ok().out

    on("hdfs", "dfs", "-mkdir", "-p", "/from")
    on("hdfs", "dfs", "-Ddfs.blocksize=1048576", "-put", str(content), "/from/file")
    on("hdfs", "dfs", "-touchz", "/from/empty")
    on("hadoop", "distcp", COMPOSITE, "-m", "1", "/from", "posixfs:///to")
    assert (shared / "to/file").read_bytes() == content.read_bytes()
    names = ("/from/file", "posixfs:///to/file", "/from/empty", "posixfs:///to/empty")
    said = on("hdfs", "dfs", COMPOSITE, "-checksum", *names).splitlines()
    assert said[0].split()[1:] == said[1].split()[1:]
    assert said[2].split()[1:] == said[3].split()[1:]
    assert "COMPOSITE-CRC32C" in said[0]
    damaged = bytearray(content.read_bytes())
    damaged[1_000_000] ^= 1
    (shared / "to/file").write_bytes(damaged)
    on("hadoop", "distcp", COMPOSITE, "-m", "1", "-update", "/from", "posixfs:///to")
    assert (shared / "to/file").read_bytes() == content.read_bytes(), "of the same length, but not the same"


def test_a_directory_that_is_not_there_or_not_the_clusters(howdah: Howdah, both: dict[str, Any]) -> None:
    said = howdah("up", "--name", "nowhere", "--storage", "posix:/nowhere/at/all")
    assert said.code == 1
    assert "no directory /nowhere/at/all that one can write to" in said.err
    said = howdah("up", "--name", "nowhere", "--storage", "lustre")
    assert said.code == 2
    assert "posix:/DIRECTORY" in said.err
    said = howdah("run", "pi", "--cluster", both["name"], "--storage", "posix:/tmp", *QUICK)
    assert said.code == 2
    assert "has no storage posix:/tmp" in said.err
