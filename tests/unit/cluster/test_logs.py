"""Logs that come home while a cluster runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.cli.clusters.exec_command import prompting
from howdah.cluster.logs import Log, LogKeeper
from howdah.errors import HostProblem
from howdah.host import Host
from howdah.host.channel import open_local
from tests.plans import plan_of


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    opened = open_local("a")
    yield opened
    opened.close()


@pytest.mark.promise("Logs of a batch job's daemons come home while they run", "how-to/batch")
def test_what_is_new_is_appended_and_what_is_lost_stays(tmp_path: Path, host: Host) -> None:
    plan = plan_of(2, hosts=("a", "b"), root=str(tmp_path / "w"))
    home = tmp_path / "home"
    home.mkdir()
    there = Path(plan.quarters["a"].logs)
    there.mkdir(parents=True)
    log = there / "namenode.log"
    log.write_text("one\n")
    keeper = LogKeeper(plan, {"a": host, "b": host}, home, every=600.0)
    keeper.collect()
    log.write_text("one\ntwo\n")
    keeper.collect()
    keeper.collect()
    assert (home / "namenode.log").read_text() == "one\ntwo\n"
    assert (home / "namenode.log").stat().st_mode & 0o077 == 0
    log.unlink()
    keeper.collect()
    assert {one.name: one.read_text() for one in home.iterdir()} == {"namenode.log": "one\ntwo\n"}


@pytest.mark.promise("Logs of a batch job's containers come home while they run", "how-to/batch")
def test_logs_of_containers_come_home_too(tmp_path: Path, host: Host) -> None:
    plan = plan_of(2, hosts=("a", "b"), root=str(tmp_path / "w"))
    home = tmp_path / "home"
    name = "application_1_0001/container_1_0001_01_000002"
    there = Path(plan.nodes[1].directory) / "containers" / name
    there.mkdir(parents=True)
    (there / "syslog").write_text("one\n")
    (there / "launch_container.sh").write_text("export SECRET=1\n")
    keeper = LogKeeper(plan, {"a": host, "b": host}, home, every=600.0)
    keeper.collect()
    (there / "syslog").write_text("one\ntwo\n")
    (there / "stdout").write_text("")
    keeper.collect()
    (there / "syslog").unlink()
    (there / "stderr").write_text("late\n")
    keeper.collect()
    kept = {str(one.relative_to(home)): one.read_text() for one in home.rglob("*") if one.is_file()}
    assert kept == {f"containers/{name}/syslog": "one\ntwo\n", f"containers/{name}/stderr": "late\n"}
    assert (home / "containers" / name / "stderr").stat().st_mode & 0o077 == 0


@pytest.mark.promise("`howdah logs -f` goes on with new lines", "reference/commands")
def test_a_log_is_followed_byte_by_byte(tmp_path: Path) -> None:
    file = tmp_path / "namenode.log"
    file.write_bytes("grün\n".encode())
    more = iter(["schö".encode()[:-1], "schö".encode()[-1:] + b"n\n"])

    def sleep(_: float) -> None:
        if file.exists():
            with file.open("ab") as log:
                log.write(next(more))

    said = Log(str(file)).follow(sleep)
    assert [next(said) for _ in range(3)] == ["grün\n", "sch", "ön\n"]
    file.unlink()
    with pytest.raises(HostProblem, match=r"namenode\.log cannot be read"):
        next(said)


@pytest.mark.parametrize(("shell", "options"), [("bash", 2), ("zsh", 0), ("sh", 0)])
def test_the_prompt_names_the_cluster_where_a_shell_lets_it(tmp_path: Path, shell: str, options: int) -> None:
    found = prompting(shell, tmp_path)
    assert len(found) == options
    if found:
        asked = ("bash", *found, "-i", "-c", 'echo "$PS1"')
        environment = {**os.environ, "HOWDAH_CLUSTER_NAME": "mine", "HOME": str(tmp_path)}
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("[howdah mine] ")
