"""Files of other programs: columns that are declared, and the layouts of Intel's DCM."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from howdah.probe.power import past_meters
from howdah.spec.meters import read_meters

HEAD = "IT Equipment Power,Highest Power Consumption,Lowest Power Consumption,Power Data Granularity"
ONE = f"Name,Time,{HEAD}\nGroupA,2014/10/27 10:00:00,1952,,,180\nGroupA,2014/10/27 10:03:00,1957,,,180\n"
APART = f"Name,Date,Time,{HEAD},test\nGroupA,24-Oct-14,14:15,1448,,,180,t\nGroupB,24-Oct-14,14:15,9,,,180,t\n"


def read(place: Path, text: str, more: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    """The records of the meter in a file, and what was absent, for all times."""
    (place / "power.csv").write_text(text)
    (place / "meters.yaml").write_text(
        f"meters: [{{kind: csv, name: dcm, file: {place}/power.csv, layout: dcm, zone: UTC, covers: [h]{more}}}]\n"
    )
    series, absent = past_meters(read_meters(place / "meters.yaml"), ["h"], 0, 2e9)
    return series.get("power-dcm", []), absent


@pytest.mark.promise("Exports of Intel's DCM need no description of their columns", "how-to/energy")
def test_both_layouts_of_dcm(tmp_path: Path) -> None:
    (header, *points), absent = read(tmp_path, ONE)
    assert not absent
    assert (header["meter"]["reading"], header["interval_seconds"]) == ("mean", 180)
    assert header["kinds"]["power"]["columns"]["watts"]["quality"] == "imported"
    first = datetime(2014, 10, 27, 10, 0, tzinfo=UTC).timestamp()
    assert [(point["utc"], point["watts"]) for point in points] == [(first, 1952), (first + 180, 1957)]
    (_, point), absent = read(tmp_path, APART, ", where: {Name: GroupA}")
    assert not absent
    assert (point["utc"], point["watts"]) == (datetime(2014, 10, 24, 14, 15, tzinfo=UTC).timestamp(), 1448)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (APART, "is about GroupA, GroupB: choose with where: {Name: …}"),
        ("Name,When,Power\nA,1,2\n", "is no export of DCM: it has no Name, Time and IT Equipment Power"),
        (ONE.replace("2014/10/27 10:03:00", "27.10.2014"), "line 3: '27.10.2014' is not written as %Y/%m/%d %H:%M:%S"),
        (ONE.replace("1957", "high"), "line 3: 'high' is no number"),
    ],
)
def test_exports_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    points, [absent] = read(tmp_path, text)
    assert not points
    assert words in absent
