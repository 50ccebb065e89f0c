"""The generated pages are what the program says now."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from howdah.hadoop.configuration.cluster import configure
from howdah.hadoop.configuration.site import parse_site
from howdah.hadoop.distribution.distribution import of_lock
from howdah.hadoop.distribution.lock import read_lock
from tests.plans import plan_of

TOOL = Path(__file__).parents[2] / "tools" / "pages.py"


def load_tool():
    spec = importlib.util.spec_from_file_location("pages", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.promise("Every key of a cluster says what it does to results", "reference/tuned-defaults")
def test_every_key_of_a_clusters_configuration_has_its_effect_on_results() -> None:
    patterns = [pattern for keys, _ in load_tool().NEEDED for pattern in keys.split()]
    plan = replace(plan_of(1), storage="hdfs,posix:/data", mount_types=("nfs",), shuffle="/shuffle")
    made = configure(plan, of_lock(read_lock("3.4.2"), Path("/hadoop")), {}, {})
    files = made.files("node1", "").items()
    keys = {key for name, file in files if name.endswith(".xml") for key in parse_site(file, name).properties}
    assert [key for key in sorted(keys) if not any(fnmatch(key, pattern) for pattern in patterns)] == []
    assert [pattern for pattern in patterns if not any(fnmatch(key, pattern) for key in keys)] == []


@pytest.mark.parametrize("name", ["commands.md", "factors.md", "metrics.md", "tuned-defaults.md"])
def test_page_is_current(name: str) -> None:
    tool = load_tool()
    assert (tool.REFERENCE / name).read_text(encoding="utf-8") == tool.PAGES[name](), "run tools/pages.py"
