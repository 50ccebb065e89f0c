"""How long a cluster takes to come up on three hosts that ssh reaches, against three nodes on this machine.

The hosts are network namespaces of this machine with an ssh server each; only root can make them. `warm` has its
software and class archives there; `empty` has not. The hosts have one directory together, as on a shared file system,
or each its own.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.pairs import howdah
from howdah.store import howdah_home
from tests.lab import Lab, lab

ROUNDS = int(os.environ.get("ROUNDS", "5"))
HOSTS = ("red", "green", "blue")


def measure() -> list[str]:
    """Interleaved rounds of all ways, in an order drawn anew each round."""
    with tempfile.TemporaryDirectory() as scratch, lab(Path(scratch, "lab"), HOSTS) as made:
        ways: dict[str, Callable[[], float]] = {
            "this machine": lambda: _up("--nodes", str(len(HOSTS))),
            "warm": lambda: _up_on(made, Path(scratch, "warm"), together=True),
            "empty, one directory": lambda: _up_on(made, Path(tempfile.mkdtemp(dir=scratch)), together=True),
            "empty, three directories": lambda: _up_on(made, Path(tempfile.mkdtemp(dir=scratch)), together=False),
        }
        for name in ("this machine", "warm"):  # Fetches, and fills the store.
            ways[name]()
        seconds = _in_rounds(ways)
    lines = _medians(seconds)
    here = seconds["this machine"]
    over = [there - 1.5 * own for there, own in zip(seconds["warm"], here, strict=True)]
    lines.append(f"- warm − 1.5 × this machine: {statistics.median(over):.1f} s ({min(over):.1f} to {max(over):.1f})")
    for name in ("empty, one directory", "empty, three directories"):
        more = [empty - warm for empty, warm in zip(seconds[name], seconds["warm"], strict=True)]
        lines.append(f"- {name} − warm: {statistics.median(more):.1f} s ({min(more):.1f} to {max(more):.1f})")
    return lines


def measure_secured() -> list[str]:
    """The same three hosts with their software: without Kerberos, and with it at two protections."""
    with tempfile.TemporaryDirectory() as scratch, lab(Path(scratch, "lab"), HOSTS) as made:
        place = Path(scratch, "warm")
        words = ("authentication", "privacy")
        ways: dict[str, Callable[[], float]] = {"open": lambda: _up_on(made, place, together=True)}
        for word in words:
            ways[word] = partial(_up_on, made, place, "--protection", word, together=True)
        ways["open"]()
        seconds = _in_rounds(ways)
    lines = _medians(seconds)
    for word in words:
        ratios = [one / plain for one, plain in zip(seconds[word], seconds["open"], strict=True)]
        lines.append(f"- {word} ÷ open: {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})")
    return lines


def measure_simulated() -> list[str]:
    """Four simulated hosts, whose store is this machine's, against four nodes on this machine."""
    here, there, empty = "this machine", "simulated hosts", "simulated hosts, empty stores"

    def emptied() -> float:
        """With Hadoop as it was fetched, and nothing that a cluster before has made for this one."""
        for name in ("archives", "namespaces"):
            shutil.rmtree(howdah_home() / "cache" / name, ignore_errors=True)
        return _up("--on", "sim:4", "--insecure")

    ways: dict[str, Callable[[], float]] = {
        here: lambda: _up("--nodes", "4"),
        there: lambda: _up("--on", "sim:4", "--insecure"),
        empty: emptied,
    }
    for name in (here, there):
        ways[name]()
    seconds = _in_rounds(ways)
    lines = _medians(seconds)
    for name, others, factor in ((there, here, 1.5), (empty, there, 1.0)):
        over = [one - factor * other for one, other in zip(seconds[name], seconds[others], strict=True)]
        shown = f"{statistics.median(over):.1f} s ({min(over):.1f} to {max(over):.1f})"
        lines.append(f"- {name} − {factor:g} × {others}: {shown}")
    return lines


def _in_rounds(ways: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS):
        for name in random.Random(number).sample(sorted(ways), len(ways)):
            seconds[name].append(ways[name]())
            print(f"round {number}: {name} {seconds[name][-1]:.1f} s", file=sys.stderr, flush=True)
    return seconds


def _medians(seconds: Mapping[str, list[float]]) -> list[str]:
    return [
        f"- {name}: median {statistics.median(values):.1f} s ({min(values):.1f}–{max(values):.1f}, n={len(values)})"
        for name, values in seconds.items()
    ]


def _up_on(made: Lab, scratch: Path, *options: str, together: bool) -> float:
    """The seconds of `up` on the hosts, whose files are below `scratch`."""
    scratch.mkdir(exist_ok=True)
    places = {name: scratch if together else scratch / name for name in HOSTS}
    listed = scratch / "hosts.yaml"
    listed.write_text("hosts:\n" + "".join(f"- {{host: {name}, scratch: {place}}}\n" for name, place in places.items()))
    os.environ["PATH"] = made.environment["PATH"]
    return _up("--on", f"hosts:{listed}", *(options or ("--insecure",)))


def _up(*options: str) -> float:
    began = time.monotonic()
    done = howdah("up", "--name", "bench", *options)
    seconds = time.monotonic() - began
    howdah("down", "--name", "bench")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return seconds
