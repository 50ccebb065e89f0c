"""The picture of the README."""

from __future__ import annotations

import pytest

from tools.speedups import IMAGES, INKS, PAGE, ROWS, picture, speedups


@pytest.mark.promise("The README's picture is made from the measured figures", "README")
def test_the_pictures_are_current() -> None:
    """Not their bytes: where text goes depends on the fonts of a machine."""
    found = speedups(PAGE.read_text(encoding="utf-8"))
    for name, inks in INKS.items():
        drawn = (IMAGES / f"speedups-{name}.svg").read_text(encoding="utf-8")
        for one in found:
            assert f">{one.name}<" in drawn, ".venv/bin/python -m tools.speedups"
            assert f">{one.times:.1f}×<" in drawn, ".venv/bin/python -m tools.speedups"
        assert picture(found, *inks).count("<path") == drawn.count("<path")


def test_every_figure_is_in_its_interval() -> None:
    found = speedups(PAGE.read_text(encoding="utf-8"))
    assert len(found) == len(ROWS)
    assert all(1 < one.low <= one.times <= one.high for one in found)


def test_a_row_that_is_gone_is_said() -> None:
    with pytest.raises(ValueError, match="no speed-up in its row 'TeraSort 10 GB, one node'"):
        speedups("| measured | compared with | figure | bar |\n|---|---|---|---|\n")
