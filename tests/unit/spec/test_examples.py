"""The experiment files that come with Howdah."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.engine.experiment.plan import SyntheticCluster, plan_experiment
from howdah.spec.experiment import read_experiment
from howdah.spec.truth import read_truth

PLACE = Path(__file__).parents[3] / "experiments"
FILES = sorted(PLACE.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_is_read(file: Path) -> None:
    if file.stem.endswith(".synthetic"):
        assert read_truth(file).value > 0
    else:
        assert [factor.levels for factor in read_experiment(file).factors if len(factor.levels) > 1]


@pytest.mark.promise("An experiment can be tried in seconds, without Hadoop", "README")
def test_one_can_be_tried_without_hadoop(tmp_path: Path) -> None:
    truth = PLACE / "try-it.synthetic.yaml"
    plan = plan_experiment(read_experiment(PLACE / "try-it.yaml"), SyntheticCluster(truth, read_truth(truth)), tmp_path)
    assert len(plan.arms) == 8
