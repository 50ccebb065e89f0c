"""The JSON Schema for editors says what the reader takes."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import yaml

from howdah.errors import UsageError
from howdah.model.experiment import Design
from howdah.spec import experiment
from howdah.spec.experiment import read_experiment
from tests.unit.spec.test_experiment import BY_HAND, LEAST, RATES, WHOLE

SCHEMA = json.loads((resources.files("howdah.spec") / "experiment.schema.json").read_text(encoding="utf-8"))
# Not among them: what only compares values with each other, as min with max and the baseline with the levels.
WRONG = (
    ("question", "qestion"),
    ("half_width", "halfwidth"),
    ("nodes", "node"),
    ("design: blocks", "design: block"),
    ("[1, 2]", "[2, 2]"),
    ("[1, 2]", "[2]"),
    ("[1, 2]", "2"),
    ("2.5 %", "0.05"),
    ("min: 5", "min: 1"),
    ("1.5h", "90"),
    ("seed: 7", "seed: x"),
    ("{ terasort: { size: 2G } }", "{ terasort: {}, pi: {} }"),
)


def taken(content: str, tmp_path: Path) -> tuple[bool, bool]:
    """Whether the reader takes it, and whether the schema does."""
    file = tmp_path / "experiment.yaml"
    file.write_text(content, encoding="utf-8")
    by_schema = jsonschema.Draft202012Validator(SCHEMA).is_valid(yaml.safe_load(content))
    try:
        read_experiment(file)
    except UsageError:
        return False, by_schema
    return True, by_schema


@pytest.mark.parametrize("content", [WHOLE, LEAST, BY_HAND, RATES])
def test_what_is_right(tmp_path: Path, content: str) -> None:
    assert taken(content, tmp_path) == (True, True)


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_what_is_wrong(tmp_path: Path, old: str, new: str) -> None:
    assert taken(WHOLE.replace(old, new, 1), tmp_path) == (False, False)


def test_keys_and_designs_are_the_readers() -> None:
    assert set(SCHEMA["properties"]) == set(experiment._KEYS)
    assert SCHEMA["required"] == list(experiment._NEEDED)
    assert set(SCHEMA["properties"]["cluster"]["properties"]) == set(experiment._CLUSTER)
    assert set(SCHEMA["properties"]["stop"]["properties"]) == set(experiment._STOP)
    assert SCHEMA["properties"]["design"]["enum"] == list(get_args(Design))
