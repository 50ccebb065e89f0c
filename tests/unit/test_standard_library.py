"""Packages that may import the standard library only: the model, and the agent, which is sent to a bare Python."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import howdah

PACKAGE = Path(howdah.__file__).parent


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, f"{file}: a relative import of something outside its package"


def _modules() -> list[Path]:
    folders = [PACKAGE / "model", PACKAGE / "host" / "agent"]
    return [PACKAGE / "errors.py", *(file for folder in folders for file in sorted(folder.rglob("*.py")))]


@pytest.mark.parametrize("file", _modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_the_standard_library_only(file: Path):
    foreign = {name for name in _imported(file) if name.split(".")[0] not in sys.stdlib_module_names}
    allowed = () if "agent" in file.parts else ("howdah.model", "howdah.errors")
    assert {name for name in foreign if not name.startswith(allowed)} == set()
