"""`jobs/JOB_ID.json`: a parsed job, the phase that ran it, and YARN's charge for the job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from howdah.model.job import Attempt, Job, Span
from howdah.store.layout import SCHEMA

Charge = Mapping[str, Any]
"""`id` of the application, `memory_seconds` (MiB × seconds allocated), `vcore_seconds` (virtual cores × seconds)."""


def encode_job(job: Job, *, phase: str, application: Charge | None) -> dict[str, Any]:
    """Return `jobs/JOB_ID.json` as a mapping. `application` is None if YARN no longer knew the application."""
    charge = None if application is None else dict(application)
    return {"schema": SCHEMA, "phase": phase, "application": charge, **asdict(job)}


def decode_job(record: Mapping[str, Any]) -> tuple[Job, str, Charge | None]:
    """Return job, phase and application.

    Raises KeyError, TypeError or ValueError for a record that `encode_job` did not write.
    """
    fields = dict(record)
    schema, phase, application = fields.pop("schema"), fields.pop("phase"), fields.pop("application")
    if schema != SCHEMA:
        raise ValueError(f"a job of schema {schema!r}; this Howdah reads {SCHEMA}")
    fields["attempts"] = tuple(_decode_attempt(attempt) for attempt in fields["attempts"])
    return Job(**fields), phase, application


def _decode_attempt(record: Mapping[str, Any]) -> Attempt:
    fields = dict(record)
    fields["whole"] = Span(**fields["whole"])
    fields["steps"] = {name: Span(**step) for name, step in fields["steps"].items()}
    return Attempt(**fields)
