"""The table of promises: that it is of today, and what it is made from."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tools.promises import LONGEST, PAGE, ROOT, Promise, all_promises, in_java, in_python, page, place, runs_in, table

PROMISES = all_promises()


def test_the_page_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text, PROMISES), ".venv/bin/python -m tools.promises"


def test_every_source_is_a_page_or_an_issue() -> None:
    pages = {one.source: place(one.source) for one in PROMISES}
    assert [source for source, file in pages.items() if file is not None and not file.is_file()] == []


def test_a_promise_is_short_and_given_once_to_a_test() -> None:
    assert [one.text for one in PROMISES if len(one.text) > LONGEST or one.text.endswith(".")] == []
    times = Counter((one.test, one.text) for one in PROMISES)
    assert [given for given, count in times.items() if count > 1] == []


def test_every_marker_is_at_a_test() -> None:
    """A marker in another place would be on no line of the table."""
    python = sum(
        file.read_text(encoding="utf-8").count("\n@pytest.mark.promise(") for file in ROOT.glob("tests/**/*.py")
    )
    java = sum(file.read_text(encoding="utf-8").count(" // Promise (") for file in ROOT.glob("java/**/*.java"))
    top = sum(file.read_text(encoding="utf-8").count("\n// Promise (") for file in ROOT.glob("java/**/*.java"))
    assert python + java + top == len(PROMISES)


@pytest.mark.parametrize(
    ("name", "marks", "where"),
    [
        ("tests/unit/x/test_y.py", "", "check"),
        ("tests/contract/test_y.py", "", "check"),
        ("tests/unit/x/test_y.py", "pytest.mark.slow", "test"),
        ("tests/golden/test_y.py", "[pytest.mark.daemons, *OTHER]", "test"),
        ("tests/system/test_y.py", "", "test"),
        ("tests/faults/test_y.py", "pytest.mark.soak(part='faults')", "soak: faults"),
        ("tests/system/test_y.py", "pytest.mark.parametrize('a', [1, pytest.param(2, marks=SOAK)])", "test"),
        ("tests/system/test_y.py", "pytest.mark.parametrize('a', NAMES)", "test"),
        ("tests/system/test_y.py", "pytest.mark.parametrize('a', [pytest.param(2, marks=SOAK)])", "soak: jobs"),
        (
            "tests/system/test_y.py",
            "pytest.mark.parametrize('a', [one if one in Q else pytest.param(one, marks=SOAK) for one in P])",
            "test",
        ),
        (
            "tests/system/test_y.py",
            "pytest.mark.parametrize('a', [*(pytest.param(one, marks=SOAK) for one in P)])",
            "soak: jobs",
        ),
    ],
)
def test_where_a_test_runs(name: str, marks: str, where: str) -> None:
    text = marks.replace("SOAK", "pytest.mark.soak(part='jobs')")
    assert runs_in(name, [ast.parse(text, mode="eval").body] if text else []) == where


def test_markers_of_python_are_read(tmp_path: Path) -> None:
    file = tmp_path / "tests" / "unit" / "test_y.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "pytestmark = pytest.mark.daemons\n"
        '@pytest.mark.promise("One", "README")\n@pytest.mark.promise("Two", "issue 2")\ndef test_a(): ...\n'
        "def test_b(): ...\n"
    )
    name = "tests/unit/test_y.py::test_a"
    assert list(in_python(file, tmp_path)) == [
        Promise("One", "README", name, "test"),
        Promise("Two", "issue 2", name, "test"),
    ]


def test_comments_of_java_are_read(tmp_path: Path) -> None:
    file = tmp_path / "java" / "sort" / "src" / "test" / "java" / "org" / "ATest.java"
    file.parent.mkdir(parents=True)
    text = (
        "// Promise (README): Of all\nfinal class ATest {\n  // Another comment.\n  @Test\n  void first() {}\n\n"
        "  // Promise (how-to/x): A promise that\n  // goes on.\n  // Promise (README): Another\n"
        "  @ParameterizedTest\n  @ValueSource(\n      ints = {1})\n  void second(int a) throws IOException {}\n}\n"
    )
    file.write_text(text)
    assert list(in_java(file, tmp_path)) == [
        Promise("Of all", "README", "sort:ATest", "test"),
        Promise("A promise that goes on.", "how-to/x", "sort:ATest#second", "test"),
        Promise("Another", "README", "sort:ATest#second", "test"),
    ]
    file.write_text(text.replace("  @ParameterizedTest", ""))
    with pytest.raises(ValueError, match="no test follows the promise"):
        list(in_java(file, tmp_path))


def test_rows_are_grouped_by_source_and_have_every_test() -> None:
    made = [
        Promise("Later", "issue 2", "t::c", "check"),
        Promise("B|C", "how-to/tune", "t::b", "check"),
        Promise("A", "README", "t::a", "check"),
        Promise("A", "README", "m:T#a", "test"),
    ]
    rows = table(made, None).splitlines()
    assert rows[0] == "| promise | source | test | runs in |"
    assert rows[2:] == [
        "| A | [README](../README.md) | `t::a`<br>`m:T#a` | `check`<br>`test` |",
        r"| B\|C | [how-to/tune](how-to/tune.md) | `t::b` | `check` |",
        "| Later | issue 2 | `t::c` | `check` |",
    ]
    with_defects = table(made, {"m:T#a": ["lost"], "t::a": ["late", "lost"]}).splitlines()
    assert with_defects[2].endswith("| `check`<br>`test` | `late`<br>`lost` |")
    assert with_defects[4].endswith("| `check` |  |")
