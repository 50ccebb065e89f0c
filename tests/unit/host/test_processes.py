"""Facts about processes that run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from howdah.host.agent.processes import command_lines, jvm, resident_memory

GONE = 1 << 22


@pytest.mark.promise("A number that could not be measured is absent, never 0", "README")
def test_memory_and_words_of_processes() -> None:
    own = os.getpid()
    found = resident_memory([own, GONE])
    assert list(found) == [str(own)]
    assert 1e6 < found[str(own)] < 1e11
    words, none = command_lines([own, GONE])
    assert words[0].endswith(Path(sys.executable).name) or "python" in words[0]
    assert none == []


def process(proc: Path, pid: int, home: Path, *maps: str) -> None:
    """A Java of that home which has these files in memory."""
    place = proc / str(pid)
    place.mkdir(parents=True)
    (place / "exe").symlink_to(home / "bin" / "java")
    (place / "maps").write_text("".join(f"7f00-7f01 r-xp 0 08:01 1 {one}\n" for one in maps))


@pytest.mark.promise("The environment of each host has its JDK, its firmware, and whether native code is loaded",
                     "reference/run-directory")  # fmt: skip
def test_the_java_of_a_daemon(tmp_path: Path) -> None:
    proc, home = tmp_path / "proc", tmp_path / "jdk"
    home.mkdir()
    (home / "release").write_text('IMPLEMENTOR="Eclipse Adoptium"\nJAVA_VERSION="17.0.18"\nOS_NAME="Linux"\n')
    process(proc, 7, home, "/hadoop/lib/native/libhadoop.so.1.0.0", "/usr/lib/libc.so.6")
    process(proc, 8, tmp_path / "other", "/usr/lib/libc.so.6")
    assert jvm([GONE, 7], str(proc)) == {"version": "17.0.18", "vendor": "Eclipse Adoptium", "hadoop_native": True}
    # The KDC of a cluster is a daemon, too, and no program of Hadoop.
    assert jvm([8, 7], str(proc)) == {"version": None, "vendor": None, "hadoop_native": True}
    assert jvm([8], str(proc)) == {"version": None, "vendor": None, "hadoop_native": False}
    assert jvm([GONE], str(proc)) == {}


def test_a_process_that_is_no_java_has_no_jdk() -> None:
    with subprocess.Popen(["sleep", "60"]) as sleep:
        assert jvm([sleep.pid]) == {"version": None, "vendor": None, "hadoop_native": False}
        sleep.kill()
