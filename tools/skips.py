"""Check which of Hadoop's contract tests skip themselves on Howdah's file system: exactly the listed ones.

Each line of Hadoop has its own list.

.venv/bin/python -m tools.skips MODULE...          compares, after `mvn verify`; exit 1 and the difference
.venv/bin/python -m tools.skips MODULE... --write  takes the skipped tests as the list

MODULE is `filesystem` or, if all of its tests ran, `filesystem-3.5`.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

JAVA = Path(__file__).resolve().parent.parent / "java"
LISTS = {"filesystem": "skipped-3.4.txt", "filesystem-3.5": "skipped-3.5.txt"}


def main(arguments: list[str]) -> int:
    different = False
    for module in (one for one in arguments if one != "--write"):
        name = LISTS[module]
        list_file = JAVA / "filesystem" / "src" / "test" / "resources" / name
        found = skipped(JAVA / module / "target" / "surefire-reports")
        if "--write" in arguments:
            list_file.write_text("".join(f"{one}\n" for one in found), encoding="utf-8")
            continue
        listed = list_file.read_text(encoding="utf-8").splitlines()
        for sign, one in (
            *(("+", one) for one in found if one not in listed),
            *(("-", one) for one in listed if one not in found),
        ):
            print(f"{module}: {sign} {one}")
            different = True
        if len(found) != len(listed):
            print(f"{module}: {len(found)} are skipped, {len(listed)} are listed in {list_file}")
            different = True
    return 1 if different else 0


def skipped(reports: Path) -> list[str]:
    """Return the skipped tests of a module, sorted, as CLASS.TEST."""
    return sorted(
        f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
        for report in reports.glob("TEST-*.xml")
        for case in ET.parse(report).iter("testcase")
        if case.find("skipped") is not None
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
