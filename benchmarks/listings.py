"""`ROW=names-million`: what one directory of a million names costs to list, by `listStatus` and by an iterator.

The names are made in tmpfs in a random order, and the kernel lists them in the opposite one. Each figure is of a JVM of
its own, which has listed nothing before. The heap is the smallest, by bisection, with which the same call ends.
`BEFORE=JAR` also measures the file system of another jar, such as that of an earlier commit.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.filesystems import OURS, build, rounds, said_in_jvm, spread, target
from benchmarks.pairs import ROOT, output_of, ratio_words

COUNT = int(os.environ.get("COUNT", "1000000"))
_BEFORE = os.environ.get("BEFORE")
_JARS = {"posixfs": OURS, **({"posixfs, before": Path(_BEFORE)} if _BEFORE else {})}
_ARMS = (*_JARS, "python")
_OPERATIONS = ("list", "iterate", "first")
_HEAP = "-Xmx2g"
# MiB of heap: the least and the most that are tried, and how near to the smallest one is near enough.
_LEAST, _MOST, _NEAR = 0, 1024, 32


def measure() -> list[str]:
    """Runs the rounds that are missing (`ROUNDS`, 10 unless told), then looks for the smallest heaps."""
    home = build()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        place = Path(memory) / "names"
        _make(place)
        done = rounds("names-million", _ARMS, lambda arm: _figures(arm, place, home))
        heaps = {
            (operation, arm): str(_smallest_heap(arm, operation, place, home))
            for operation in _OPERATIONS
            for arm in _JARS
        }
        shutil.rmtree(place)
    return _table(done, heaps)


def _make(place: Path) -> None:
    place.mkdir()
    numbers = list(range(COUNT))
    random.Random(COUNT).shuffle(numbers)
    for number in numbers:
        os.close(os.open(f"{place}/part-r-{number:07}", os.O_WRONLY | os.O_CREAT, 0o644))


def _figures(arm: str, place: Path, home: Path) -> list[dict[str, object]]:
    if arm == "python":
        command = [sys.executable, str(ROOT / "benchmarks" / "names.py"), "sorted", str(place), "0"]
        return [{"operation": "list", **json.loads(output_of(command))}]
    found: list[dict[str, object]] = []
    for operation in _OPERATIONS:
        figures = json.loads(_said(arm, operation, place, home, _HEAP).splitlines()[-1])
        assert figures["done"] == (1 if operation == "first" else COUNT), figures
        found.append({"operation": operation, **figures})
    return found


def _said(arm: str, operation: str, place: Path, home: Path, *flags: str) -> str:
    uri, settings = target("posixfs", place, {})
    return said_in_jvm([operation, uri, "0", "1", "0", *settings], home, flags=flags, jar=_JARS[arm])


def _smallest_heap(arm: str, operation: str, place: Path, home: Path) -> int:
    """MiB with which the operation ends."""
    low, high = _LEAST, _MOST
    while high - low > _NEAR:
        middle = (low + high) // 2
        try:
            _said(arm, operation, place, home, f"-Xmx{middle}m", "-XX:+ExitOnOutOfMemoryError")
            high = middle
        except SystemExit:
            low = middle
    return high


def _table(done: Sequence[Mapping[str, object]], heaps: Mapping[tuple[str, str], str]) -> list[str]:
    lines = ["| operation | arm | s | processor s | ÷ the first arm's | heap, MiB |", "|---|---|---|---|---|---|"]
    for operation in _OPERATIONS:
        cpu: dict[str, dict[int, float]] = {}
        for arm in _ARMS:
            own = [one for one in done if (one["operation"], one["arm"]) == (operation, arm)]
            if not own:
                continue
            cpu[arm] = {int(str(one["round"])): float(str(one["cpu"])) for one in own}
            seconds = spread([float(str(one["seconds"])) for one in own])
            ratio = ratio_words([value / cpu["posixfs"][number] for number, value in sorted(cpu[arm].items())])
            cells = (operation, arm, seconds, spread(list(cpu[arm].values())), ratio, heaps.get((operation, arm), ""))
            lines.append(f"| {' | '.join(cells)} |")
    return lines
