"""Experiments as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.running import Howdah

FILE = """\
question: Do reduces matter?
workload: { terasort: { size: 1G } }
cluster: { nodes: 3 }
factors:
  mapreduce.job.reduces: [1, 2, 4]
  yarn.nodemanager.vmem-check-enabled: [false, true]
stop: { min: 4, max: 8 }
"""


@pytest.mark.promise(
    "`howdah experiment plan` shows the runs, their time and the smallest effect that they show", "README"
)
def test_a_plan_says_what_would_run(howdah: Howdah, tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(FILE, encoding="utf-8")
    said = howdah("experiment", "plan", str(file)).ok().out
    assert said.startswith("Do reduces matter?\nTeraSort of size 1G; the primary metric is sort/job_seconds.\n")
    assert "4 arms in 4 blocks or more, at most 8: 16 runs or more" in said
    assert "another job" in said
    assert "a new cluster" in said
    made = howdah("experiment", "plan", str(file), "--json").json()
    assert (len(made["arms"]), len(made["slots"])) == (4, 16)
    assert made["arms"][0] == {"mapreduce.job.reduces": "1", "yarn.nodemanager.vmem-check-enabled": "false"}


def test_a_key_that_hadoop_does_not_know_is_refused(howdah: Howdah, tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(FILE.replace("mapreduce.job.reduces", "mapreduce.job.reducers"), encoding="utf-8")
    said = howdah("experiment", "plan", str(file))
    assert said.code == 2
    assert "did you mean mapreduce.job.reduces?" in said.err
    assert howdah("experiment", "plan", str(tmp_path / "none")).code == 2
