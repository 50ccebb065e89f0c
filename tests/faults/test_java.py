"""No Java, only one that is too old, only one that is too new: in a mount namespace where the real ones are hidden."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Home, one_message

_UNSHARE = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))

pytestmark = pytest.mark.skipif(
    subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
    reason="no mount namespace can be made here",
)


def only(java: Path) -> tuple[str, ...]:
    """What precedes a command so that `java` is all it sees in the usual directory of JDKs."""
    script = f'mount --bind {shlex.quote(str(java))} /usr/lib/jvm && exec "$@"'
    return (*_UNSHARE, "sh", "-c", script, "sh")


def jdk(directory: Path, version: str) -> Path:
    """A JDK that has the version it says; nobody may start it."""
    home = directory / f"jdk-{version}"
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").write_text("#!/bin/sh\nexit 70\n")
    (home / "bin/java").chmod(0o755)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\nIMPLEMENTOR="Nobody"\nOS_ARCH="x86_64"\n')
    return home


def refused(home: Home, java: Path, **environment: str) -> str:
    # Without SDKMAN's and asdf's JDKs: those are looked for in the user's home.
    bare: dict[str, Any] = {"JAVA_HOME": "", "HOME": str(home.path), **environment}
    ended = home.howdah("up", around=only(java), **bare)
    assert ended.code == 1, ended.said
    return one_message(ended)


@pytest.fixture
def java(tmp_path: Path) -> Path:
    directory = tmp_path / "jvm"
    directory.mkdir()
    return directory


def test_no_java(home: Home, java: Path) -> None:
    message = refused(home, java)
    assert message.startswith("no Java for Hadoop 3.4.2: none was found\nInstall Java 17 or 11 (`apt install openjdk-")


def test_java_too_old(home: Home, java: Path) -> None:
    old = jdk(java, "1.7.0_80")
    message = refused(home, java, JAVA_HOME=str(old))
    assert f"7.0.80 in {old}: too old, Hadoop needs Java 8" in message
    assert "Install Java 17" in message


@pytest.mark.promise("The JDK that suits the Hadoop is chosen; others are refused with the reason", "reference/hadoop")
def test_java_too_new(home: Home, java: Path) -> None:
    jdk(java, "25.0.1")
    message = refused(home, java)
    assert "25.0.1 in /usr/lib/jvm/jdk-25.0.1: too new, javax.security.auth.Subject.getSubject is gone" in message
    assert "since Java 23" in message


def test_java_too_old_and_too_new_are_both_named(home: Home, java: Path) -> None:
    jdk(java, "1.7.0_80")
    jdk(java, "25.0.1")
    message = refused(home, java)
    assert "too old" in message
    assert "too new" in message


def test_a_path_without_java(home: Home, java: Path, tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    for name in ("unshare", "sh", "mount"):
        (empty / name).symlink_to(f"/usr/bin/{name}")
    assert "none was found" in refused(home, java, PATH=str(empty))
