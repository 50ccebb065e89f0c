"""Results of Hadoop's contract suites on Howdah's file system and on three of Hadoop's, on Hadoop 3.4.2.

Howdah's file system is also tested on Hadoop 3.5.0.

.venv/bin/python tools/contracts.py    writes docs/reference/contracts.md

The results of Howdah's file system are the reports of `mvn -P hadoop-3.5 clean verify`. For the others, this program
runs Hadoop's test classes with Hadoop's release, its test jars and the same JVM without the right to bypass
permissions.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from howdah.store import howdah_home

ROOT = Path(__file__).resolve().parent.parent
JAVA = ROOT / "java"
KEPT = ROOT / ".build" / "contracts"
PAGE = ROOT / "docs" / "reference" / "contracts.md"
_HADOOP = "3.4.2"
_ARTIFACTS = (
    "org.junit.platform:junit-platform-console-standalone:1.10.2",
    "org.mockito:mockito-core:2.28.2",
    "net.bytebuddy:byte-buddy:1.9.10",
    "net.bytebuddy:byte-buddy-agent:1.9.10",
    "org.objenesis:objenesis:2.6",
    "org.assertj:assertj-core:3.12.2",
    "junit:junit:4.13.2",
    "org.hamcrest:hamcrest-core:1.3",
    *(
        f"org.apache.hadoop:{one}:{_HADOOP}:jar:{kind}"
        for one in ("hadoop-common", "hadoop-hdfs")
        for kind in ("tests", "test-sources")
    ),
)
_CONTRACT = re.compile(r"Test(RawLocal|LocalFS|HDFS)Contract(\w+)", re.IGNORECASE)
_SYSTEMS = {"rawlocal": "raw local", "localfs": "local", "hdfs": "HDFS"}
# The suites that are not of the package `contract`: ours, then what each system's class is called.
_OTHERS = {
    "Common": {"raw local": "fs.TestRawLocalFileSystemContract", "HDFS": "hdfs.TestHDFSFileSystemContract"},
    "MainOperations": {"local": "fs.TestFSMainOperationsLocalFileSystem"},
    "ContextOperations": {
        "local": "fs.TestLocalFSFileContextMainOperations",
        "HDFS": "fs.TestHDFSFileContextMainOperations",
    },
    "ContextDirectories": {"local": "fs.TestLocalFSFileContextCreateMkdir", "HDFS": "fs.TestFcHdfsCreateMkdir"},
    "ContextPermissions": {"local": "fs.TestFcLocalFsPermission", "HDFS": "fs.TestFcHdfsPermission"},
    "ContextCopies": {"local": "fs.TestFcLocalFsUtil"},
    "ContextStatistics": {"local": "fs.TestLocalFsFCStatistics"},
    "ContextLinks": {"local": "fs.TestSymlinkLocalFSFileContext", "HDFS": "fs.TestSymlinkHdfsFileContext"},
    "FileSystemLinks": {"local": "fs.TestSymlinkLocalFSFileSystem", "HDFS": "fs.TestSymlinkHdfsFileSystem"},
    "CopyFromLocal": {"local": "fs.TestLocalFSCopyFromLocal"},
}
# What the columns of ours are called, and the modules that they are the reports of.
_OURS = {"ours": "filesystem", "ours, 3.5.0": "filesystem-3.5"}
_ARMS = ("ours", *_SYSTEMS.values(), "ours, 3.5.0")
Counts = dict[str, int]


def main() -> int:
    jars = _jars()
    names = _classes(jars)
    found = {(arm, suite): counts for arm in _OURS for suite, counts in _ours(arm).items()}
    for (system, suite), name in names.items():
        if ("ours", suite) in found:
            found[system, suite] = _run(name, jars)
            print(f"{system}, {suite}: {_words(found[system, suite])}", file=sys.stderr, flush=True)
    PAGE.write_text(_page(found), encoding="utf-8")
    return 0


def _jars() -> list[Path]:
    """Return the class path: Hadoop's release, its tests, and their dependencies."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for artifact in _ARTIFACTS:
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={KEPT}"]
        _, name, version, *rest = artifact.split(":")
        if not (KEPT / "-".join([name, version, *rest[1:]])).with_suffix(".jar").is_file():
            subprocess.run(command, check=True)
    # Their settings say what each file system is expected to do; they are in the sources only.
    for archive in KEPT.glob("*-test-sources.jar"):
        with zipfile.ZipFile(archive) as sources:
            for member in sources.namelist():
                if re.fullmatch(r"(contract/\w+|core-site|hdfs-site)\.xml", member):
                    sources.extract(member, KEPT)
    home = howdah_home() / "cache" / "hadoop" / _HADOOP
    release = sorted(home.glob("**/share/hadoop/**/*.jar"))
    if not release:
        raise SystemExit(f"there is no Hadoop {_HADOOP} in {home}: run howdah hadoop fetch first")
    return [*(one for one in sorted(KEPT.glob("*.jar")) if "sources" not in one.name), *release]


