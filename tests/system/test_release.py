"""A release: the same tree gives the same bytes, and what is installed of it works without the repository."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.system.kept import Kept
from tests.system.release import JARS, ROOT, Installed, copied_tree, find_python, release, wheel_of
from tests.system.running import Howdah, processes_of

pytestmark = pytest.mark.daemons

VERSION = "0.1.0"
OLDER = "0.0.9"
BARE = ("--no-calibration", "--no-probes", "--no-report", "--cluster", "installed")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_tree(tmp_path_factory.mktemp("release") / "another place")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of this tree."""
    return release(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.mark.promise("The same commit gives the same bytes", "how-to/install")
def test_another_tree_of_the_same_commit_gives_the_same_bytes(made: Path, tree: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        release(tree, tmp_path / "dist")
    assert b"`make dist` builds jars and wheel" in refused.value.stderr, "no wheel is built without the jars"
    package = ["mvn", "-B", "-q", "-f", f"{tree}/java/pom.xml", "package", "-DskipTests"]
    subprocess.run(package, check=True, capture_output=True)
    again = release(tree, tmp_path / "dist")
    assert (again / "SHA256SUMS").read_text() == (made / "SHA256SUMS").read_text()
    assert {file.name for file in made.iterdir()} == {
        f"howdah-{VERSION}-py3-none-any.whl",
        f"howdah-{VERSION}.tar.gz",
        f"howdah-accelerator-{VERSION}.jar",
        f"howdah-filesystem-{VERSION}.jar",
        "SHA256SUMS",
    }
    for line in (made / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest


@pytest.mark.promise("The source distribution gives the same wheel", "how-to/install")
def test_the_source_distribution_gives_the_same_wheel(made: Path, tmp_path: Path) -> None:
    with tarfile.open(made / f"howdah-{VERSION}.tar.gz") as sources:
        moment = sources.getmembers()[0].mtime
        sources.extractall(tmp_path, filter="data")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path],
        cwd=tmp_path / f"howdah-{VERSION}",
        env={**os.environ, "SOURCE_DATE_EPOCH": str(moment)},
        check=True,
        capture_output=True,
    )
    again, before = content(wheel_of(tmp_path)), content(wheel_of(made))
    assert again.keys() == before.keys()
    assert [name for name, data in again.items() if data != before[name] and not name.endswith("/RECORD")] == []


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.fixture(scope="module")
def older(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of an earlier version, whose accelerator was another file."""
    package = tree / "src/howdah/__init__.py"
    package.write_text(package.read_text().replace(VERSION, OLDER))
    (tree / JARS).mkdir(exist_ok=True)
    for jar in (ROOT / JARS).iterdir():
        (tree / JARS / jar.name).write_bytes(jar.read_bytes())
    accelerator = tree / JARS / "howdah-accelerator.jar"
    # A jar ends with a comment and, before it, the comment's length.
    accelerator.write_bytes(accelerator.read_bytes()[:-2] + len(OLDER).to_bytes(2, "little") + OLDER.encode())
    return wheel_of(release(tree, tmp_path_factory.mktemp("older")))


@pytest.fixture
def installed(howdah: Howdah, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Installed]:
    """An empty environment, of this Python unless a test names another, with Hadoop in the cache of its HOWDAH_HOME."""
    version = getattr(request, "param", None)
    python = sys.executable if version is None else find_python(version)
    if python is None:
        pytest.skip(f"no Python {version} that can make environments was found on this machine")
    home = tmp_path / "home"
    home.mkdir()
    (home / "cache").symlink_to(howdah.home / "cache")
    yield Installed(home, tmp_path, python)
    howdah("down", "--all", env={"HOWDAH_HOME": str(home)})
    assert processes_of(home) == []


@pytest.fixture
def posix(tmp_path: Path) -> Path:
    directory = tmp_path / "posix"
    directory.mkdir()
    return directory


def run_valid(installed: Installed, *options: str) -> Kept:
    """The run directory of `howdah run OPTIONS…`, after a look at what it must have and must not."""
    [one] = installed("run", *options, "--json", timeout=500).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    kept = Kept(Path(one["path"]))
    # The machine's busiest processes are in the record; they may be those of the test beside this one.
    environment = kept.record("environment.json")
    machines = [*environment["before"]["hosts"].values(), *environment["after"]["hosts"].values()]
    others = [json.dumps(one["command"])[1:-1] for host in machines for one in host["now"]["busiest"]]
    assert named_in(kept.path, str(ROOT), others) == []
    if options[0] == "terasort":
        counters = kept.job("sort")["counters"]
        sorted_by_us = counters.get("Howdah Sort", {}).get("RECORDS", 0)
        on_posix = counters["org.apache.hadoop.mapreduce.FileSystemCounter"].get("POSIXFS_BYTES_WRITTEN", 0)
        assert (sorted_by_us > 0) == ("--accelerator" in options)
        assert (on_posix > 0) == ("--storage" in options)
    return kept


def named_in(directory: Path, text: str, besides: Iterable[str] = ()) -> list[Path]:
    """The files in `directory` that have `text` elsewhere than in the lines with one of `besides`."""

    def names(file: Path) -> bool:
        lines = [line for line in file.read_bytes().splitlines() if text.encode() in line]
        return any(not any(other.encode() in line for other in besides) for line in lines)

    return [file for file in directory.rglob("*") if file.is_file() and names(file)]


@pytest.mark.promise(
    "The wheel works without the repository, and is upgraded and removed as the page says", "how-to/install"
)
def test_installed_upgraded_and_removed(installed: Installed, made: Path, older: Path, posix: Path) -> None:
    installed.pip("install", "--no-compile", "--require-hashes", "-r", str(ROOT / "requirements/run.txt"))
    installed.pip("install", "--no-index", str(older))
    installed("up", "--name", "installed", "--storage", f"hdfs,posix:{posix}", timeout=500).ok()
    before = run_valid(installed, "terasort", "--size", "1M", *BARE)

    installed.pip("install", "--no-index", "--upgrade", str(wheel_of(made)))
    assert f"howdah {VERSION}, commit " in installed("--version").out
    assert "up, 1 node" in installed("status").ok().out
    assert "valid" in installed("show", before.path.name).ok().out
    ours = ("--accelerator", "sort", "--storage", f"posix:{posix}")
    after = run_valid(installed, "terasort", "--size", "1M", *ours, *BARE)
    run_valid(installed, "wordcount", "--size", "1M", "--engine", "streaming", *BARE)
    [said] = [text for text in (one["text"] for one in after.record("run.json")["caveats"]) if "since the" in text]
    assert "howdah-accelerator.jar" in said, "the cluster came up with that of the earlier version"
    assert named_in(installed.home / "clusters/installed/conf", str(ROOT)) == []
    assert "is down" in installed("down", "--name", "installed").ok().out
    assert processes_of(installed.home) == []
    assert [path.name for path in posix.iterdir()] == ["howdah"], "data directories of runs stay"

    installed.pip("uninstall", "--yes", "howdah")
    assert list(installed.files()) == []
    assert [kept.record("run.json")["howdah"] for kept in (before, after)] == [OLDER, VERSION]


@pytest.mark.promise("The wheel works with Python 3.11, 3.12 and 3.13", "how-to/install")
@pytest.mark.soak(part="release")
@pytest.mark.parametrize("installed", ["3.11", "3.12", "3.13"], indirect=True)
def test_what_the_registry_has_now_serves_each_python(installed: Installed, made: Path, posix: Path) -> None:
    installed.pip("install", str(wheel_of(made)))
    run_valid(installed, "terasort", "--size", "100M")
    run_valid(installed, "terasort", "--size", "100M", "--accelerator", "sort")
    run_valid(installed, "terasort", "--size", "100M", "--storage", f"posix:{posix}")
    run_valid(installed, "wordcount", "--engine", "streaming", "--size", "smoke")


@pytest.mark.promise("`pip install 'howdah[spark]'` brings Spark", "how-to/install")
@pytest.mark.soak(part="release")
def test_the_extra_brings_spark(installed: Installed, made: Path) -> None:
    installed.pip("install", f"howdah[spark] @ {wheel_of(made).as_uri()}")
    run_valid(installed, "wordcount", "--engine", "spark", "--size", "1M")
