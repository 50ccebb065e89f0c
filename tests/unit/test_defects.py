"""The planted defects still apply, and name tests that exist. `make defects` shows that those tests catch them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.defects import DEFECTS
from tests.defects.defect import Defect

ROOT = Path(__file__).parents[2]
PRODUCT = re.compile(r"src/howdah/.+|java/[a-z]+/src/main/.+\.java")
DAEMONS = "pytest.mark.daemons"


def function(test: str) -> str:
    """A test without its parameters: two defects may not share even that."""
    return test.partition("[")[0]


def find_function(test: str) -> tuple[ast.Module, ast.FunctionDef | None]:
    """The module of a pytest node, and its function."""
    file, _, name = function(test).partition("::")
    module = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [one for one in module.body if isinstance(one, ast.FunctionDef) and one.name == name]
    return module, found[0] if found else None


def exists(test: str) -> bool:
    if "::" in test:
        return find_function(test)[1] is not None
    module, _, rest = test.partition(":")
    name, _, method = rest.partition("#")
    files = list((ROOT / "java" / module / "src/test/java").rglob(f"{name}.java"))
    return any(re.search(rf"\bvoid {method}\(", file.read_text(encoding="utf-8")) for file in files)


def needs_daemons(test: str) -> bool:
    if "::" not in test:
        return False
    module, found = find_function(test)
    assigned = [one for one in module.body if isinstance(one, ast.Assign)]
    marks = [one.value for one in assigned if [ast.unparse(target) for target in one.targets] == ["pytestmark"]]
    return any(DAEMONS in ast.unparse(mark) for mark in (*marks, *(found.decorator_list if found else ())))


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one.name)
def test_it_applies_once_to_product_code_and_its_tests_exist(defect: Defect) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", defect.name)
    assert PRODUCT.fullmatch(defect.file), "a defect changes what users run, never a test"
    assert (ROOT / defect.file).read_text(encoding="utf-8").count(defect.old) == 1
    assert defect.new != defect.old
    assert defect.promise.endswith(".")
    assert defect.tests
    assert [test for test in defect.tests if not exists(test)] == []


def test_names_differ_and_no_test_is_claimed_twice() -> None:
    for names in ([one.name for one in DEFECTS], [function(test) for one in DEFECTS for test in set(one.tests)]):
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_there_are_enough_of_each_kind() -> None:
    assert len(DEFECTS) >= 40
    assert sum(one.in_java for one in DEFECTS) >= 12
    assert sum(any(map(needs_daemons, one.tests)) for one in DEFECTS) >= 12
