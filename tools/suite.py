"""Run everything that every change must pass: `make test`. Cheap parts run before expensive ones; each is announced.

The JVMs of the tests with daemons live for seconds, and run without the optimising compiler. A small job in one process
takes 2.7 s of CPU, not 4.7. `make soak` has the compiler, and the costly variants.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from howdah.hadoop.distribution.jdk import choose_jdk, find_jdks
from howdah.hadoop.distribution.lock import managed_versions
from howdah.host.channel import open_local
from tools import budget, leftovers

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (str(ROOT / ".venv/bin/pytest"), "-o", f"cache_dir={ROOT}/.build/suite/cache")
REPORT = ROOT / ".build" / "suite" / "daemons.xml"
QUICK_JDK = Path.home() / ".cache" / "howdah" / "jdk"
"""Not below the repository, which an installed Howdah must not know. The path is fixed: class archives name it."""
MVN = ("mvn", "-B", "--no-transfer-progress", "-q", "-f", str(ROOT / "java/pom.xml"))


@dataclass(frozen=True, slots=True)
class Part:
    """Commands that run one after the other; `minutes` is their time on two processors of an AMD EPYC."""

    name: str
    minutes: float
    commands: Sequence[Sequence[str]]


def parts(scratch: Path) -> Sequence[Part]:
    """Return the parts of `make test`, in their order."""
    # Short: the socket of a cluster's supervisor has a path of at most 107 bytes.
    pytest = (*PYTEST, f"--basetemp={scratch}/t")
    # With a third process, two processors are busy all the time and tests wait for each other.
    daemons = (*pytest, "-m", "not soak", "-n", "2", "--dist", "loadscope", "--no-loadscope-reorder")
    return (
        Part("format, lint, types, layers, unit tests", 2.5, [("make", "check")]),
        Part(
            "contracts, golden files and units that need daemons or more than a minute",
            1,
            [
                *((str(ROOT / ".venv/bin/howdah"), "hadoop", "fetch", version) for version in managed_versions()),
                (*pytest, "-q", "-m", "(daemons or slow) and not soak", "tests/contract", "tests/golden", "tests/unit"),
            ],
        ),
        Part(
            "the data plane: Java, on Hadoop 3.4.2 in whole, on 3.5.0 in part",
            4,
            [
                (*MVN, "-P", "hadoop-3.5,benchmarks", "-T", "2", f"-Djava.io.tmpdir={scratch}", "verify"),
                (sys.executable, "-m", "tools.skips", "filesystem"),
            ],
        ),
        Part(
            "real clusters, and faults",
            34,
            [(*daemons, "--max-worker-restart=0", f"--junitxml={REPORT}", "tests/system", "tests/faults")],
        ),
    )


def main() -> int:
    """Run the parts, up to the first that fails; then compare times with budgets and look for leftovers."""
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    before = leftovers.look()
    scratch = Path(tempfile.mkdtemp(prefix="howdah-"))
    own = {"TMPDIR": str(scratch), "HOWDAH_LOCKS": str(scratch)}
    environment = {**os.environ, **own, "JAVA_HOME": str(quick_jdk(scratch))}
    whole, took = parts(scratch), list[float]()
    for number, part in enumerate(whole, start=1):
        rest = sum(one.minutes for one in whole[number - 1 :])
        say(f"[{number}/{len(whole)}] {part.name}: usually {part.minutes:g} min, {rest:g} min to the end")
        began = time.monotonic()
        # The tests with daemons alone have the quick JDK: the data plane is built by the whole one.
        code = run(part, environment if part is whole[-1] else {**environment, "JAVA_HOME": str(home_of_jdk())})
        took.append((time.monotonic() - began) / 60)
        if code != 0:
            say(f"[{number}/{len(whole)}] {part.name}: FAILED after {took[-1]:.1f} min; files are kept in {scratch}")
            return code
    shutil.rmtree(scratch, ignore_errors=True)
    wrong = [*budget.check(REPORT), *leftovers.since(before)]
    for line in wrong:
        print(line)
    times = ", ".join(
        f"{part.name.split(',')[0].split(':')[0]} {minutes:.1f}" for part, minutes in zip(whole, took, strict=True)
    )
    say(f"{'FAILED' if wrong else 'passed'} in {sum(took):.1f} min: {times}")
    return 1 if wrong else 0


def run(part: Part, environment: Mapping[str, str]) -> int:
    """Run the commands of a part; return the exit code of the first that fails, or 0."""
    for command in part.commands:
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code != 0:
            return code
    return 0


def home_of_jdk() -> Path:
    """Return the JDK that Howdah chooses here."""
    with closing(open_local("here")) as host:
        return Path(choose_jdk(find_jdks(host), "3.4.2").home)


def quick_jdk(scratch: Path, quick: Path = QUICK_JDK) -> Path:
    """Make a copy of that JDK at `quick` with another `java`, and return its path.

    This `java` runs without the optimising compiler, with `scratch` for temporary files.
    """
    real = home_of_jdk()
    shutil.rmtree(quick, ignore_errors=True)
    (quick / "bin").mkdir(parents=True)
    for place in (real, real / "bin"):
        for entry in place.iterdir():
            if entry.name not in ("bin", "java"):
                (quick / entry.relative_to(real)).symlink_to(entry)
    java = quick / "bin" / "java"
    flags = f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={scratch}"
    java.write_text(f'#!/bin/sh\nexec "{real}/bin/java" {flags} "$@"\n', encoding="utf-8")
    java.chmod(0o755)
    return quick


def say(line: str) -> None:
    print(f"\n=== {time.strftime('%H:%M:%S')} {line}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
