"""`python -m tools.promises`: writes the table of promises and of their tests into docs/testing.md.

A test names the promise that it keeps. Python uses the marker `promise(text, source)`, Java a comment above the
annotations, `// Promise (SOURCE): text`. The source is a page without its ending, such as `README` or `how-to/tune`, or
an issue, such as `issue 2`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- promises: begin -->", "<!-- promises: end -->"
LONGEST = 110
ORDER = ("README", "tutorial/", "how-to/", "explanation/", "statistics", "reference/", "", "CHANGELOG", "issue ")
"""The prefixes of the sources, in the order of the table. The empty prefix stands for every other page."""
CHECK, TEST = "check", "test"


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of one test. `test` is a pytest node, or a JUnit test, `module:Class#method`."""

    text: str
    source: str
    test: str
    runs_in: str


def all_promises(root: Path = ROOT) -> list[Promise]:
    """Return the promises of all tests below `root`."""
    python = (one for file in sorted(root.glob("tests/**/test_*.py")) for one in in_python(file, root))
    java = (one for file in sorted(root.glob("java/*/src/test/java/**/*.java")) for one in in_java(file, root))
    return [*python, *java]


def in_python(file: Path, root: Path) -> Iterator[Promise]:
    """Yield the promises of the tests in `file`."""
    module = ast.parse(file.read_text(encoding="utf-8"), str(file))
    own = [
        node.value for node in module.body if isinstance(node, ast.Assign) and _name(node.targets[0]) == "pytestmark"
    ]
    name = file.relative_to(root).as_posix()
    for node in module.body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        where = runs_in(name, [*own, *node.decorator_list])
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _name(decorator.func) == "pytest.mark.promise":
                text, source = (ast.literal_eval(argument) for argument in decorator.args)
                yield Promise(text, source, f"{name}::{node.name}", where)


def runs_in(name: str, marks: Iterable[ast.expr]) -> str:
    """Return the command that runs a test of the file `name`: `check`, `test`, or `soak: PART`.

    `marks` are the decorators of the test and the marks of its module. A parametrized test is in `test` if some of its
    cases have no `soak`.
    """
    parts, heavy = [], name.startswith(("tests/system/", "tests/faults/"))
    for mark in marks:
        if isinstance(mark, ast.Call) and _name(mark.func) == "pytest.mark.parametrize":
            cases = [_soak(case) for case in _cases(mark.args[1])]
            parts += cases[:1] if cases and None not in cases else []
        else:
            parts.append(_soak(mark))
            heavy |= any(_name(node) in ("pytest.mark.daemons", "pytest.mark.slow") for node in ast.walk(mark))
    for part in parts:
        if part is not None:
            return f"soak: {part}"
    return TEST if heavy else CHECK


def _cases(values: ast.expr) -> Iterator[ast.expr]:
    """Yield the cases of a parametrized test. Cases made elsewhere count as one case without marks."""
    if isinstance(values, ast.List | ast.Tuple):
        for value in values.elts:
            yield from _cases(value.value) if isinstance(value, ast.Starred) else _branches(value)
    elif isinstance(values, ast.ListComp | ast.GeneratorExp):
        yield from _branches(values.elt)
    else:
        yield ast.Constant(None)


def _branches(case: ast.expr) -> Iterator[ast.expr]:
    if isinstance(case, ast.IfExp):
        yield from _branches(case.body)
        yield from _branches(case.orelse)
    else:
        yield case


def _soak(mark: ast.expr) -> str | None:
    """Return the part of `make soak` that a mark, or the marks of a case, name."""
    for node in ast.walk(mark):
        if isinstance(node, ast.Call) and _name(node.func) == "pytest.mark.soak":
            return str(ast.literal_eval(node.keywords[0].value))
    return None


def _name(node: ast.expr | ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


_COMMENT = re.compile(r" *// (?:Promise \((.+?)\): )?(.*)")
_METHOD = re.compile(r"  (?:\w+ )*void (\w+)\(")
_CLASS = re.compile(r"(?:\w+ )*class \w+")


def in_java(file: Path, root: Path) -> Iterator[Promise]:
    """Yield the promises of the tests in `file`, formatted as the build demands: members are indented by two blanks.

    Raises ValueError if no test follows a promise.
    """
    found: list[tuple[str, str]] = []
    inside = False
    for line in file.read_text(encoding="utf-8").splitlines():
        comment = _COMMENT.fullmatch(line)
        if comment is not None and comment[1]:
            found.append((comment[1], comment[2]))
            inside = True
        elif comment is not None and inside:
            found[-1] = (found[-1][0], f"{found[-1][1]} {comment[2]}")
        elif found:
            inside = False
            method, kind = _METHOD.match(line), _CLASS.match(line)
            if method or kind:
                test = f"{file.relative_to(root).parts[1]}:{file.stem}{f'#{method[1]}' if method else ''}"
                yield from (Promise(text, source, test, TEST) for source, text in found)
                found = []
            elif not line.strip() or line == "}":
                break
    if found:
        raise ValueError(f"{file}: no test follows the promise {found[0][1]!r}")


def place(source: str, root: Path = ROOT) -> Path | None:
    """Return the page that `source` names, or None if it is an issue."""
    if re.fullmatch(r"issue \d+", source):
        return None
    return root / f"{source}.md" if source.isupper() else root / "docs" / f"{source}.md"


def table(promises: Sequence[Promise], defects: Mapping[str, Sequence[str]] | None) -> str:
    """Return the table, grouped by source.

    `defects` has the names of the planted defects that a test must notice. Without `defects` there is no such column.
    """
    rows: dict[tuple[str, str], list[Promise]] = {}
    for one in promises:
        rows.setdefault((one.source, one.text), []).append(one)
    head = ["promise", "source", "test", "runs in", *(["planted defect"] if defects is not None else [])]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for source, text in sorted(rows, key=lambda row: (_rank(row[0]), *row)):
        kept = rows[source, text]
        where = [one.runs_in for one in kept]
        cells = [text.replace("|", r"\|"), _link(source), _several(one.test for one in kept)]
        cells.append(_several(where if len(set(where)) > 1 else where[:1]))
        if defects is not None:
            names = {name for one in kept for name in defects.get(one.test, ())}
            cells.append(_several(sorted(names)))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _several(names: Iterable[str]) -> str:
    return "<br>".join(f"`{name}`" for name in names)


def _rank(source: str) -> int:
    """Return the place of a source in ORDER."""
    return next((at for at, start in enumerate(ORDER) if start and source.startswith(start)), ORDER.index(""))


def _link(source: str) -> str:
    page = place(source)
    if page is None:
        return source
    return f"[{source}]({'../' if page.parent == ROOT else ''}{source}.md)"


def planted() -> dict[str, list[str]] | None:
    """Return the names of the planted defects by test, or None if the repository has none."""
    if find_spec("tests.defects") is None:
        return None
    found: dict[str, list[str]] = {}
    for defect in import_module("tests.defects").DEFECTS:
        for test in defect.tests:
            found.setdefault(test.partition("[")[0], []).append(defect.name)
    return found


def page(text: str, promises: Sequence[Promise]) -> str:
    """Return the page `text` with the table of `promises`."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    count = len({(one.source, one.text) for one in promises})
    tests = len({one.test for one in promises})
    made = f"{count} promises, kept by {tests} tests."
    return f"{before}{BEGIN}\n\n{made}\n\n{table(promises, planted())}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), all_promises()), encoding="utf-8")