def _classes(jars: Iterable[Path]) -> dict[tuple[str, str], str]:
    """Return Hadoop's test classes by file system and suite."""
    names = {
        (system, suite): f"org.apache.hadoop.{name}"
        for suite, systems in _OTHERS.items()
        for system, name in systems.items()
    }
    for jar in jars:
        if jar.name.endswith("-tests.jar") and jar.parent == KEPT:
            for member in zipfile.ZipFile(jar).namelist():
                match = _CONTRACT.fullmatch(Path(member).stem)
                if match and member.startswith("org/apache/hadoop/fs/contract/"):
                    names[_SYSTEMS[match[1].lower()], match[2]] = member.removesuffix(".class").replace("/", ".")
    return names


def _ours(arm: str) -> dict[str, Counts]:
    target = JAVA / _OURS[arm] / "target"
    reports = list((target / "surefire-reports").glob("TEST-*Contracts$*.xml"))
    if not reports:
        raise SystemExit(f"there are no reports in {target}: run mvn clean verify there first")
    return {report.stem.rpartition("$")[2]: _counts(report) for report in reports}


def _run(name: str, jars: Iterable[Path]) -> Counts:
    """Run one of Hadoop's classes in its own JVM and directory."""
    with tempfile.TemporaryDirectory() as place:
        options = ["--select-class", name, "--reports-dir", place, "--disable-banner", "--details", "none"]
        flags = [
            "-Xmx2g",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",  # As Hadoop's scripts: WebHDFS needs it.
            f"-Dtest.build.data={place}/data",
            f"-Dtest.build.dir={place}/build",
            "-Djava.net.preferIPv4Stack=true",
        ]
        path = ":".join([str(KEPT), *map(str, jars)])
        command = [str(JAVA / "filesystem/src/test/bin/java"), *flags, "-cp", path]
        command += ["org.junit.platform.console.ConsoleLauncher", "execute", *options]
        home = os.environ.get("JAVA_HOME") or str(Path(os.path.realpath("/usr/bin/java")).parents[1])
        said = subprocess.run(
            command, cwd=place, env={**os.environ, "JAVA_HOME": home}, capture_output=True, check=False
        )
        reports = [one for one in Path(place).glob("TEST-*.xml") if _counts(one)["all"]]
        if not reports:
            raise SystemExit(f"{name} could not be run:\n{said.stderr.decode()[-3000:]}")
        return _counts(reports[0])


def _counts(report: Path) -> Counts:
    counts = {"all": 0, "skipped": 0, "failed": 0}
    for case in ET.parse(report).iter("testcase"):
        counts["all"] += 1
        counts["skipped"] += case.find("skipped") is not None
        counts["failed"] += case.find("failure") is not None or case.find("error") is not None
    return counts


def _words(counts: Mapping[str, int] | None) -> str:
    """Return the numbers of passed, skipped and failed tests in words, as far as there are any."""
    if counts is None:
        return "–"
    parts = [str(counts["all"] - counts["skipped"] - counts["failed"])]
    parts += [f"{counts[one]} {one}" for one in ("skipped", "failed") if counts[one]]
    return ", ".join(parts)


def _page(found: Mapping[tuple[str, str], Counts]) -> str:
    suites = sorted({suite for _, suite in found})
    total = {
        arm: {
            key: sum(counts[key] for (one, _), counts in found.items() if one == arm)
            for key in ("all", "skipped", "failed")
        }
        for arm in _ARMS
    }
    lines = [
        "# Hadoop's contract suites",
        "",
        f"Tests that passed on Hadoop {_HADOOP}, by suite and file system, and how many of the others skip themselves",
        "or fail. A dash is where Hadoop has no such test class for that file system. A class may have tests of its",
        "own next to those of the suite, so the numbers of a row are not of the same tests. The last column is of",
        "Hadoop 3.5.0. Run as root without the right to pass over permissions; written by `tools/contracts.py`.",
        "",
        f"| suite | {' | '.join(_ARMS)} |",
        "|---|" + "---|" * len(_ARMS),
    ]
    lines += [f"| {suite} | {' | '.join(_words(found.get((arm, suite))) for arm in _ARMS)} |" for suite in suites]
    lines += [f"| all | {' | '.join(_words(total[arm]) for arm in _ARMS)} |", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
