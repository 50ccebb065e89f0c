"""A run directory as anybody can read it: JSON, and the published schemas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from howdah.hadoop.interfaces.effective import parse_conf


@dataclass(frozen=True, slots=True)
class Kept:
    """A run directory, read without Howdah's own reader."""

    path: Path

    def record(self, name: str) -> Any:
        return json.loads((self.path / name).read_text(encoding="utf-8"))

    def lines(self, name: str) -> list[Any]:
        return [json.loads(line) for line in (self.path / name).read_text(encoding="utf-8").splitlines()]

    def job(self, phase: str) -> dict[str, Any]:
        [found] = [job for job in self.jobs() if job["phase"] == phase]
        return found

    def jobs(self) -> list[dict[str, Any]]:
        return [self.record(f"jobs/{file.name}") for file in sorted((self.path / "jobs").glob("*.json"))]

    def setting(self, phase: str, key: str) -> str:
        return parse_conf(self.configuration(phase))[key].value

    def configuration(self, phase: str) -> bytes:
        """The configuration that the job of `phase` had."""
        return (self.path / "jobs" / f"{self.job(phase)['id']}_conf.xml").read_bytes()

    def samples(self, metric: str) -> list[dict[str, Any]]:
        return [sample for sample in self.lines("samples.jsonl") if sample["metric"] == metric]


def check_schemas(kept: Kept) -> None:
    """Every file against its published schema."""
    schemas = {
        name: Draft202012Validator(
            json.loads(resources.files("howdah.store").joinpath(f"schema/{name}.json").read_text(encoding="utf-8"))
        )
        for name in ("run", "environment", "effective", "readback", "sample", "series", "job", "energy")
    }
    schemas["run"].validate(kept.record("run.json"))
    schemas["environment"].validate(kept.record("environment.json"))
    schemas["readback"].validate(kept.record("readback.json"))
    for file in (kept.path / "conf/effective").glob("*.json"):
        schemas["effective"].validate(kept.record(f"conf/effective/{file.name}"))
    for sample in kept.lines("samples.jsonl"):
        schemas["sample"].validate(sample)
    for file in (kept.path / "series").glob("*.jsonl"):
        for line in kept.lines(f"series/{file.name}"):
            schemas["series"].validate(line)
    if (kept.path / "energy.json").exists():
        schemas["energy"].validate(kept.record("energy.json"))
    for job in kept.jobs():
        schemas["job"].validate(job)
