"""Convert model values to JSON and back. The shapes are those of `schema/*.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from howdah.model.environment import Environment
from howdah.model.metric import Metric
from howdah.model.redaction import redacted
from howdah.model.run import Caveat, Check, Outcome, Phase, Run, Trial
from howdah.model.sample import Moment, Sample
from howdah.store.layout import SCHEMA


def encode_run(run: Run) -> dict[str, Any]:
    """Return `run.json` as a mapping, without the values of sensitive settings."""
    record = {"schema": SCHEMA, **asdict(run)}
    record["trial"] = {**asdict(run.trial), "identity": run.trial.identity}
    kept: dict[str, Any] = redacted(record)
    return kept


def decode_run(record: Mapping[str, Any]) -> Run:
    """Return the run in a `run.json` of schema 1. Raises KeyError, TypeError or ValueError for any other record."""
    end = record["end"]
    return Run(
        id=record["id"],
        title=record["title"],
        trial=Trial(record["trial"]["workload"], record["trial"]["settings"]),
        outcome=Outcome(**record["outcome"]),
        start=Moment(**record["start"]),
        end=None if end is None else Moment(**end),
        howdah=record["howdah"],
        command=tuple(record["command"]),
        cluster=record["cluster"],
        dataset=record["dataset"],
        primary=record["primary"],
        phases=tuple(_decode_phase(phase) for phase in record["phases"]),
        checks=tuple(Check(**check) for check in record["checks"]),
        caveats=tuple(Caveat(**caveat) for caveat in record["caveats"]),
        metrics=tuple(Metric(**metric) for metric in record["metrics"]),
        labels=record["labels"],
    )


def _decode_phase(record: Mapping[str, Any]) -> Phase:
    end = record["end"]
    return Phase(
        name=record["name"],
        kind=record["kind"],
        start=Moment(**record["start"]),
        end=None if end is None else Moment(**end),
        jobs=tuple(record["jobs"]),
        command=tuple(record["command"]),
        error=record["error"],
    )


def encode_sample(sample: Sample) -> dict[str, Any]:
    """Return one line of `samples.jsonl`: the fields of Sample, the moment flattened into `utc` and `monotonic`."""
    record = asdict(sample)
    moment = record.pop("moment")
    return {**record, **moment}


def decode_sample(record: Mapping[str, Any]) -> Sample:
    """Return the sample in one line of `samples.jsonl`."""
    fields = dict(record)
    moment = Moment(fields.pop("utc"), fields.pop("monotonic"))
    return Sample(**fields, moment=moment)


def encode_environment(environment: Environment) -> dict[str, Any]:
    """Return one reading in `environment.json`."""
    return {"hosts": dict(environment.hosts), "hadoop": dict(environment.hadoop)}


def decode_environment(record: Mapping[str, Any]) -> Environment:
    """Return the reading that `encode_environment` wrote."""
    return Environment(record["hosts"], record["hadoop"])
