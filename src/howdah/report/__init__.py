"""Reports and comparisons, built from run directories and from nothing else."""

from howdah.report.comparison.compare import ComparisonReport, build_comparison
from howdah.report.document.blocks import Report
from howdah.report.experiment.page import Source, build_experiment
from howdah.report.page.build import build_report
from howdah.report.page.describe import describe_run
from howdah.report.render.hibench import render_hibench
from howdah.report.render.html import render_html
from howdah.report.render.json import render_json
from howdah.report.render.markdown import render_markdown
from howdah.report.render.text import render_text

__all__ = [
    "ComparisonReport",
    "Report",
    "Source",
    "build_comparison",
    "build_experiment",
    "build_report",
    "describe_run",
    "render_hibench",
    "render_html",
    "render_json",
    "render_markdown",
    "render_text",
]
