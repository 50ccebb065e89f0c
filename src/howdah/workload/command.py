"""Any command of the user's own, measured like the other workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import Asked, Option, Session, Settings
from howdah.workload.programs import ShellLine


class Command:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "command"
    title: ClassVar[str] = "Command"
    summary: ClassVar[str] = (
        "runs and measures commands, with hadoop and its kin on PATH: whatever these stress; your own"
    )
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {}
    options: ClassVar[tuple[Option, ...]] = (
        Option("prepare", "A shell command that makes the input; not what is measured."),
        Option("run", "The shell command that is measured."),
        Option("verify", "A shell command that exits with 0 when the result is right."),
        Option("bytes", "How much data it works on, for its throughput and the check of the disk.", "bytes"),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "run/client_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        if not asked.own.get("run", "").strip():
            raise UsageError("nothing to run", hint="Say it: --run 'hadoop jar my.jar $HOWDAH_DIRECTORY/output'")
        return {option.name: asked.own.get(option.name) for option in self.options} | {"conf": dict(asked.conf)}

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        return settings["bytes"] or 0, 0

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        if settings["prepare"]:
            session.run("prepare", "prepare", ShellLine(settings["prepare"]))
        return {"generator": settings["prepare"], "bytes": settings["bytes"]}

    def run(self, session: Session, settings: Settings) -> None:
        session.run("run", "run", ShellLine(settings["run"]), data_bytes=settings["bytes"])

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        ended = Check("exit code", True, "0")  # Any other has ended the run.
        if not settings["verify"]:
            return (ended,)
        code = session.run("verify", "verify", ShellLine(settings["verify"], judged=True)).code
        return ended, Check("verify", code == 0, f"{settings['verify']!r} ended with code {code}")
