"""Links between the pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
LANDING = ROOT / "docs" / "README.md"
LISTED_TOGETHER = ROOT / "docs" / "decisions"
"""The landing page links to the folder, which ARCHITECTURE.md has the list of."""


def links(page: Path) -> dict[str, Path]:
    """The relative links of a page by how they are written, each with the file or folder that it names."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return {target: (page.parent / target).resolve() for target in targets if "://" not in target}


def test_every_link_leads_somewhere() -> None:
    found = [(page.relative_to(ROOT), said, to) for page in PAGES for said, to in links(page).items()]
    broken = [f"{page}: {said}" for page, said, to in found if not to.exists()]
    assert broken == []


def test_the_landing_page_leads_to_every_page() -> None:
    listed = set(links(LANDING).values())
    wanted = {page for page in PAGES if page.is_relative_to(ROOT / "docs") and page.parent != LISTED_TOGETHER}
    assert wanted - listed - {LANDING} == set()
