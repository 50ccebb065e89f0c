"""Links between the documents lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def anchor(heading: str) -> str:
    """What a forge makes of `heading`: lower case, without punctuation, hyphens for blanks."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_a_file_and_a_heading_that_exist(document: Path) -> None:
    for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", document.read_text(encoding="utf-8")):
        path, _, heading = link.partition("#")
        there = document.parent / path if path else document
        assert there.exists(), link
        if heading:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in map(anchor, headings), link
