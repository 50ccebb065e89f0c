"""The release on aarch64, which QEMU emulates: no figure of it says anything about such a machine.

Hadoop's daemons are not part of it: emulated, the class archive alone takes longer than `howdah up` waits.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system import emulated
from tests.system.release import ROOT, release, wheel_of
from tests.system.running import Howdah

pytestmark = [pytest.mark.daemons, pytest.mark.soak(part="aarch64"), pytest.mark.timeout(5400)]

ROWS = 100_000
_PLATFORMS = [f"manylinux_2_{glibc}_aarch64" for glibc in (36, 34, 28, 27, 17)]  # Debian 12 has glibc 2.36.
_SITE = """<configuration>
<property><name>fs.posixfs.impl</name><value>org.howdah.filesystem.PosixFileSystem</value></property>
<property><name>fs.AbstractFileSystem.posixfs.impl</name><value>org.howdah.filesystem.PosixFs</value></property>
<property><name>fs.posixfs.mount</name><value>/posix</value></property>
<property><name>mapreduce.framework.name</name><value>local</value></property>
</configuration>
"""
_JARS = "/venv/lib/python3.11/site-packages/howdah/jars"
_HADOOP = "/hadoop/bin/hadoop"
_EXAMPLES = "/hadoop/share/hadoop/mapreduce/hadoop-mapreduce-examples-3.4.2.jar"
_SORT = (
    "-Dmapreduce.job.map.output.collector.class="
    "org.howdah.sort.SortingCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer"
)


@pytest.fixture(scope="module")
def root(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Debian for aarch64 with the wheel installed in /venv and Hadoop in /hadoop."""
    if lacking := emulated.missing():
        pytest.skip(lacking)
    place = tmp_path_factory.mktemp("aarch64")
    root = place / "debian"
    wheel = wheel_of(release(ROOT, place / "wheels"))
    platforms = [word for name in _PLATFORMS for word in ("--platform", name)]
    pinned = ("--no-deps", "--require-hashes", "-r", ROOT / "requirements/run.txt")
    only = ("--only-binary=:all:", "--python-version", "3.11", *platforms)
    emulated.run(sys.executable, "-m", "pip", "download", "--quiet", "-d", place / "wheels", *pinned, *only)
    with emulated.arm_debian(root):
        for name in ("wheels", "hadoop", "posix", "conf"):
            (root / name).mkdir()
        # Our file system asks for the mount that a directory is on, and a changed root is none.
        for here, there in ((place / "wheels", "wheels"), (howdah.home / "cache/hadoop/3.4.2", "hadoop")):
            emulated.run("mount", "--bind", here, root / there)
        emulated.run("mount", "--bind", root / "posix", root / "posix")
        (root / "conf/core-site.xml").write_text(_SITE)
        emulated.run("chroot", root, "python3", "-m", "venv", "/venv")
        install = ("/venv/bin/pip", "install", "--no-compile", "--no-index", "--find-links", "/wheels")
        emulated.run("chroot", root, *install, f"/wheels/{wheel.name}")
        yield root


def said(root: Path, *command: str) -> str:
    """What `command` prints in the emulated Debian."""
    classes = f"{_JARS}/howdah-accelerator.jar:{_JARS}/howdah-filesystem.jar"
    environment = {
        "PATH": "/usr/bin:/bin",
        "JAVA_HOME": "/usr/lib/jvm/java-17-openjdk-arm64",
        "HADOOP_CONF_DIR": "/conf",
        "HADOOP_CLASSPATH": classes,
        "HOWDAH_HOME": "/howdah",
    }
    done = subprocess.run(["chroot", root, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr[-4000:]
    return done.stdout + done.stderr


def test_howdah_looks_at_the_machine(root: Path) -> None:
    assert "Hadoop 3.4.2 (primary)" in said(root, "/venv/bin/howdah", "--version")
    found = json.loads(said(root, "/venv/bin/howdah", "doctor", "--json").partition("\nhowdah:")[0])
    [java] = [one for one in found if one["name"] == "java"]
    assert (java["level"], "aarch64" in java["finding"]) == ("ok", True)


def test_terasort_is_the_same_plain_accelerated_and_on_posixfs(root: Path) -> None:
    made = "file:///tmp/rows"
    said(root, _HADOOP, "jar", _EXAMPLES, "teragen", str(ROWS), made)
    outputs = []
    for options, to in (((), "file:///tmp/plain"), ((_SORT,), "file:///tmp/ours"), ((_SORT,), "posixfs:///ours")):
        printed = said(root, _HADOOP, "jar", _EXAMPLES, "terasort", *options, made, to)
        assert ("Howdah Sort" in printed) == bool(options)
        place = root / to.replace("posixfs://", "posix").replace("file:///", "")
        outputs.append((place / "part-r-00000").read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(outputs[0]) == 100 * ROWS
    keys = [outputs[0][at : at + 10] for at in range(0, len(outputs[0]), 100)]
    assert keys == sorted(keys)
