"""Periods in which a disk or the network exceeded the rate that calibration had reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from howdah.report.document.blocks import Block, Table, Text, columns
from howdah.report.document.wording import quantity
from howdah.report.phases.limits import EXCEEDED, PhaseLimit

WHY = (
    "This is possible since a bound is what few streams reached in a moment, not what the device can do. One stream of "
    "writes is no faster than one processor copies into the page cache. The kernel later writes back what many tasks "
    "have left there, many requests at a time, and a cache of the drive, or of the machine below a virtual one, takes "
    "them at its own speed. Such a rate may last only until that cache is full: do not plan with it."
)

MOST = 30
"""The number of rows, so that a page about 50 hosts stays readable."""


def burst_blocks(limits: Sequence[PhaseLimit]) -> Iterator[Block]:
    """Yield a table of the phases in which a series exceeded its bound: how far, and for how long; nothing if none."""
    found = []
    for limit in limits:
        for load in limit.loads:
            bound = load.bound or load.exceeded
            if load.highest is not None and bound:
                above = quantity(load.burst, "s")
                cells = (quantity(bound, load.unit), quantity(load.highest, load.unit), f"{load.highest / bound:.1f}")
                found.append((load.burst, (limit.phase, f"{load.name} on {load.host}", *cells, above)))
    if found:
        longest = {row for _, row in sorted(found, reverse=True)[:MOST]}
        rows = tuple(row for _, row in found if row in longest)
        more = f"; the {len(rows)} longest of {len(found)}" if len(rows) < len(found) else ""
        heads = columns("Phase", "Resource", "#Bound", "#Highest rate", "#Times the bound", "#Time above it")
        yield Table(f"Rates of more than {EXCEEDED} times a bound, by one-second readings{more}", heads, rows)
        yield Text(WHY, small=True)
