"""The commands that run workloads: one for each, with its own options, what they refuse before anything starts, and
what they end with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.main import howdah
from howdah.cli.reporting import load_side
from howdah.cli.runs.run_command import _finish, _verdict
from howdah.engine.measurement.request import Measured
from howdah.errors import Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.configuration.site import render_site
from howdah.model.run import WARM_UP, Outcome, OutcomeKind, Run, Trial
from howdah.model.sample import Moment
from howdah.store import read_run
from howdah.workload.registry import WORKLOADS
from tests.unit.report.example_runs import Example, write_example


def typed(*arguments: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(howdah, ["run", *arguments])


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_each_workload_has_a_page_of_help_with_its_own_options(name: str) -> None:
    said = typed(name, "--help")
    assert said.exit_code == 0
    for option in WORKLOADS[name].options:
        assert f"--{option.name} " in said.output
    assert ("--size" in said.output) == bool(WORKLOADS[name].sizes)
    assert ("--profile" in said.output) == bool(WORKLOADS[name].profiles)


@pytest.mark.promise("`howdah workloads` lists every workload", "README")
def test_the_list_has_every_workload_and_all() -> None:
    said = typed("--help").output
    assert all(f"\n  {name} " in said for name in (*WORKLOADS, "all"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("terrasort",), "unknown workload: 'terrasort'"),
        (("pi", "--size", "1.5"), "not a whole number of samples: '1.5'"),
        (("pi", "--size", "1GB"), "not a whole number of samples: '1GB'"),
        (("terasort", "--size", "1G", "--profile", "tiny"), "--profile and --size exclude each other"),
        (("terasort", "--cluster", "x", "--nodes", "2"), "--nodes is for a cluster that is made for the run"),
        (("dfsio", "--buffer", "1X"), "not a size: '1X'"),
        (("terasort", "--conf", "a"), "not a setting: 'a'"),
        (
            ("terasort", "--accelerator", "sort", "--factor", "accelerator=none"),
            "--accelerator sort and --factor accelerator=none exclude each other",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_value(arguments: tuple[str, ...], message: str) -> None:
    error = typed(*arguments).exception
    assert message in str(getattr(error, "message", error))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("distcp", "--reduces", "3"), "No such option"),
        (("terasort", "--maps", "0"), "0 is not in the range"),
        (("wordcount", "--engine", "flink"), "'flink' is not one of"),
        (("all", "--size", "1G"), "'1G' is not one of"),
        (("terasort", "--profile", "enormous"), "'enormous' is not one of"),
        (("terasort", "--accelerator", "rdma"), "'rdma' is not one of 'none', 'sort'"),
        (("hs", "--watts", "0"), "0.0 is not in the range x>0"),
        (("hs", "--watts", "nan"), "'nan' is not a finite number"),
        (("hs", "--price", "inf"), "'inf' is not a finite number"),
        (("hs", "--price", "-1"), "-1.0 is not in the range x>0"),
        (("shuffle", "--skew", "nan"), "'nan' is not a finite number"),
    ],
)
def test_options_that_are_not_a_workloads_own_are_usage_errors(arguments: tuple[str, ...], message: str) -> None:
    said = typed(*arguments)
    assert said.exit_code == 2
    assert message in said.output


@pytest.mark.promise("A run that does not validate has no numbers and exits with 3", "README")
@pytest.mark.parametrize(
    ("kind", "refused", "code", "message"),
    [
        ("valid", None, None, ""),
        ("invalid", None, 3, "the run is invalid and has no samples: because"),
        ("failed", None, 1, "because"),
        ("failed", UsageError("no directory is known", hint="--directory DIR"), 2, "no directory is known"),
    ],
)
def test_the_exit_code_says_who_must_act(
    kind: OutcomeKind, refused: UsageError | None, code: int | None, message: str
) -> None:
    outcome = Outcome(kind, None if kind == "valid" else "because")
    run = Run("r", "R", Trial("distcp", {}), outcome, Moment(0, 0), None, "0", (), {})
    error = _verdict(Measured(run, Path("/runs/r"), refused))
    assert (None if error is None else error.exit_code) == code
    assert ("" if error is None else error.message) == message


@pytest.mark.promise("Of several runs, the exit code is that of the first that was not valid", "reference/exit-codes")
def test_of_several_runs_the_first_that_is_not_valid_decides(tmp_path: Path) -> None:
    ended = [("a", Outcome("valid")), ("b", Outcome("failed", "no")), ("c", Outcome("invalid", "wrong"))]
    made = [write_example(tmp_path, Example(name, place, one)) for place, (name, one) in enumerate(ended)]
    runs = [Measured(one.run, one.path) for one in made]
    with pytest.raises(WorkloadFailed, match="no"):
        _finish(runs, as_json=True, reported=False)
    with pytest.raises(Untrusted):
        _finish([runs[0], runs[2], runs[1]], as_json=True, reported=False)


@pytest.mark.promise("Options for a cluster that is made for the run are refused", "how-to/existing-cluster")
@pytest.mark.parametrize(
    "option", [("--nodes", "2"), ("--without", "large-blocks"), ("--work-dir", "/w"), ("--defaults", "stock")]
)
def test_options_for_a_new_cluster_are_refused_on_one_that_is_up(option: tuple[str, str]) -> None:
    for cluster in ("x", "conf:/etc/hadoop/conf"):
        error = typed("terasort", "--cluster", cluster, *option).exception
        assert f"{option[0]} is for a cluster that is made for the run" in str(error)


@pytest.mark.parametrize("also", [("--json",), ("-o", "x.html")])
def test_lines_of_hibench_are_written_to_no_file(also: tuple[str, ...]) -> None:
    ended = CliRunner().invoke(howdah, ["report", "latest", "--format", "hibench", *also])
    assert ended.exit_code == 2
    assert "neither --json nor -o" in ended.output


@pytest.mark.promise("What is refused is refused before anything is fetched", "how-to/existing-cluster")
def test_a_configuration_that_is_refused_fetches_no_hadoop(tmp_path: Path) -> None:
    settings = {"fs.defaultFS": "hdfs://nn", "hadoop.security.authentication": "token"}
    (tmp_path / "core-site.xml").write_text(render_site(settings))
    home = tmp_path / "home"
    # Offline, as a command that fetches first would download it here: that command speaks of a Hadoop that is missing.
    said = typed("terasort", "--cluster", f"conf:{tmp_path}", "--offline", HOWDAH_HOME=str(home))
    assert str(said.exception).startswith("hadoop.security.authentication of this cluster is token")
    assert "Fetching" not in said.output
    assert not home.exists()


def test_a_keytab_has_a_principal_and_is_for_clusters_of_others(tmp_path: Path) -> None:
    keytab = tmp_path / "me.keytab"
    keytab.touch()
    said = typed("terasort", "--cluster", "conf:/nowhere", "--keytab", str(keytab))
    assert "--keytab and --principal go together" in str(said.exception)
    said = typed("terasort", "--cluster", "mine", "--keytab", str(keytab), "--principal", "ann@R")
    assert "--keytab is for --cluster conf:DIR" in str(said.exception)


@pytest.mark.promise("A placeholder in the address of a daemon is refused", "how-to/existing-cluster")
def test_a_warning_about_a_configuration_comes_before_its_refusal(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"fs.defaultFS": "hdfs://#MASTER#:8020"}))
    (tmp_path / "yarn-site.xml").write_text(render_site({"yarn.resourcemanager.hostname": "rm"}))
    said = typed("terasort", "--cluster", f"conf:{tmp_path}", "--offline", HOWDAH_HOME=str(tmp_path / "home"))
    assert said.stderr.startswith("Warning: core-site.xml, line 3: fs.defaultFS has the placeholder #MASTER#: ")
    assert str(said.exception).startswith("the address of the NameNode is #MASTER#:9870, and nothing says")


@pytest.mark.promise("`--warmup N` makes runs that do not count", "CHANGELOG")
def test_warm_up_runs_are_kept_and_do_not_count(tmp_path: Path) -> None:
    truth = tmp_path / "truth.yaml"
    truth.write_text("value: 60\nnoise: { cv: 2% }\n")
    options = ("--size", "1G", "--cluster", f"synthetic:{truth}", "--out", str(tmp_path / "runs"), "--label", "heap=1g")
    said = typed("terasort", *options, "--warmup", "2", "--repeat", "3", HOWDAH_HOME=str(tmp_path / "home"))
    assert said.exit_code == 0, said.output
    assert "3 runs" in said.output
    assert "5 runs" not in said.output.partition("Report")[0]
    labels = [read_run(path).run.labels for path in sorted((tmp_path / "runs").iterdir())]
    assert [WARM_UP in one for one in labels] == [True, True, False, False, False]
    assert len(load_side("heap=1g", str(tmp_path / "runs"))) == 3
    assert len(load_side("warmup=yes", str(tmp_path / "runs"))) == 2


@pytest.mark.promise("A page replaces a page of Howdah, and no other file", "CHANGELOG")
@pytest.mark.parametrize("ending", ["html", "md", "json", "csv"])
def test_a_page_replaces_pages_and_no_other_file(tmp_path: Path, ending: str) -> None:
    for number in range(4):
        write_example(tmp_path / "runs", Example(f"r{number}", number, labels={"heap": f"{number}g"}))
    page = tmp_path / f"page.{ending}"
    place = ("--out", str(tmp_path / "runs"), "-o", str(page))
    several = ["compare", *(f"heap={number}g" for number in range(3)), *place]
    commands = [several] if ending == "csv" else [["report", "r1", *place], several, ["compare", "r1", "r2", *place]]
    for command in (*commands, *commands):
        assert CliRunner().invoke(howdah, command).exit_code == 0, command
    page.write_text("my own\n")
    for command in commands:
        refused = CliRunner().invoke(howdah, command)
        assert str(refused.exception).startswith(f"{page} exists, and is no page of Howdah")
    assert page.read_text() == "my own\n"
    if ending != "csv":
        assert CliRunner().invoke(howdah, ["report", "r1", *place, "--force"]).exit_code == 0


def test_a_report_takes_labels_and_has_each_run_once(tmp_path: Path) -> None:
    for number, heap in enumerate(("1g", "1g", "2g"), start=1):
        write_example(tmp_path / "runs", Example(f"r{number}", number, labels={"heap": heap}))
    place = ("--out", str(tmp_path / "runs"), "--json")
    reported = CliRunner().invoke(howdah, ["report", "heap=1g", "r1,r2", *place])
    assert reported.exit_code == 0, reported.output
    runs = [run["id"] for trial in json.loads(reported.output)["trials"] for run in trial["runs"]]
    assert sorted(runs) == ["r1", "r2"]
    missing = CliRunner().invoke(howdah, ["report", "heap=9g", *place])
    assert str(missing.exception) == "no run has the label or the setting heap=9g"
    by_setting = CliRunner().invoke(howdah, ["report", "accelerator=none", *place])
    assert by_setting.exit_code == 0, by_setting.output
    assert "r3" in by_setting.output
