"""Schema 1 stays readable for ever. The directory run-v1 was written by Howdah 0.1.0 and never changes."""

import json
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from howdah.model.run import Outcome
from howdah.model.sample import Moment
from howdah.store import read_run

DIRECTORY = Path(__file__).parent / "run-v1"
JOB = "job_1759999990000_0001"


@pytest.mark.promise("Directories of version 1 stay readable", "reference/run-directory")
def test_is_readable_and_whole():
    stored = read_run(DIRECTORY)
    assert stored.problems == ()
    assert stored.run.outcome == Outcome("valid")
    assert stored.run.trial.settings == {"size": 1_000_000, "nodes": 1, "reduces": 1}
    assert stored.run.start == Moment(1_760_000_000.0, 5000.0)
    assert [(phase.name, phase.jobs) for phase in stored.run.phases][1] == ("sort", (JOB,))
    assert [(sample.phase, sample.value) for sample in stored.samples] == [("sort", 11.5), ("gen", 9.25)]
    assert stored.environment["before"].hosts["vm"]["processors"] == 2
    assert [(name, len(lines)) for name, lines in stored.series()] == [("vm", 7)]


@pytest.mark.promise("Directories of version 1 stay readable", "reference/run-directory")
def test_the_identity_of_its_trial_is_the_same_today():
    recorded = json.loads((DIRECTORY / "run.json").read_text(encoding="utf-8"))["trial"]["identity"]
    assert read_run(DIRECTORY).run.trial.identity == recorded


def _lines(name: str) -> list[str]:
    return (DIRECTORY / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("schema", "documents"),
    [
        ("run", ["".join(_lines("run.json"))]),
        ("environment", ["".join(_lines("environment.json"))]),
        ("sample", _lines("samples.jsonl")),
        ("series", _lines("series/vm.jsonl")),
        ("job", ["".join(_lines(f"jobs/{JOB}.json"))]),
    ],
)
def test_fits_the_schemas_of_today(schema: str, documents: list[str]):
    text = resources.files("howdah.store").joinpath(f"schema/{schema}.json").read_text(encoding="utf-8")
    validator = Draft202012Validator(json.loads(text))
    for document in documents:
        validator.validate(json.loads(document))
