"""The picture of the README is of real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.model.run import Outcome
from tests.unit.report.example_runs import Example, write_example, write_group
from tools.picture import PICTURE, page


def test_a_picture_is_of_five_valid_runs(tmp_path: Path) -> None:
    five = write_group(tmp_path, "run", 5)
    assert 'class="badge' in page(five)
    with pytest.raises(ValueError, match="5 valid runs of real clusters are needed: 4"):
        page(five[:4])
    failed = write_example(tmp_path, Example("failed", 9, outcome=Outcome("failed", "no disk")))
    with pytest.raises(ValueError, match="are needed: failed"):
        page([*five, failed])


def test_the_picture_is_there() -> None:
    assert PICTURE.read_bytes().startswith(b"\x89PNG")
