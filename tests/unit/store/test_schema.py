"""The published schemas: what is written satisfies them, and what is not of the format does not."""

import json
from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from howdah.model.sample import Sample
from howdah.store import codec
from howdah.store.codec_job import decode_job, encode_job
from howdah.store.layout import SCHEMA
from tests.unit.store import values

NAMES = ("run", "environment", "effective", "readback", "sample", "series", "job")
SCHEMAS = {
    name: json.loads(resources.files("howdah.store").joinpath(f"schema/{name}.json").read_text(encoding="utf-8"))
    for name in NAMES
}


def stored(record):
    """What a reader gets: through JSON text and back."""
    return json.loads(json.dumps(record))


def validate(name, record):
    Draft202012Validator(SCHEMAS[name]).validate(record)


@pytest.mark.promise("Every file holds its JSON Schema", "reference/run-directory")
@pytest.mark.parametrize("name", NAMES)
def test_is_a_schema_of_this_version(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert f'"const": {SCHEMA}' in json.dumps(SCHEMAS[name]) or name in ("sample", "effective")


@given(values.RUN)
def test_run_round_trip(run):
    record = stored(codec.encode_run(run))
    validate("run", record)
    assert codec.decode_run(record) == run


@given(values.SAMPLE)
def test_sample_round_trip(sample: Sample):
    record = stored(codec.encode_sample(sample))
    validate("sample", record)
    assert codec.decode_sample(record) == sample


@given(values.ENVIRONMENT)
def test_environment_round_trip(environment):
    record = stored(codec.encode_environment(environment))
    validate("environment", {"schema": SCHEMA, "before": record, "after": record})
    assert codec.decode_environment(record) == environment


APPLICATION = {"id": "application_1_1", "memory_seconds": 10, "vcore_seconds": 2}


@given(values.JOB, st.sampled_from([None, APPLICATION]))
def test_job_round_trip(job, application):
    record = stored(encode_job(job, phase="sort", application=application))
    validate("job", record)
    assert decode_job(record) == (job, "sort", application)


HEADER = {
    "schema": 1,
    "host": "vm",
    "source": "/proc",
    "interval_seconds": 1.0,
    "kinds": {"disk": {"columns": {"read_bytes": {"unit": "B", "quality": "measured", "type": "counter"}}}},
}
POINTS = [
    {"kind": "machine", "utc": 1.0, "monotonic": 2.0, "role": "machine", "cpu_user": 3.5},
    {"kind": "disk", "utc": 1.0, "monotonic": 2.0, "role": "machine", "device": "vda", "read_bytes": 4096},
    {"kind": "network", "utc": 1.0, "monotonic": 2.0, "role": "machine", "interface": "lo", "send_bytes": 1},
    {"kind": "process", "utc": 1.0, "monotonic": 2.0, "role": "datanode", "node": "node1", "pid": 7, "cpu": 0.1},
]


@pytest.mark.parametrize("line", [HEADER, *POINTS])
def test_series_lines_fit(line):
    validate("series", line)


def _without(record, key):
    return {name: value for name, value in record.items() if name != key}


RUN = stored(codec.encode_run(values.run()))
SAMPLE = stored(codec.encode_sample(values.sample()))


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("run", {**RUN, "colour": "red"}),
        ("run", {**RUN, "schema": 2}),
        ("run", _without(RUN, "outcome")),
        ("run", stored(codec.encode_run(values.run(outcome="perhaps")))),
        ("run", stored(codec.encode_run(values.run(outcome="failed")))),
        ("sample", {**SAMPLE, "value": None}),
        ("sample", {**SAMPLE, "value": "12"}),
        ("sample", _without(SAMPLE, "unit")),
        ("sample", stored(codec.encode_sample(replace(values.sample(), quality="guessed")))),  # type: ignore[arg-type]
        ("environment", {"schema": 1}),
        ("series", {**HEADER, "interval_seconds": 0}),
        ("series", {**POINTS[0], "cpu_user": None}),
        ("series", _without(POINTS[1], "device")),
        ("series", _without(POINTS[0], "utc")),
    ],
)
def test_refused(name, record):
    with pytest.raises(ValidationError):
        validate(name, record)
