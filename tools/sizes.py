"""Size limits: no file above 500 lines, no class above 300 (in Java 450), no Python function of 60 lines or more."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "tools", "benchmarks", "java")
ENDINGS = {".py", ".sh", ".java", ".j2", ".css", ".js"}
FILE_LIMIT, CLASS_LIMIT, JAVA_CLASS_LIMIT, FUNCTION_LIMIT = 500, 300, 450, 60
_JAVA_CLASS = re.compile(r"^(?:(?:public|final|abstract) )*(?:class|interface|enum) (\w+)", re.MULTILINE)


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
    if file.suffix == ".java" and (found := _JAVA_CLASS.search(text)):
        length = lines - text.count("\n", 0, found.start())
        if length > JAVA_CLASS_LIMIT:
            yield f"{name}: class {found[1]} has {length} lines, {JAVA_CLASS_LIMIT} at most"
    if file.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text, str(name))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.ClassDef):
            if length > CLASS_LIMIT:
                yield f"{name}:{node.lineno}: class {node.name} has {length} lines, {CLASS_LIMIT} at most"
        elif length >= FUNCTION_LIMIT:
            yield f"{name}:{node.lineno}: {node.name} has {length} lines, fewer than {FUNCTION_LIMIT} wanted"


if __name__ == "__main__":
    sys.exit(main())
