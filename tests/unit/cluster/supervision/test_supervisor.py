"""What a supervisor does before a batch system takes its hosts away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.cluster.state import ClusterDirectory
from howdah.cluster.supervision.supervisor import Supervisor
from tests.unit.cluster.test_state import MANIFEST


class Control:
    """Somebody stages while `looks` are left; nobody has a run."""

    is_used = False

    def __init__(self, looks: int) -> None:
        self.looks = looks

    @property
    def is_claimed(self) -> bool:
        self.looks -= 1
        return self.looks > 0


class Assembly:
    """A cluster on which something runs until it is killed."""

    def __init__(self) -> None:
        self.kills = 0

    def kill_applications(self) -> None:
        self.kills += 1


class Staging:
    """Copies that note the cluster when they begin."""

    seconds = 0.0

    def __init__(self, control: Control, assembly: Assembly) -> None:
        self._control, self._assembly = control, assembly
        self.seen: list[tuple[int, bool, bool]] = []

    def run(self, must_stop: Callable[[], bool]) -> None:
        self.seen.append((self._assembly.kills, self._control.looks > 0, must_stop()))


@pytest.mark.promise("Copies at the end of a job have the containers for themselves", "how-to/batch")
@pytest.mark.parametrize(("looks", "left", "whole"), [(4, 600.0, True), (10**9, 16.0, False)])
def test_copies_begin_when_nothing_else_runs(tmp_path: Path, looks: int, left: float, whole: bool) -> None:
    """A stage of the script goes on as long as there is time."""
    directory = ClusterDirectory("c", tmp_path)
    supervisor = Supervisor(ClusterRequest("c", copies=(("/a", "/b"),)), directory, lambda *_, **__: None)
    supervisor._save(MANIFEST)
    control, assembly = Control(looks), Assembly()
    staging: Any = Staging(control, assembly)
    known: Any = assembly
    server: Any = control
    supervisor._leave(known, server, staging, left, lambda: False)
    assert staging.seen == [(1, not whole, not whole)]
    manifest = directory.read()
    assert manifest is not None
    assert str(manifest.taken) == f"walltime: {left:.0f} s are left"
