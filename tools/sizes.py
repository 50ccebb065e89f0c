"""Small pieces: fails when a source file has more than 600 lines or a Python function 60 or more."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "tools", "benchmarks", "java")
ENDINGS = {".py", ".sh", ".java", ".j2", ".css", ".js"}
FILE_LIMIT = 600
FUNCTION_LIMIT = 60


def main() -> int:
    problems = [
        problem
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in ENDINGS and file.is_file() and "target" not in file.parts
        for problem in _problems(file)
    ]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


def _problems(file: Path) -> Iterator[str]:
    name = file.relative_to(ROOT)
    text = file.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > FILE_LIMIT:
        yield f"{name}: {lines} lines, {FILE_LIMIT} at most"
    if file.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text, str(name))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length >= FUNCTION_LIMIT:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines, fewer than {FUNCTION_LIMIT} wanted"


if __name__ == "__main__":
    sys.exit(main())
