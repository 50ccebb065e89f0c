"""Plant every defect of tests/defects in a scratch copy, one at a time: its tests must catch it by an assertion.

.venv/bin/python -m tools.defects [--control] [NAME...]

Results are kept in .build/defects/results.jsonl, by the contents of the sources and of the defect: an interrupted run
continues where it stopped. With --control, the tests of each defect first run without it, and must pass. Exit 1 if a
defect survived, or broke something else than an assertion.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from tests.defects import DEFECTS
from tests.defects.defect import Defect
from tools.scratch import ROOT, Scratch, sources

PLACE = ROOT / ".build" / "defects"
RESULTS = PLACE / "results.jsonl"
# What a result depends on. The defects themselves are told apart by their digests.
FOLDERS = ("src", "java", "tests", "tools", "benchmarks", "experiments", "pyproject.toml", "requirements")
GOOD = ("caught", "passed")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a defect, `caught`, `survived` or `broken`, or of its tests without it, `passed` or `broken`."""

    tree: str
    commit: str
    defect: str
    name: str
    control: bool
    outcome: str
    detail: str
    seconds: float


def main(arguments: Sequence[str]) -> int:
    options = _parsed(arguments)
    chosen = [one for one in DEFECTS if not options.names or one.name in options.names]
    PLACE.mkdir(parents=True, exist_ok=True)
    with (PLACE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another process plants defects here already.", file=sys.stderr)
            return 1
        tree, before = _tree(), list(_read())
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
        wanted = [(one, control) for one in chosen for control in ((True, False) if options.control else (False,))]
        known = {(one.defect, one.control): one for one in before if one.tree == tree and one.outcome in GOOD}
        left = [(one, control) for one, control in wanted if (one.digest, control) not in known]
        took = {(one.name, one.control): one.seconds for one in before}
        scratch = Scratch(PLACE / "tree") if left else None
        for number, (one, control) in enumerate(left, start=1):
            assert scratch is not None
            expected = sum(took.get((rest.name, again), _guess(rest)) for rest, again in left[number - 1 :])
            without = ", its tests without it" if control else ""
            print(f"[{number}/{len(left)}] {one.name}{without} (some {expected / 60:.0f} min left)", flush=True)
            began = time.monotonic()
            outcome, detail = _judged(scratch, one, control=control)
            seconds = round(time.monotonic() - began, 1)
            print(f"    {outcome} after {seconds:.0f} s: {detail}", flush=True)
            result = Result(tree, commit.stdout.strip(), one.digest, one.name, control, outcome, detail, seconds)
            known[one.digest, control] = result
            with RESULTS.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(result)) + "\n")
    return _summed_up([known[one.digest, control] for one, control in wanted])


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make defects", description=__doc__)
    parser.add_argument("--control", action="store_true", help="run each defect's tests without it first")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the defects to plant; all by default")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {one.name for one in DEFECTS}
    if unknown:
        parser.error(f"no such defect: {', '.join(sorted(unknown))}")
    return options


def _judged(scratch: Scratch, defect: Defect, *, control: bool) -> tuple[str, str]:
    """Return the outcome of the tests with the defect, or as a `control` without it, and the reason."""
    ended = scratch.tested(defect.tests) if control else scratch.tested_with(defect)
    if control:
        return ("passed" if ended.problem is None and not ended.failed else "broken"), ended.said
    if ended.problem is not None:
        return "broken", ended.problem
    return ("caught" if ended.failed else "survived"), ended.said


def _guess(defect: Defect) -> float:
    """Return the expected seconds of a defect that was never planted here."""
    if any(test.startswith(("tests/faults", "tests/system")) for test in defect.tests):
        return 90.0
    return 60.0 if defect.in_java else 5.0


def _read() -> Iterator[Result]:
    for line in RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else ():
        yield Result(**json.loads(line))


def _tree() -> str:
    digest = hashlib.sha256()
    for file in sources(*FOLDERS):
        if not file.startswith("tests/defects/"):
            digest.update(f"{file}\0".encode() + (ROOT / file).read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _summed_up(results: Sequence[Result]) -> int:
    width = max(len(one.name) for one in results)
    print()
    for one in results:
        kind = "control" if one.control else "defect"
        why = "" if one.outcome in GOOD else f"  {one.detail}"
        print(f"{one.name:{width}}  {kind:7}  {one.outcome:8}  {one.seconds:6.0f} s{why}")
    counts = Counter(one.outcome for one in results)
    minutes = sum(one.seconds for one in results) / 60
    print(f"\n{', '.join(f'{count} {outcome}' for outcome, count in counts.items())}, in {minutes:.0f} min")
    return 0 if set(counts) <= set(GOOD) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
