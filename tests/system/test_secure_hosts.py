"""Secured clusters on several hosts, with everything that runs on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.store import read_run
from tests.system.running import Howdah

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.soak(part="security"),
    pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root"),
]

_PROGRAMS = (
    ("terasort",),
    ("terasort", "--accelerator", "sort"),
    ("wordcount", "--engine", "streaming"),
    ("wordcount", "--engine", "spark"),
    ("spark-terasort",),
    ("dfsio",),
    ("distcp",),
    ("namenode",),
)


@pytest.fixture(scope="module", params=["privacy", "integrity"])
def protected(request: pytest.FixtureRequest, howdah: Howdah) -> Iterator[str]:
    """The name of a cluster on three hosts."""
    name = request.param
    howdah("up", "--name", name, "--on", "sim:3", "--protection", name).ok()
    yield name
    howdah("down", "--name", name).ok()


@pytest.mark.promise("Every kind of program runs on secured hosts, at every protection", "how-to/secure")
@pytest.mark.parametrize("program", _PROGRAMS, ids=" ".join)
def test_programs_are_valid(howdah: Howdah, protected: str, program: tuple[str, ...], tmp_path: Path) -> None:
    arguments = ("--size", "smoke", "--cluster", protected, "--out", str(tmp_path), "--no-report")
    howdah("run", *program, *arguments).ok()
    [run] = [read_run(place).run for place in tmp_path.iterdir()]
    assert run.outcome.kind == "valid"
    assert run.cluster["security"] == protected


@pytest.mark.promise("Map outputs are encrypted where that is asked for, and our shuffle serves", "how-to/secure")
def test_our_shuffle_serves_map_outputs_over_tls(howdah: Howdah, tmp_path: Path) -> None:
    encrypted = ("--secure", "--conf", "mapreduce.shuffle.ssl.enabled=true")
    arguments = ("--size", "smoke", "--accelerator", "sort", "--out", str(tmp_path), "--no-report")
    howdah("run", "terasort", *encrypted, *arguments).ok()
    [run] = [read_run(place).run for place in tmp_path.iterdir()]
    assert run.outcome.kind == "valid"
    assert not any("fallback" in caveat.text.lower() for caveat in run.caveats), run.caveats
