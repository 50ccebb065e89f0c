"""The time budget of each file of tests with daemons: `tests/budget.json`, in seconds of one worker.

.venv/bin/python -m tools.budget REPORT          compares a JUnit report with the budgets
.venv/bin/python -m tools.budget REPORT --write  takes the report's times as the budgets

The budgets are for two idle processors of an AMD EPYC. Other machines take up to half as long again, and change by the
hour. A file therefore fails at twice its budget plus 20 s.
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

BUDGETS = Path(__file__).resolve().parent.parent / "tests" / "budget.json"
_MOST, _SLACK_SECONDS = 2.0, 20.0


def budgets() -> dict[str, float]:
    """Return the usual seconds of each file of tests with daemons."""
    found: dict[str, float] = json.loads(BUDGETS.read_text(encoding="utf-8"))
    return found


def check(report: Path) -> Iterator[str]:
    """Yield a sentence about each file that is over its budget, or has none."""
    yield from over(times(report), budgets())


def over(took: Mapping[str, float], usual: Mapping[str, float]) -> Iterator[str]:
    """Yield sentences as `check` does, from the seconds that each file took and usually takes."""
    for file, seconds in sorted(took.items()):
        if file not in usual:
            yield f"no budget: {file} took {seconds:.0f} s; add it to {BUDGETS.name}"
        elif seconds > _MOST * usual[file] + _SLACK_SECONDS:
            yield f"over its budget: {file} took {seconds:.0f} s, where {usual[file]:.0f} s are usual"


def times(report: Path) -> dict[str, float]:
    """Return the seconds by file of a JUnit report, fixtures included."""
    found: defaultdict[str, float] = defaultdict(float)
    for case in ET.parse(report).iter("testcase"):
        found[case.get("classname", "").replace(".", "/") + ".py"] += float(case.get("time", "0"))
    return dict(found)


def main(arguments: list[str]) -> int:
    """Print the files over their budget, or write the budgets."""
    report = Path(arguments[0])
    if arguments[1:] == ["--write"]:
        # A file whose tests are all of `make soak` is not in the report.
        rounded = {file: round(seconds) for file, seconds in sorted({**budgets(), **times(report)}.items())}
        BUDGETS.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
        return 0
    found = list(check(report))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
