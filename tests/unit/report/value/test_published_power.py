"""Figures of published studies, from their own inputs: the page docs/examples/published-power.md has them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from howdah.report.value.system import racked
from howdah.spec.prices import PriceList, Rack, Rates, Server

PAGE = (Path(__file__).parents[4] / "docs" / "examples" / "published-power.md").read_text(encoding="utf-8")
TERASORT, WORDCOUNT = (1.24, 1.85), (1.48, 3.00)
"""Throughput, and throughput per watt, of the second server ÷ the first's."""
FIRST, SECOND, KILOWATTS = 16, 23, 12.0


def in_rack(watts: float) -> int:
    """So many servers of a kind are in the study's rack."""
    prices = PriceList("USD", "2023-01-01", "the study", {}, {}, None, {}, Rates())
    server = Server("one", 1.0, {}, 1, {"mean": watts})
    return racked(server, Rack("study", 42, KILOWATTS), prices)[0]


def test_four_statements_are_of_three_machines() -> None:
    ratios = [throughput / per_watt for throughput, per_watt in (TERASORT, WORDCOUNT)]
    # The most and the least that a server may draw of which so many are in the rack.
    first, second = (sorted(1000 * KILOWATTS / count for count in (one, one + 1)) for one in (FIRST, SECOND))
    assert (in_rack(first[1]), in_rack(first[0] + 0.1)) == (FIRST, FIRST)
    assert (in_rack(second[1]), in_rack(second[0] + 0.1)) == (SECOND, SECOND)
    low, high = second[0] / first[1], second[1] / first[0]
    saved = (1 - 0.57) * 25 / SECOND
    for words in (f"{ratios[0]:.3f}", f"{ratios[1]:.3f}", f"{low:.3f}–{high:.3f}", f"{saved:.3f}"):
        assert f"| {words} |" in PAGE
    assert low <= ratios[0] <= high, "TeraSort and the rack may be one machine"
    assert not low <= ratios[1] <= high
    assert not low <= saved <= high
    assert abs(saved - ratios[1]) > 0.02


def test_what_follows_from_its_inputs() -> None:
    per_rack = SECOND * TERASORT[0] / FIRST
    assert f"{100 * (per_rack - 1):.0f} % more | 23 · 1.24 ÷ 16 = {per_rack:.2f} |" in PAGE
    servers = math.ceil(SECOND * TERASORT[0])
    assert f"of {2 * servers} | ⌈23 · 1.24⌉ = {servers} servers of two |" in PAGE
    savings = [100 * (1 - 1 / per_watt) for _, per_watt in (TERASORT, WORDCOUNT)]
    assert f"{savings[0]:.0f} % (TeraSort), {savings[1]:.0f} % (WordCount)" in PAGE
    assert f"25 ÷ 16 = {25 / 16:.2f}" in PAGE
    assert f"√(1.85 · 3.00) = {100 * (1 - 1 / math.sqrt(TERASORT[1] * WORDCOUNT[1])):.1f} %" in PAGE


@pytest.mark.promise("The energies of a published study follow from its powers and hours", "how-to/energy")
def test_energies_follow_from_powers_and_hours() -> None:
    rows = re.findall(r"^\| E5-\d+ v2 \| (\d+) W \| ([\d.]+) \| ([\d.]+) kWh \| ([\d.]+) kWh \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for watts, hours, calculated, printed in rows:
        assert f"{float(watts) * float(hours) / 1000:.1f}" == calculated == printed
    energies, powers = ([float(one[at]) for one in rows] for at in (3, 0))
    assert f"differ by {100 * (max(energies) / min(energies) - 1):.0f} %" in PAGE
    assert f"mean powers by {100 * (max(powers) / min(powers) - 1):.0f} % only" in PAGE
    assert f"hours are {5.55 * 60 / 3:.0f} of them" in PAGE
