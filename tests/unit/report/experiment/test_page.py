"""What a page of an experiment says."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from howdah.model.comparison import Verdict
from howdah.model.environment import Difference
from howdah.model.experiment import Design, Experiment, Factor, Finding, Findings, Interaction, Rate, Result, StopRule
from howdah.model.metric import Metric
from howdah.model.run import Caveat, Outcome
from howdah.report import Report, Source, build_experiment, render_html, render_json, render_markdown, render_text
from howdah.stats.blocks import Observation, with_interactions
from howdah.stats.design import arms, schedule
from howdah.stats.order import outlying, relative, trend
from tests.unit.report.example_runs import Example, write_example

FACTORS = (
    Factor("mapreduce.task.io.sort.mb", ("32", "128")),
    Factor("mapreduce.map.output.compress", ("false", "true")),
    Factor("mapreduce.job.reduces", ("2", "4")),
)
TRUTH = {"mapreduce.task.io.sort.mb": 0.2, "mapreduce.map.output.compress": -0.1, "mapreduce.job.reduces": 0.0}
METRIC = Metric("job_seconds", "s", "lower", "from submission to the end of the job", "history")
SOURCE = Source("question: Which?\n", "/experiments/one", "howdah experiment resume /experiments/one")


def experiment(design: Design = "one-at-a-time") -> Experiment:
    return Experiment(
        "Which of these matters?", "terasort", {"size": "1G"}, {"nodes": "3"}, {}, FACTORS, design, None, StopRule(), 1
    )


def findings(design: Design = "one-at-a-time", blocks: int = 8, drift: float = 0.0, spread: float = 0.02) -> Findings:
    noise = random.Random(1)
    made, described = arms(design, FACTORS), experiment(design)
    slots = schedule(design, len(made), blocks, 1)
    values = [
        math.exp(
            3.5
            + sum(TRUTH[one.name] for one in FACTORS if made[slot.arm][one.name] != one.levels[0])
            + drift * place / len(slots)
            + noise.gauss(0, spread)
        )
        for place, slot in enumerate(slots)
    ]
    levels = [
        tuple(at for at, one in enumerate(FACTORS) if made[slot.arm][one.name] != one.levels[0]) for slot in slots
    ]
    seen = [Observation(slot.block, terms, value) for slot, terms, value in zip(slots, levels, values, strict=True)]
    pairs = [(0, 1), (0, 2), (1, 2)] if design == "full" else []
    alone, together = with_interactions(seen, pairs, 8)
    names = [(one.name, one.levels[1]) for one in FACTORS]
    verdicts: list[Verdict] = ["slower", "faster", "no difference shown"]
    order = [slot.arm for slot in slots]
    shares = relative(order, values)
    far = outlying(shares)
    return Findings(
        experiment=described,
        title="TeraSort",
        phase="sort",
        metric=METRIC,
        arms=made,
        blocks=blocks,
        findings=tuple(
            Finding(*names[one.term], FACTORS[one.term].levels[0], one, verdicts[one.term]) for one in alone
        ),
        candidate={**made[0], "mapreduce.map.output.compress": "true"},
        interactions=tuple(
            Interaction((names[pairs[one.term][0]], names[pairs[one.term][1]]), one, "no difference shown", ())
            for one in together
        ),
        aliases=(),
        trend=trend(order, values),
        results=tuple(
            Result(f"run-{place}", slot.block, slot.arm, Outcome("valid"), values[place], shares[place], far[place])
            for place, slot in enumerate(slots)
        ),
        changed=(),
        simulated=False,
        ended=True,
    )


def caveats(report: Report) -> str:
    return "\n".join(block.text for part in report.sections for block in part.blocks if isinstance(block, Caveat))


def test_the_headline_is_the_answer() -> None:
    report = build_experiment(findings(), SOURCE)
    assert report.title == "Which of these matters?"
    assert report.headline.startswith("TeraSort takes ")
    assert " % more time with mapreduce.task.io.sort.mb 128 and 1" in report.headline
    assert " % less time with mapreduce.map.output.compress true. " in report.headline
    assert report.headline.endswith("Nothing is shown of mapreduce.job.reduces 4.")


def test_too_few_blocks_are_said_first() -> None:
    found = findings(blocks=3)
    report = build_experiment(found, SOURCE)
    assert report.headline.startswith("Not enough data: 3 of at least 8 blocks are done")
    nothing = replace(found, blocks=0, findings=(), results=(), trend=None, interactions=())
    assert build_experiment(nothing, SOURCE).headline.startswith("Not enough data: 0 of at least 8")


def test_nothing_shown_is_said_as_that() -> None:
    found = findings()
    quiet = tuple(replace(one, verdict="no difference shown") for one in found.findings)
    report = build_experiment(replace(found, findings=quiet, candidate=found.arms[0]), SOURCE)
    assert report.headline == "Nothing is shown to change the time of TeraSort."
    assert "there is nothing to recommend" in render_text(report)


def test_levels_that_could_not_be_judged_are_said_as_that() -> None:
    found = findings()
    failed = tuple(
        replace(one, effect=None, verdict="not enough data", outcomes={"failed": 30}) for one in found.findings[:1]
    )
    report = build_experiment(replace(found, findings=failed, candidate=found.arms[0]), SOURCE)
    name = f"{failed[0].factor} {failed[0].level}"
    assert report.headline == (
        f"Nothing can be said of the time of TeraSort. There are not enough valid runs of {name} (30 failed)."
    )
    unlike = (replace(found.findings[0], verdict="not comparable"), *found.findings[1:])
    assert (
        f"Not comparable with the baseline: {name}."
        in build_experiment(replace(found, findings=unlike), SOURCE).headline
    )


def test_before_its_end_it_says_so() -> None:
    report = build_experiment(replace(findings(), ended=False), SOURCE)
    assert report.headline.startswith("So far: TeraSort takes ")
    assert "It has not ended. Do not stop it" in caveats(report)


def test_valid_runs_without_the_metric_are_said() -> None:
    found = findings()
    without = replace(found.results[5], value=None, relative=None, outlying=False)
    said = caveats(build_experiment(replace(found, results=(*found.results[:5], without, *found.results[6:])), SOURCE))
    assert "1 valid run has no sort/job_seconds, or several, and has no part in this: of " in said


def test_what_stands_against_believing_it_is_on_the_page() -> None:
    found = findings(drift=0.3)
    unlike = (Difference("hosts.vm.thp", "never", "always"),)
    first = replace(found.findings[0], verdict="not comparable", unlike=unlike)
    wrong = replace(found.results[5], outcome=Outcome("failed", "why"), value=None, relative=None, outlying=False)
    found = replace(
        found,
        findings=(first, *found.findings[1:]),
        results=(*found.results[:5], wrong, *found.results[6:]),
        changed=("hosts.vm.kernel",),
    )
    said = caveats(build_experiment(found, SOURCE))
    assert f"{first.factor} {first.level} differs from the baseline in more than that" in said
    assert "hosts.vm.thp" in said
    assert "Not the same in all runs of one arm: hosts.vm.kernel." in said
    assert "1 run did not end well" in said
    assert "The runs drifted: by their order alone the last is 1." in said


def test_a_page_without_a_reason_for_doubt_has_none_but_that_of_the_prediction() -> None:
    found = findings()
    assert caveats(build_experiment(found, SOURCE)).count("\n") == 0
    assert "picked because they looked best" in caveats(build_experiment(found, SOURCE))
    both = {**found.candidate, "mapreduce.job.reduces": "4"}
    assert "never run together" in caveats(build_experiment(replace(found, candidate=both), SOURCE))


def test_the_candidate_is_a_command() -> None:
    text = render_text(build_experiment(findings(), SOURCE))
    expected = "howdah run terasort --size 1G --nodes 3 --conf mapreduce.task.io.sort.mb=32 --conf mapreduce.map.output"
    assert expected in text


def test_pairs_are_shown_where_the_design_can_see_them() -> None:
    assert "FACTORS TOGETHER" not in render_text(build_experiment(findings(), SOURCE))
    text = render_text(build_experiment(findings("full"), SOURCE))
    assert "FACTORS TOGETHER" in text
    assert "Pairs, the largest effect first" in text


@pytest.mark.parametrize("design", ["one-at-a-time", "full", "screening"])
def test_every_format_has_it(design: Design) -> None:
    report = build_experiment(findings(design), SOURCE)
    page = render_html(report)
    assert page.count("<svg") == 6, "three figures, each at two widths"
    assert report.headline.split(" (")[0].replace(" % ", "\u00a0% ") in page
    assert "Every level against the baseline" in render_markdown(report)
    facts = json.loads(render_json(report))
    assert (facts["kind"], facts["schema"], facts["outcomes"]) == ("experiment", 1, {"valid": len(facts["results"])})
    assert Draft202012Validator({"required": ["findings", "trend", "arms"]}).is_valid(facts)


@pytest.mark.promise(
    "The best level of each factor is compared with the baseline in fresh runs", "reference/experiment"
)
@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("faster", "Fresh runs confirm the best settings: 1.1"),
        ("no difference shown", "Fresh runs do not confirm the best settings: 0.8"),
        ("not enough data", "Fresh runs of the best settings against the baseline: not enough data."),
    ],
)
def test_fresh_runs_decide_what_is_recommended(verdict: Verdict, said: str) -> None:
    found = findings()
    [better] = [one for one in found.findings if one.verdict == "faster"]
    fresh = replace(found, findings=(replace(better, verdict=verdict),))
    report = build_experiment(found, SOURCE, fresh)
    assert said in report.headline
    assert ("That is no recommendation." in caveats(report)) == (verdict != "faster")
    assert report.facts["confirmation"]["findings"][0]["verdict"] == verdict


@pytest.mark.promise("Only what fresh runs confirm is recommended", "how-to/tune")
@pytest.mark.parametrize(
    ("verdicts", "confirmed"),
    [
        (["slower", "slower"], True),
        (["slower", "no difference shown"], True),
        (["slower", "faster"], False),
        (["no difference shown", "not enough data"], False),
        (["faster", "faster"], False),
    ],
)
def test_what_a_search_found_is_recommended_where_fresh_runs_show_it(verdicts: list[Verdict], confirmed: bool) -> None:
    """Every level is compared with what was found."""
    found = findings()
    searched = replace(found, experiment=replace(found.experiment, design="search"))
    levels = tuple(
        replace(found.findings[0], factor="configuration", level=level, verdict=verdict)
        for level, verdict in zip(("stock", "tuned"), verdicts, strict=True)
    )
    report = build_experiment(searched, SOURCE, replace(found, findings=levels))
    assert ("That is no recommendation." in caveats(report)) != confirmed
    assert ("howdah run terasort" in render_text(report)) == confirmed


def test_what_limited_each_arm_and_what_disturbed_a_run_is_said(tmp_path: Path) -> None:
    found = findings(blocks=1)
    runs = [write_example(tmp_path, Example(f"run-{place}", place)) for place in range(len(found.results))]
    source = replace(SOURCE, runs=tmp_path)
    quiet = build_experiment(found, source)
    assert "used much of the processor time" not in caveats(quiet)
    assert "took processor time" not in caveats(quiet)
    told = render_markdown(quiet)
    assert "What limited sort in each arm" in told
    assert len(re.findall(r"CPU \d+.% busy", told)) == 4
    file = runs[2].path / "series" / "vm.jsonl"
    text = file.read_text()
    kept = [line for line in text.splitlines() if '"nodemanager"' not in line and '"container"' not in line]
    file.write_text("\n".join(kept) + "\n")
    samples = runs[2].path / "samples.jsonl"
    known = [line for line in samples.read_text().splitlines() if '"cpu_seconds"' not in line]
    samples.write_text("\n".join(known) + "\n")
    said = caveats(build_experiment(found, source))
    assert "In 1 run something else on the machine used much of the processor time of sort: " in said
    assert "in run-2." in said
    steal = iter(range(100_000))
    file.write_text(re.sub(r'"cpu_steal":0.0', lambda _: f'"cpu_steal":{next(steal) * 0.1:.1f}', text))
    assert "In 1 run other virtual machines took processor time of sort: " in caveats(build_experiment(found, source))
    assert "not a TPC result" not in caveats(quiet)
    simulated = build_experiment(replace(found, simulated=True), replace(source, runs=tmp_path / "none"))
    assert "What limited" not in render_text(simulated)


def test_what_the_runs_say_of_themselves_is_said_once(tmp_path: Path) -> None:
    found = findings(blocks=1)
    own = (Caveat("run", "not a TPC result"), Caveat("sort", "other applications ran: application_1_0007"))
    for place in range(len(found.results)):
        write_example(tmp_path, Example(f"run-{place}", place, caveats=own if place == 1 else own[:1]))
    said = caveats(build_experiment(found, replace(SOURCE, runs=tmp_path)))
    assert f"Not a TPC result. ({len(found.results)} of {len(found.results)} runs)" in said
    assert f"Other applications ran: application_1_0007. (1 of {len(found.results)} runs)" in said


def test_time_energy_and_price_and_which_arms_are_on_the_front() -> None:
    made = findings()
    name = "mapreduce.task.io.sort.mb"
    rates = replace(made.experiment, watts=Rate(name, {"32": 300.0, "128": 100.0}), price=Rate(None, {"": 3.6}))
    page = build_experiment(replace(made, experiment=rates), SOURCE)
    facts = page.facts["bills"]
    assert [one["seconds"] for one in facts] == sorted(one["seconds"] for one in facts)
    by_arm = {one["arm"]: one for one in facts}
    assert by_arm[0]["watt_hours"] == pytest.approx(by_arm[0]["seconds"] * 300 / 3600)
    assert by_arm[0]["price"] == pytest.approx(by_arm[0]["seconds"] / 1000)
    slow = next(number for number, arm in enumerate(made.arms) if arm[name] == "128")
    assert {number for number, one in by_arm.items() if one["best"]} == {facts[0]["arm"], slow}, "fastest, thriftiest"
    assert "On the Pareto front" in render_markdown(page)
    assert "Pareto" not in render_markdown(build_experiment(made, SOURCE)), "nothing is said where nothing is known"
    processor = replace(made, experiment=rates, metric=replace(METRIC, name="cpu_seconds"))
    assert "The rates say nothing of cpu\\_seconds" in render_markdown(build_experiment(processor, SOURCE))
