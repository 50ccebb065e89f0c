"""Hadoop's own suites for file systems, run over a directory by Maven, beside what a build has run of them."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

JAVA = Path(__file__).resolve().parents[2] / "java"
LEAST = 600
"""So many tests there are at least, or they were not found."""


def failures(place: Path, suffix: str, *, scheme: str = "posixfs", before: Sequence[str] = ()) -> set[str]:
    """The names of the tests that failed with files in `place`; `suffix` keeps reports apart, `before` is a command
    that runs another."""
    command = ["mvn", "-o", "-B", "-q", "-f", str(JAVA / "pom.xml"), "-pl", "filesystem", "test"]
    options = [f"-Dhowdah.mounts={place}", f"-Dhowdah.scheme={scheme}", f"-Dsurefire.reportNameSuffix={suffix}"]
    options += ["-Dtest=*Contracts$*", "-Dmaven.test.failure.ignore"]
    said = subprocess.run([*before, *command, *options], capture_output=True, timeout=500, check=False)
    assert said.returncode == 0, said.stdout.decode()
    cases = []
    for report in (JAVA / "filesystem" / "target" / "surefire-reports").glob(f"TEST-*-{suffix}.xml"):
        cases += ET.parse(report).findall(".//testcase")
        report.unlink()
    assert len(cases) > LEAST
    return {
        str(case.get("name")) for case in cases if case.find("failure") is not None or case.find("error") is not None
    }
