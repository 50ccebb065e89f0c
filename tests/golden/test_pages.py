"""The generated pages are what the program says now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "pages.py"


def load_tool():
    spec = importlib.util.spec_from_file_location("pages", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["commands.md", "factors.md", "metrics.md", "tuned-defaults.md"])
def test_page_is_current(name: str) -> None:
    tool = load_tool()
    assert (tool.REFERENCE / name).read_text(encoding="utf-8") == tool.PAGES[name](), "run tools/pages.py"
