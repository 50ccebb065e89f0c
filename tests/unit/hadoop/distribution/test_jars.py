"""What messages advise those who lack a jar of ours."""

from __future__ import annotations

from pathlib import Path

from howdah.hadoop.distribution.jars import how_to_get_jars


def test_in_a_tree_of_sources_jars_are_built(tmp_path: Path) -> None:
    (tmp_path / "java").mkdir()
    (tmp_path / "java/pom.xml").touch()
    assert how_to_get_jars(tmp_path / "src/howdah") == "`make jars` builds it."


def test_where_howdah_is_installed_the_wheel_has_them(tmp_path: Path) -> None:
    said = how_to_get_jars(tmp_path / "lib/python3.11/site-packages/howdah")
    assert "make" not in said
    assert "-m pip install --force-reinstall" in said
