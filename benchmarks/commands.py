"""How quick the command line is: `howdah --help`, and `howdah runs` over 1,000 runs."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.pairs import ROOT

ROUNDS = 10


def measure() -> list[str]:
    """Medians and ranges of wall time."""
    with tempfile.TemporaryDirectory() as home:
        runs = Path(home) / "runs"
        golden = next((ROOT / "tests" / "golden" / "run-v1").rglob("run.json")).read_text(encoding="utf-8")
        for number in range(1000):
            record = {**json.loads(golden), "id": f"20261120-{number:06d}-terasort-{number:04x}"}
            (runs / record["id"]).mkdir(parents=True)
            (runs / record["id"] / "run.json").write_text(json.dumps(record), encoding="utf-8")
        rows = {"`howdah --help`": ("--help",), "`howdah runs`, 1,000 runs": ("runs",)}
        return [f"- {name}: {time_words(*arguments, HOWDAH_HOME=home)}" for name, arguments in rows.items()]


def time_words(*arguments: str, rounds: int = ROUNDS, **environment: str) -> str:
    """Median and range of the wall time of a howdah command."""
    seconds = []
    for _ in range(rounds):
        began = time.monotonic()
        subprocess.run(
            [str(Path(sys.executable).with_name("howdah")), *arguments],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
        )
        seconds.append(time.monotonic() - began)
    return f"median {statistics.median(seconds):.2f} s ({min(seconds):.2f}–{max(seconds):.2f}, n={rounds})"
