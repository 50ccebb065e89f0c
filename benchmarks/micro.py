"""What sorting, writing and merging a record of TeraSort costs, beside Hadoop's own classes, in one JVM each (JMH)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.pairs import KEPT, ROOT, howdah

RECORD = 102
# Ours must be so many times as fast; below it something was broken. Half of what was measured, about; less of merging.
LEAST = {"sort": 5.0, "write": 4.0, "merge": 1.3}


def measure() -> list[str]:
    """A table of nanoseconds per record and ratios. Exits when a ratio is below LEAST."""
    maven = ["mvn", "-B", "-q", "-f", str(ROOT / "java/pom.xml"), "-P", "benchmarks"]
    done = subprocess.run([*maven, "-pl", "sort,benchmarks", "package", "-DskipTests"], check=False)
    if done.returncode != 0 or howdah("hadoop", "fetch").returncode != 0:
        raise SystemExit("the micro-benchmarks could not be built")
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / "micro.json"
    home = Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah") / "cache" / "hadoop" / "3.4.2"
    jars = [str(ROOT / "java/benchmarks/target/howdah-benchmarks.jar"), *map(str, sorted(home.glob("**/*.jar")))]
    command = ["java", "-cp", ":".join(jars), "org.openjdk.jmh.Main", "-rf", "json", "-rff", str(kept)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    found = {
        one["benchmark"].rpartition(".")[2]: (one["primaryMetric"]["score"], one["primaryMetric"]["scoreError"])
        for one in json.loads(kept.read_text())
    }
    lines = [
        "| | ns per record, Hadoop's | ours | MB/s, Hadoop's | ours | Hadoop's ÷ ours |",
        "|---|---|---|---|---|---|",
    ]
    slow = []
    for name, least in LEAST.items():
        theirs, ours = found[f"{name}Stock"], found[f"{name}Ours"]
        ratio = theirs[0] / ours[0]
        times, speeds = (" | ".join(map(told, (theirs, ours))) for told in (_with_error, _speed))
        lines.append(f"| {name} | {times} | {speeds} | {ratio:.1f} |")
        if ratio < least:
            slow.append(f"{name}: {ratio:.2f}, at least {least}")
    copy = found["memoryCopy"]
    lines.append(f"| a copy in memory | | {_with_error(copy)} | | {_speed(copy)} | |")
    if slow:
        raise SystemExit("\n".join([*lines, "too slow:", *slow]))
    return lines


def _with_error(found: tuple[float, float]) -> str:
    return f"{found[0]:.0f} ± {found[1]:.0f}"


def _speed(found: tuple[float, float]) -> str:
    return f"{RECORD / found[0] * 1e3:.0f}"
