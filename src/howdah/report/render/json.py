"""A report as JSON: its facts, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Fold, Report


def render_json(report: Report) -> str:
    """Return the report's facts. Numbers are in the units named next to them; missing ones are null or absent.

    `caveats` has all caveats of the page, in its order.
    """
    caveats = [asdict(one) for section in report.sections for one in _caveats(section.blocks)]
    return json.dumps({**report.facts, "caveats": caveats}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _caveats(blocks: Iterable[Block]) -> Iterator[Caveat]:
    for block in blocks:
        if isinstance(block, Caveat):
            yield block
        elif isinstance(block, Fold):
            yield from _caveats(block.blocks)
