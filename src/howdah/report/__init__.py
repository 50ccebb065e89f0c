"""Reports and comparisons, built from run directories and from nothing else."""

from howdah.report.build import build_report
from howdah.report.compare import ComparisonReport, build_comparison
from howdah.report.describe import describe_run
from howdah.report.document import Report
from howdah.report.experiment import Source, build_experiment
from howdah.report.render_hibench import render_hibench
from howdah.report.render_html import render_html
from howdah.report.render_json import render_json
from howdah.report.render_markdown import render_markdown
from howdah.report.render_text import render_text

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
