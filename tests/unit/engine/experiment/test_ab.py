"""One setting against another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from howdah.engine.experiment.ab import ab_experiment
from howdah.engine.experiment.confirmation import confirming
from howdah.engine.experiment.findings import find
from howdah.engine.experiment.plan import plan_experiment
from howdah.errors import UsageError
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.experiment import Findings, StopRule
from howdah.report import Source, build_experiment, render_text
from howdah.spec.experiment import parse_experiment, write_experiment
from tests.unit.engine.experiment.experiments import begun, keep, simulated

KEY = "mapreduce.task.io.sort.mb"
STOP = StopRule(0.05, 4, 6)


def found(tmp_path: Path, effect: float, spread: float = 0.005) -> Findings:
    described = ab_experiment("terasort", {"size": "1G"}, ({}, {KEY: "32"}), (None, "small"), {"nodes": "3"}, STOP, 1)
    described = parse_experiment(write_experiment(described))
    made = plan_experiment(described, Distribution("3.4.2", tmp_path, "managed", (), (), ()), tmp_path)
    directory = begun(tmp_path)
    for one in simulated(made, spread, truth={0: 0.0, 1: effect}):
        arm = made.arms[one.slot.arm]
        conf = described.configurations[arm["configuration"]]
        labels = {**one.run.labels, **arm}
        held = {f"sort/{name}": [level] for name, level in conf.items()}
        keep(directory, replace(one, run=replace(one.run, labels=labels)), held=held)
    return find(made, directory)


@pytest.mark.promise("`howdah ab` ends in a sentence that says how much faster", "how-to/compare-two")
@pytest.mark.parametrize(
    ("effect", "words", "verdict"),
    [
        (-0.4, "TeraSort is 1.49× as fast with small as with defaults (95 % interval 1.4", "faster"),
        (0.1, "TeraSort takes 1", "slower"),
        (0.0, "No difference is shown between small and defaults: TeraSort takes ", "no difference shown"),
    ],
)
def test_the_answer_is_a_sentence(tmp_path: Path, effect: float, words: str, verdict: str) -> None:
    seen = found(tmp_path, effect)
    assert [one.verdict for one in seen.findings] == [verdict]
    page = build_experiment(seen, Source("", "", ""))
    assert page.headline.startswith(words)
    assert page.title == "Is terasort faster with small than with defaults?"
    if verdict == "slower":
        assert "more time with small than with defaults (95 % interval +" in page.headline
    if verdict == "faster":
        assert f"howdah run terasort --size 1G --nodes 3 --conf {KEY}=32" in " ".join(render_text(page).split())
    assert confirming(seen) is None, "it is a comparison in fresh runs already"


def test_sides_are_called_by_their_settings() -> None:
    made = ab_experiment("terasort", {}, ({"nodes": "1"}, {"nodes": "3", KEY: "32"}), (None, None), {}, STOP, 1)
    assert made.configurations == {"nodes=1": {"nodes": "1"}, f"nodes=3, {KEY}=32": {"nodes": "3", KEY: "32"}}


@pytest.mark.parametrize(
    ("sides", "names", "message"),
    [
        (({}, {}), (None, None), "A and B are the same"),
        (({KEY: "1"}, {KEY: "1"}), ("a", "b"), "A and B are the same"),
        (({KEY: "1"}, {KEY: "2"}), ("a", "a"), "both sides are called a"),
    ],
)
def test_what_does_not_differ_is_refused(
    sides: tuple[dict[str, str], dict[str, str]], names: tuple[str | None, str | None], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        ab_experiment("terasort", {}, sides, names, {}, STOP, 1)
