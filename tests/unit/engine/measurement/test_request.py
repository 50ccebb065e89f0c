"""Which runs a measurement is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.measurement.request import Measurement
from howdah.engine.run.execution import RunOptions
from howdah.engine.run.faults import Fault
from howdah.model.run import WARM_UP


@pytest.mark.promise("Warm-up runs have no fault", "reference/factors")
def test_a_fault_waits_for_the_run_that_counts() -> None:
    options = RunOptions(Path("runs"), ("howdah",), labels={"who": "test"}, fault=Fault("nodemanager", 0.5))
    runs = Measurement([], {}, ClusterRequest("made"), options, repeat=2, warmup=1).runs
    assert [WARM_UP in one.options.labels for one in runs] == [True, False, False]
    assert [one.options.fault for one in runs] == [None, options.fault, options.fault]
    assert all(one.options.labels["who"] == "test" for one in runs)
