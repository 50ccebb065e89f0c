"""How long a cluster takes to come up in a batch job, against the same number of simulated hosts without one.

A real Slurm over four simulated hosts (`tests/slurm.py`); only root can make them. `inside` is a job that runs already,
`outside` submits one: of its time, what the job waits for is left out. All have their software.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.pairs import howdah
from tests.slurm import Slurm, slurm

ROUNDS = int(os.environ.get("ROUNDS", "5"))
HOSTS = ("n1", "n2", "n3", "n4")
_NAME = "bench-jobs"


def measure() -> list[str]:
    """Interleaved rounds of all ways, in a new random order each round."""
    with tempfile.TemporaryDirectory() as scratch, slurm(Path(scratch, "slurm"), HOSTS) as system:
        os.environ |= system.environment
        place = Path(scratch, "scratch")
        place.mkdir()
        job = _allocate(system)
        of_jobs = f"scratch={place}"
        ways = {
            "simulated": ("--on", f"sim:{len(HOSTS)}"),
            "inside": ("--on", f"slurm:job={job},{of_jobs}", "--insecure"),
            "outside": ("--on", f"slurm:nodes={len(HOSTS)},time=20m,exclusive=no,{of_jobs}", "--insecure"),
        }
        for name in ("simulated", "inside"):  # Fills the stores.
            _up_and_down(ways[name], place)
        up: dict[str, list[float]] = {name: [] for name in ways}
        down: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(ROUNDS):
            for name in random.Random(number).sample(sorted(ways), len(ways)):
                first, last = _up_and_down(ways[name], place)
                up[name].append(first)
                down[name].append(last)
                print(f"round {number}: {name} up {first:.1f} s, down {last:.1f} s", file=sys.stderr, flush=True)
        system.run("scancel", job)
    lines = [_median(f"up, {name}", seconds) for name, seconds in up.items()]
    lines += [_median(f"down and hosts clean, {name}", seconds) for name, seconds in down.items()]
    over = [inside - 1.2 * plain for inside, plain in zip(up["inside"], up["simulated"], strict=True)]
    more = [outside - inside for outside, inside in zip(up["outside"], up["inside"], strict=True)]
    return [*lines, _median("inside − 1.2 × simulated", over), _median("outside − inside", more)]


def _median(what: str, seconds: list[float]) -> str:
    return f"- {what}: {statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f}, n={len(seconds)})"


def _allocate(system: Slurm) -> str:
    """A job that does nothing on all hosts; its id."""
    command = ("salloc", "--no-shell", f"--nodes={len(HOSTS)}", "--time=50", "--overcommit", "--oversubscribe")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    job = done.stderr.partition("Granted job allocation ")[2].split()[0]
    system.wait_for_state(job, "RUNNING")
    return job


def _up_and_down(options: tuple[str, ...], scratch: Path) -> tuple[float, float]:
    """Seconds of `up`, less those in the queue, and of `down` until the hosts have nothing of the cluster."""
    began = time.monotonic()
    done = howdah("up", "--name", _NAME, *options)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    seconds = time.monotonic() - began - _waited(done.stdout)
    began = time.monotonic()
    howdah("down", "--name", _NAME)
    while [one for one in scratch.glob("howdah-*/*") if one.name != "store"]:
        time.sleep(0.05)
    return seconds, time.monotonic() - began


def _waited(said: str) -> float:
    """How long a job waited before it ran, as `up` tells it: until the last look that found it waiting."""
    waits = [line.split()[0] for line in said.splitlines() if "waiting: job " in line]
    return max(map(float, waits), default=0.0)
