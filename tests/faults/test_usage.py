"""What is wrong with a command is said before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.conftest import Home, one_message

_RUN = ("run", "terasort")


def refused(home: Home, *args: str) -> str:
    """The one message of a command that is refused with code 2 without a cluster or a run."""
    ended = home.howdah(*args)
    assert ended.code == 2, ended.said
    assert not home.runs
    assert not (home.path / "clusters").exists(), "a cluster was started"
    return one_message(ended)


@pytest.mark.promise("A wrong option, value or file ends with 2 before anything is started", "reference/exit-codes")
@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("1X", "not a size: '1X'\nWrite a number and a unit"),
        ("0", "a size must be more than zero: '0'"),
        ("-1G", "not a size: '-1G'"),
        ("150", "150 bytes are not a whole number of rows"),
        ("900T", "Choose a smaller --size"),
    ],
)
def test_a_size_that_cannot_be(home: Home, size: str, said: str) -> None:
    assert said in refused(home, *_RUN, "--size", size)


def test_a_size_larger_than_the_disk_names_need_and_room(home: Home) -> None:
    message = refused(home, *_RUN, "--size", "900T", "--work-dir", str(home.path / "work"))
    assert "terasort needs 3" in message  # Input, output, and twice the map output: 3.6 PB.
    assert f"on the disk of {home.path / 'work'}" in message


@pytest.mark.promise("A wrong option, value or file ends with 2 before anything is started", "reference/exit-codes")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("run", "terasrot"), "unknown workload: 'terasrot'\nDid you mean terasort?"),
        ((*_RUN, "--conf", "mapreduce.job.reducers=2"), "did you mean mapreduce.job.reduces?"),
        ((*_RUN, "--conf", "mapreduce.job.reduces"), "not a setting: 'mapreduce.job.reduces'\nWrite --conf KEY=VALUE."),
        ((*_RUN, "--conf", "mapreduce.job.reduces=two"), "mapreduce.job.reduces is 'two'"),
        ((*_RUN, "--probe", "system", "--meters", "rapl"), "--meters needs the probe `power`"),
        ((*_RUN, "--probe", "sistem"), "unknown probe: 'sistem'\nKnown: power, system"),
        ((*_RUN, "--cluster", "conf:/nowhere"), "no configuration directory /nowhere"),
        ((*_RUN, "--hadoop", "2.0.0"), "no managed Hadoop 2.0.0"),
        ((*_RUN, "--hadoop-home", "/nowhere"), "no Hadoop at /nowhere"),
        (("up", "--conf", "dfs.replicaton=2"), "did you mean dfs.replication?"),
        (("up", "--name", "No Name"), "not a cluster name: 'No Name'"),
    ],
)
def test_what_does_not_exist(home: Home, args: tuple[str, ...], said: str) -> None:
    assert said in refused(home, *args)


@pytest.mark.promise("A message names what was probably meant", "reference/exit-codes")
def test_an_unknown_command_says_what_may_be_meant(home: Home) -> None:
    ended = home.howdah("staus")
    assert ended.code == 2
    assert "Did you mean status?" in ended.err


def test_a_cluster_that_is_not_up(home: Home) -> None:
    ended = home.howdah(*_RUN, "--cluster", "nosuch")
    assert ended.code == 1
    assert one_message(ended) == "no cluster called 'nosuch' is up\n`howdah up` starts one.\n"


def test_an_unknown_tuned_default(home: Home) -> None:
    ended = home.howdah("up", "--without", "nosuch")
    assert ended.code == 2
    assert "unknown tuned default: 'nosuch'\nKnown: biased-locking" in one_message(ended)


def test_more_nodes_than_the_memory_holds(home: Home) -> None:
    # A machine on which twenty nodes fit has more than 60 GB.
    memory = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    if memory > 60e9:
        pytest.skip("this machine has memory for twenty nodes")
    ended = home.howdah("up", "--nodes", "20")
    assert ended.code == 1
    assert "not enough memory for 20 nodes" in (message := one_message(ended))
    assert "fits now. Or free memory." in message
