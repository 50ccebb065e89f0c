"""Defects of what reports and comparisons say."""

from __future__ import annotations

from tests.defects.defect import Defect

_BUILD, _COMPARE = "src/howdah/report/page/build.py", "src/howdah/report/comparison/compare.py"

DEFECTS = (
    Defect(
        name="damage-not-said",
        promise="A report names what is missing or cut off in a run directory.",
        file=_BUILD,
        old='yield Caveat("run", sentence(f"{run.run.id}: {problem}"))',
        new="continue",
        tests=("tests/unit/report/page/test_build.py::test_the_runs_own_caveats_and_damage_are_said",),
    ),
    Defect(
        name="ranks-not-compared",
        promise="Allocations of unequal hosts are told apart.",
        file="src/howdah/model/environment.py",
        old="enumerate(one.hosts.values(), 1)",
        new="enumerate(sorted(one.hosts.values(), key=str), 1)",
        tests=("tests/unit/model/test_environment.py::test_hosts_of_other_names_are_compared_by_their_rank",),
    ),
    Defect(
        name="invalid-runs-without-reasons",
        promise="Runs that are not valid are listed with their reasons and not used.",
        file=_BUILD,
        old='listed = listing([f"{run.run.id} {outcome_words(run.run)}" for run in unused])',
        new='listed = listing([f"{run.run.id} {run.run.outcome.kind}" for run in unused])',
        tests=("tests/unit/report/page/test_build.py::test_runs_that_are_not_valid_are_listed_and_not_used",),
    ),
    Defect(
        name="wide-spread-not-said",
        promise="A report says where the runs differ much.",
        file=_BUILD,
        old="found.cv is not None and found.cv > WIDE_SPREAD",
        new="found.n > 4 and found.cv is not None and found.cv > WIDE_SPREAD",
        tests=("tests/unit/report/page/test_build.py::test_a_wide_spread_is_said",),
    ),
    Defect(
        name="other-hardware-not-said",
        promise="A comparison of runs on different hosts says that the effect may be that of the hosts.",
        file=_COMPARE,
        old='if entry.path.startswith("hosts.")]',
        new='if entry.path.startswith("host.")]',
        tests=("tests/unit/report/comparison/test_compare.py::test_other_hardware_is_said",),
    ),
    Defect(
        name="readback-not-compared",
        promise="Two sides whose daemons held other settings than were asked for are not compared silently.",
        file=_COMPARE,
        old="    elif not settings and (held := _held(sides)):",
        new="    elif settings and (held := _held(sides)):",
        tests=("tests/unit/report/comparison/test_compare.py::test_what_daemons_held_differently_is_told",),
    ),
    Defect(
        name="simulated-not-said",
        promise="Numbers of a synthetic cluster are called simulated wherever they are shown.",
        file="src/howdah/report/document/labels.py",
        old="Label(any(one.simulated for one in runs), ",
        new='Label(any("simulated" in one.labels for one in runs), ',
        tests=("tests/system/test_synthetic.py::test_runs_are_told_from_measured_ones",),
    ),
    Defect(
        name="simulated-hosts-not-said",
        promise="The headline and the badge of a report say that hosts were simulated.",
        file="src/howdah/report/document/labels.py",
        old="any(one.on_simulated_hosts for one in runs))",
        new="False)",
        tests=("tests/unit/report/page/test_build.py::test_simulated_hosts_are_said_first",),
    ),
    Defect(
        name="gap-shown-as-zero",
        promise="What was not measured is missing in a report, never 0.",
        file="src/howdah/report/phases/series.py",
        old="return None if growth is None else growth / (end - start)",
        new="return 0.0 if growth is None else growth / (end - start)",
        tests=("tests/unit/report/phases/test_series.py::test_what_is_not_covered_is_missing_not_zero",),
    ),
    Defect(
        name="untrusted-exits-with-1",
        promise="A run that ran and cannot be trusted exits with 3.",
        file="src/howdah/errors.py",
        old="    exit_code = 3",
        new="    exit_code = 1",
        tests=("tests/unit/cli/runs/test_run.py::test_the_exit_code_says_who_must_act",),
    ),
    Defect(
        name="terminal-silent-about-load",
        promise="`howdah run` says in the terminal what the page warns of: load of others, drift, spread.",
        file="src/howdah/cli/reporting.py",
        old="(caveat.text for caveat in caveats_of(members))",
        new="(caveat.text for run in members.runs for caveat in run.run.caveats)",
        tests=("tests/unit/report/page/test_detail.py::test_what_else_used_the_processors_is_said",),
    ),
    Defect(
        name="interval-of-two-runs",
        promise="Fewer than four runs have no interval.",
        file="src/howdah/stats/summary.py",
        old="n >= FEWEST else None",
        new="n > 1 else None",
        tests=("tests/unit/stats/test_summary.py::test_few_runs_have_no_interval",),
    ),
    Defect(
        name="setting-counted-twice",
        promise="A comparison counts every setting once.",
        file=_COMPARE,
        old="    asked = _asked(settings)",
        new="    asked = settings",
        tests=("tests/unit/engine/measurement/test_synthetic.py::test_a_setting_that_differs_is_one_setting",),
    ),
    Defect(
        name="servers-rounded-down",
        promise="Servers for equal work are a set where the interval leaves several.",
        file="src/howdah/report/value/equivalence.py",
        old="math.ceil(count * ratio * scale - _HAIR)",
        new="math.floor(count * ratio * scale + _HAIR)",
        tests=("tests/unit/report/value/test_value.py::test_more_work_never_takes_fewer_servers",),
    ),
    Defect(
        name="rack-by-means",
        promise="A rack takes the peak of a server's power.",
        file="src/howdah/report/value/system.py",
        old='("p99", "nameplate", "mean")',
        new='("mean", "p99", "nameplate")',
        tests=("tests/unit/report/value/test_value.py::test_a_rack_says_what_limits_it_and_that_it_holds_no_server",),
    ),
    Defect(
        name="strips-of-the-machine",
        promise="The timeline shows the use of each host.",
        file="src/howdah/report/phases/timeline.py",
        old="yield name, ([series.cpu_of(name)], moved, sent)",
        new="yield name, ([series.cpu(BUSY)], moved, sent)",
        tests=(
            "tests/unit/report/phases/test_timeline.py"
            "::test_hosts_that_are_simulated_have_what_their_own_groups_disks_and_cards_count",
        ),
    ),
    Defect(
        name="memory-with-files",
        promise="The memory of each host is shown, without that of files.",
        file="src/howdah/report/phases/nodes.py",
        old="float(total) - float(available)",
        new='float(total) - float(available) + point.get("memory_cached", 0)',
        tests=("tests/unit/report/phases/test_nodes.py::test_hosts_use_memory_beyond_that_of_files",),
    ),
)
