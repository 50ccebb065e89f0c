"""Commands on a synthetic cluster, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.running import Howdah

FILE = """\
question: Do more reduces help?
workload: { terasort: { size: 1G } }
factors:
  mapreduce.job.reduces: [1, 2]
  mapreduce.map.output.compress: [false, true]
stop: { min: 4, max: 8 }
"""
TRUTH = """\
value: 60
effects:
  mapreduce.job.reduces: { 1: 1, 2: 0.8 }
  mapreduce.map.output.compress: { false: 1, true: 1 }
noise: { cv: 2% }
"""


@pytest.mark.promise("An experiment can be tried in seconds, without Hadoop", "README")
def test_an_experiment_from_its_plan_to_its_page(howdah: Howdah, tmp_path: Path) -> None:
    file, truth, directory = tmp_path / "e.yaml", tmp_path / "truth.yaml", tmp_path / "experiment"
    file.write_text(FILE, encoding="utf-8")
    truth.write_text(TRUTH, encoding="utf-8")
    where = ("--cluster", f"synthetic:{truth}")
    assert "3 arms in 4 blocks or more" in howdah("experiment", "plan", str(file), *where).ok().out
    said = howdah("experiment", "run", str(file), *where, "--out", str(directory)).ok()
    assert "Simulated: TeraSort takes " in said.out
    assert " less time with mapreduce.job.reduces 2" in said.out
    assert "Fresh runs confirm the best settings: 1.2" in " ".join(said.out.split())
    assert " of its mean  job.reduces 2" in said.err
    assert " so far  job.reduces 2  -" in said.err
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert "No cluster ran this" in page
    status = howdah("experiment", "status", str(directory)).ok().out
    assert status.count("Finished: ") == 2
    facts = json.loads(howdah("experiment", "report", str(directory), "--json").ok().out)
    assert (facts["simulated"], facts["outcomes"]) == (True, {"valid": 12})
    assert facts["confirmation"]["findings"][0]["verdict"] == "faster"
    markdown = tmp_path / "page.md"
    howdah("experiment", "report", str(directory), "-o", str(markdown)).ok()
    assert "## What matters" in markdown.read_text(encoding="utf-8")
    again = howdah("experiment", "resume", str(directory)).ok()
    assert again.out == said.out, "there is nothing left to run"


@pytest.mark.promise("`--no-report` makes no report, and `howdah report` makes it later", "CHANGELOG")
def test_a_run_without_a_report_has_one_made_later(howdah: Howdah, tmp_path: Path) -> None:
    truth = tmp_path / "truth.yaml"
    truth.write_text(TRUTH, encoding="utf-8")
    run = ("run", "terasort", "--cluster", f"synthetic:{truth}", "--no-report", "--out", str(tmp_path / "runs"))
    said = howdah(*run, "--json").json()
    [one] = said["runs"]
    assert said["report"] is None
    assert not list(Path(one["path"]).glob("*.html"))
    assert "Report:" not in howdah(*run).ok().out
    page = tmp_path / "later.html"
    howdah("report", one["path"], "-o", str(page)).ok()
    assert page.read_text(encoding="utf-8").lstrip().startswith("<!")


@pytest.mark.promise("Simulated runs are called simulated wherever they are shown", "README")
def test_runs_are_told_from_measured_ones(howdah: Howdah, tmp_path: Path) -> None:
    truth = tmp_path / "truth.yaml"
    truth.write_text(TRUTH, encoding="utf-8")
    common = ("run", "terasort", "--cluster", f"synthetic:{truth}", "--repeat", "4", "--out", str(tmp_path / "runs"))
    said = howdah(*common, "--conf", "mapreduce.job.reduces=1", "--label", "arm=a").ok().out
    assert "Simulated, nothing was run: TeraSort took " in said
    assert "validated" not in said
    howdah(*common, "--conf", "mapreduce.job.reduces=2", "--label", "arm=b").ok()
    out = ("--out", str(tmp_path / "runs"))
    assert howdah("runs", *out).ok().out.count(" synthetic ") == 8
    assert howdah("compare", "arm=a", "arm=b", *out).ok().out.startswith("Simulated: Faster: ")
    wrong = howdah(*common, "--conf", "mapreduce.job.reducers=2")
    assert wrong.code == 2
    assert "Did you mean mapreduce.job.reduces?" in wrong.err


@pytest.mark.promise("`howdah ab` ends in a sentence that says how much faster", "how-to/compare-two")
def test_two_settings_are_compared_and_found_again(howdah: Howdah, tmp_path: Path) -> None:
    truth = tmp_path / "truth.yaml"
    truth.write_text(TRUTH, encoding="utf-8")
    where = ("--cluster", f"synthetic:{truth}")
    home = {"HOWDAH_HOME": str(tmp_path / "home")}
    assert "No experiments in " in howdah("experiment", "list", env=home).ok().out
    assert howdah("experiment", "status", "latest", env=home).code == 2
    reduces = "mapreduce.job.reduces"
    for arguments, message in (
        ((), "A and B are the same"),
        (("--b", reduces), "not a setting"),
        (("--b", f"{reduces}=2", "--half-width", "wide"), "'wide' is not a percentage"),
        (("--b", f"{reduces}=2", "--min", "9", "--max", "8"), "max is 8, less than min"),
    ):
        said = howdah("ab", "terasort", *arguments, *where, env=home)
        assert said.code == 2, said.out
        assert message in said.err
    sides = ("--a", f"{reduces}=1", "--b", f"{reduces}=2", "--name-a", "one", "--name-b", "two")
    said = howdah("ab", "terasort", *sides, "--min", "4", *where, env=home).ok()
    assert "Simulated: TeraSort is 1.2" in said.out
    assert "× as fast with two as with one (95 % interval 1." in said.out
    assert "To run it with two:\n  howdah run terasort --nodes 1 --conf mapreduce.job.reduces=2\n" in said.out
    listed = howdah("experiment", "list", env=home).ok().out
    assert "finished" in listed
    [one] = howdah("experiment", "list", "--json", env=home).json()
    assert (one["finished"], one["simulated"], one["name"][-11:]) == (True, True, "ab-terasort")
    assert "Finished: 8 runs (8 valid)." in howdah("experiment", "status", "latest", env=home).ok().out
    assert howdah("experiment", "report", one["name"][:8], env=home).ok().out == said.out


@pytest.mark.promise("A search finds the best settings, and fresh runs confirm them", "how-to/tune")
def test_a_search_from_its_first_run_to_its_answer(howdah: Howdah, tmp_path: Path) -> None:
    truth, directory = tmp_path / "truth.yaml", tmp_path / "search"
    truth.write_text(TRUTH, encoding="utf-8")
    where = ("--cluster", f"synthetic:{truth}")
    for arguments, message in (
        (("terrasort", *where), "unknown workload"),
        (("terasort", "--budget", "soon", *where), "'soon' is not a duration"),
        (("terasort", "--option", "sise=1", *where), "terasort has no option 'sise'"),
        (("terasort", "--cluster", "alpha"), "an experiment cannot run on the cluster 'alpha'"),
    ):
        said = howdah("tune", *arguments, "--out", str(directory))
        assert said.code == 2, said.out
        assert message in said.err
        assert not directory.exists(), "what cannot be is refused before there is a directory"
    said = howdah("tune", "terasort", "--runs", "8", *where, "--out", str(directory)).ok()
    assert "The settings that were found are 1.2" in " ".join(said.out.split())
    assert howdah("experiment", "status", str(directory)).ok().out.count("Finished: ") == 2
    facts = howdah("experiment", "report", str(directory), "--json").json()
    assert facts["candidate"]["mapreduce.job.reduces"] == "2"
    assert facts["experiment"]["design"] == "search"
    assert howdah("tune", "terasort", *where, "--out", str(directory)).code == 2, "it is there already"
    plan = tmp_path / "plan.yaml"
    plan.write_text(FILE + "design: search\n", encoding="utf-8")
    assert "8 runs at most of 4 combinations" in howdah("experiment", "plan", str(plan), *where).ok().out
