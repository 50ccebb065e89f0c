"""The picture of a report in the README, from real runs on this machine.

.venv/bin/python -m tools.picture readme=yes    writes docs/images/report.png from all runs with that label
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from howdah.cli.reporting import load_sides
from howdah.report import build_report, render_html
from howdah.store import StoredRun

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "report.png"
FEWEST = 5
_WIDTH, _HEIGHT = 1100, 1180


def page(runs: Sequence[StoredRun]) -> str:
    """Return the page of real, valid runs. Raises ValueError for others, or if they are fewer than five."""
    wrong = [run.run.id for run in runs if run.run.simulated or run.run.outcome.kind != "valid"]
    if wrong or len(runs) < FEWEST:
        raise ValueError(f"{FEWEST} valid runs of real clusters are needed: {', '.join(wrong) or len(runs)}")
    return render_html(build_report(runs))


def main(names: Sequence[str]) -> int:
    """Take the picture in a browser without a window."""
    from playwright.sync_api import sync_playwright

    content = page(load_sides(names, None))
    browser = os.environ.get("HOWDAH_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory(prefix="howdah-") as place, sync_playwright() as playwright:
        file = Path(place, "report.html")
        file.write_text(content, encoding="utf-8")
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        view = opened.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        view.goto(file.as_uri())
        view.screenshot(path=PICTURE)
        opened.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
