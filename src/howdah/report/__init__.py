"""Reports and comparisons, built only from run directories.

Each name is imported on first use, because a command that lists runs needs only the words of `document`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howdah.report.comparison.compare import ComparisonReport, build_comparison
    from howdah.report.comparison.many import ManyReport, build_many, render_csv
    from howdah.report.document.blocks import Report
    from howdah.report.experiment.page import Source, build_experiment
    from howdah.report.page.build import build_report
    from howdah.report.page.describe import describe_run
    from howdah.report.page.methods import methods
    from howdah.report.render.hibench import render_hibench
    from howdah.report.render.html import render_html
    from howdah.report.render.json import render_json
    from howdah.report.render.markdown import render_markdown
    from howdah.report.render.text import render_text

__all__ = [
    "ComparisonReport",
    "ManyReport",
    "Report",
    "Source",
    "build_comparison",
    "build_experiment",
    "build_many",
    "build_report",
    "describe_run",
    "methods",
    "render_csv",
    "render_hibench",
    "render_html",
    "render_json",
    "render_markdown",
    "render_text",
]

_PLACES = {
    "ComparisonReport": "comparison.compare",
    "ManyReport": "comparison.many",
    "Report": "document.blocks",
    "Source": "experiment.page",
    "build_comparison": "comparison.compare",
    "build_experiment": "experiment.page",
    "build_many": "comparison.many",
    "build_report": "page.build",
    "describe_run": "page.describe",
    "methods": "page.methods",
    "render_csv": "comparison.many",
    "render_hibench": "render.hibench",
    "render_html": "render.html",
    "render_json": "render.json",
    "render_markdown": "render.markdown",
    "render_text": "render.text",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
