"""A report as JSON: its facts, for programs."""

from __future__ import annotations

import json

from howdah.report.document import Report


def render_json(report: Report) -> str:
    """The report's facts; numbers in the units that are named beside them, missing ones null or absent."""
    return json.dumps(report.facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
