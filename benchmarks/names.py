"""`python names.py OPERATION DIRECTORY COUNT`: what `Rounds` does with names, as a loop of Python's own calls.

Prints what `Rounds` prints. It is the least that a program pays for the same names on the same file system.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def run(operation: str, directory: str, files: Sequence[str], renamed: Sequence[str]) -> int:
    """Names that were made, looked at, renamed or deleted."""
    match operation:
        case "create":
            for file in files:
                os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644))
        case "stat":
            for file in files:
                os.stat(file)  # noqa: PTH116 - the calls themselves, not what pathlib adds to them
        case "list":
            with os.scandir(directory) as entries:
                return sum(1 for entry in entries if entry.stat().st_mode)
        case "sorted":
            with os.scandir(directory) as entries:
                found = sorted((entry.name, entry.stat()) for entry in entries)
            return len(found)
        case "rename":
            for old, new in zip(files, renamed, strict=True):
                os.rename(old, new)  # noqa: PTH104
        case "link":  # A rename that replaces nothing, as Hadoop's must not.
            for old, new in zip(files, renamed, strict=True):
                os.link(old, new)
                os.unlink(old)  # noqa: PTH108
        case "delete":
            for file in renamed:
                os.unlink(file)  # noqa: PTH108
        case _:
            raise SystemExit(f"no operation {operation}")
    return len(files)


def main(operation: str, directory: str, count: str) -> None:
    """Runs one operation and says what it took."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    files, renamed = ([f"{directory}/{name}{number}" for number in range(int(count))] for name in ("file", "renamed"))
    began, cpu = time.perf_counter(), time.process_time()
    done = run(operation, directory, files, renamed)
    said = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "done": done}
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
