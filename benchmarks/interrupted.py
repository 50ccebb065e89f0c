"""A whole experiment on real clusters that is killed at random points and resumed: nothing lost, nothing done twice.

Its page is copied to docs/examples/. The row goes on where it was stopped, as all do.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks.pairs import KEPT, ROOT

FILE = ROOT / "experiments" / "terasort.yaml"
DIRECTORY = KEPT / "experiment"
KILLS = KEPT / "experiment-kills.json"
EXAMPLES = ROOT / "docs" / "examples"
TIMES = 3
# A run of this experiment takes about a minute: a kill hits the middle of one, or the time between two.
SOONEST, LATEST = 90.0, 600.0


def measure() -> list[str]:
    """Runs or resumes the experiment, kills it until it was killed `TIMES` times, lets it end and copies its page."""
    chance = random.Random(os.environ.get("SEED", "20261122"))
    points = [chance.uniform(SOONEST, LATEST) for _ in range(TIMES)]
    kills = json.loads(KILLS.read_text()) if KILLS.exists() else []
    while True:
        after = points[len(kills)] if len(kills) < TIMES else None
        code = _work(after)
        if code is not None:
            break
        kills.append({"after_seconds": round(after or 0), "ended": _ended()})
        KILLS.write_text(json.dumps(kills, indent=1))
        print(f"killed after {after:.0f} s, with {len(kills[-1]['ended'])} runs ended", file=sys.stderr, flush=True)
    if code != 0:
        raise SystemExit(f"the experiment ended with exit code {code}; see {DIRECTORY}.log")
    if len(kills) < TIMES:
        raise SystemExit(f"the experiment ended after {len(kills)} kills; remove {DIRECTORY} and {KILLS} to begin anew")
    return _say(kills)


def _work(seconds: float | None) -> int | None:
    """Runs or resumes; kills the process, as `kill -9` does, after `seconds`, if it lives so long. Returns its exit
    code, None for one that was killed."""
    what = ("resume", str(DIRECTORY)) if DIRECTORY.exists() else ("run", str(FILE), "--out", str(DIRECTORY))
    KEPT.mkdir(parents=True, exist_ok=True)
    with Path(f"{DIRECTORY}.log").open("a", encoding="utf-8") as log:
        begun = subprocess.Popen([sys.executable, "-m", "howdah", "experiment", *what], stdout=log, stderr=log)
        try:
            return begun.wait(seconds)
        except subprocess.TimeoutExpired:
            begun.send_signal(signal.SIGKILL)
            begun.wait()
            # What it had started notices, and ends; the next one would wait for it as well.
            time.sleep(5)
            return None


def _ended() -> Mapping[str, str]:
    """A digest of the numbers of every run that has ended well, by the run's name."""
    found = {}
    for record in sorted(DIRECTORY.glob("runs/*/run.json")):
        if json.loads(record.read_text())["outcome"]["kind"] == "valid":
            found[record.parent.name] = hashlib.sha256((record.parent / "samples.jsonl").read_bytes()).hexdigest()
    return found


def _say(kills: list[Mapping[str, Mapping[str, str]]]) -> list[str]:
    now = _ended()
    lost = {name for kill in kills for name, digest in kill["ended"].items() if now.get(name) != digest}
    if lost:
        raise SystemExit(f"runs that had ended are lost or changed: {', '.join(sorted(lost))}")
    records = [json.loads(file.read_text()) for file in sorted(DIRECTORY.glob("runs/*/run.json"))]
    valid = [record["labels"] for record in records if record["outcome"]["kind"] == "valid"]
    places = Counter((labels["block"], labels["place"]) for labels in valid)
    if twice := [place for place, count in places.items() if count > 1]:
        raise SystemExit(f"done twice: block and place {twice}")
    # The record of a run that was killed still says that it runs.
    kinds = {"running": "interrupted"}
    outcomes = Counter(kinds.get(kind := record["outcome"]["kind"], kind) for record in records)
    EXAMPLES.mkdir(exist_ok=True)
    for suffix in (".html", ".md", ".json"):
        page = EXAMPLES / f"{FILE.stem}{suffix}"
        subprocess.run(
            [sys.executable, "-m", "howdah", "experiment", "report", str(DIRECTORY), "--output", str(page)], check=True
        )
    shutil.copy(FILE, EXAMPLES / FILE.name)
    return [
        f"killed {len(kills)} times, after {', '.join(str(kill['after_seconds']) for kill in kills)} s of work; "
        f"{len(now)} valid runs, none lost, none changed, none done twice",
        f"all runs by outcome: {', '.join(f'{count} {kind}' for kind, count in sorted(outcomes.items()))}",
    ]
