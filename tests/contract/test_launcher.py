"""What every Launcher must do, and what a channel does when its other end is silent."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.errors import HostProblem
from howdah.host.agent.children import descendants
from howdah.host.channel import Channel
from howdah.host.launch.process import ProcessLauncher
from howdah.host.launch.ssh import SshLauncher
from tests.contract.test_host import wait_for
from tests.processes import is_alive
from tests.sshd import Server, ssh_server

_SILENCE = 2.0


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with ssh_server(tmp_path_factory.mktemp("sshd")) as server:
        yield server


def refusal(launcher: SshLauncher) -> HostProblem:
    with pytest.raises(HostProblem) as caught:
        Channel("far", launcher)
    return caught.value


@pytest.mark.promise("A host that asks for a password is refused with what to do", "reference/allocations")
def test_a_host_that_wants_a_password_is_told_as_that(sshd: Server) -> None:
    config = (sshd.directory / "client").read_text().replace(f"{sshd.directory}/key", "/no/such/key")
    (sshd.directory / "keyless").write_text(config)
    problem = refusal(sshd.launcher(config="keyless"))
    assert problem.message.startswith("[far] cannot start the agent: ssh is not let in without a password (")
    assert "`ssh -o BatchMode=yes 127.0.0.1 true`" in str(problem.hint)


def test_a_host_with_another_key_is_told_as_that(sshd: Server) -> None:
    config = (sshd.directory / "client").read_text().replace("/known_hosts", "/known_nobody")
    (sshd.directory / "stranger").write_text(config)
    problem = refusal(sshd.launcher(config="stranger"))
    assert "ssh does not know the host's key, or knows another one" in problem.message


def test_a_host_without_python_is_told_as_that(sshd: Server) -> None:
    problem = refusal(sshd.launcher(python="/no/such/python3"))
    assert "there is no Python of that name" in problem.message
    assert "/no/such/python3" in problem.message
    assert "Python 3.8 or newer" in str(problem.hint)


def test_a_host_that_does_not_listen_is_told_as_that(sshd: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    problem = refusal(replace(sshd.launcher(), port=port))
    assert "it cannot be reached by ssh (" in problem.message
    assert "refused" in problem.message


def test_a_name_that_looks_like_an_option_is_none() -> None:
    name = "-oProxyCommand=touch /tmp/mark"
    command = SshLauncher(name).command("program")
    assert command[-3:-1] == ("--", name), "ssh takes nothing behind -- for an option"


def test_a_connection_that_breaks_is_a_lost_host_and_the_agent_ends_everything(sshd: Server, tmp_path: Path) -> None:
    host = Channel("far", sshd.launcher(), silence=30)
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    [client] = [pid for pid in descendants(os.getpid()) if b"ssh\0-T" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(client, signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    assert str(process.lost_with).startswith("the host was lost: its agent has gone")
    wait_for(lambda: not is_alive(process.pid))
    host.close()


def agent_of(host: Channel) -> int:
    """The process that the agent is."""
    return int(host.run(["sh", "-c", "echo $PPID"], timeout=30).stdout)


def test_an_agent_that_is_silent_is_lost_and_whoever_waits_is_told(tmp_path: Path) -> None:
    host = Channel("far", ProcessLauncher(), silence=_SILENCE)
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    agent = agent_of(host)
    os.kill(agent, signal.SIGSTOP)
    with pytest.raises(HostProblem, match=r"\[far\] files.resolve: the host was lost: it has said nothing for 2 s"):
        host.call("files.resolve", path="/")
    assert process.wait(10) == -signal.SIGKILL
    assert process.lost_with == host.lost == "the host was lost: it has said nothing for 2 s"
    with pytest.raises(HostProblem, match="the host was lost"):
        host.run(["true"], timeout=5)
    host.close()
    wait_for(lambda: not is_alive(agent))
    os.kill(process.pid, signal.SIGKILL)  # Nobody was there to end it.


def test_an_agent_that_is_killed_is_lost_at_once(tmp_path: Path) -> None:
    host = Channel("far", ProcessLauncher(), silence=600)
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    os.kill(agent_of(host), signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL
    assert process.lost_with == "the host was lost: its agent has gone"
    os.kill(process.pid, signal.SIGKILL)


OWNER = """
import sys, time
from howdah.host.agent.children import descendants
from howdah.host.channel import Channel
from howdah.host.launch.process import ProcessLauncher
host = Channel("far", ProcessLauncher(), silence={silence})
agent = int(host.run(["sh", "-c", "echo $PPID"], timeout=30).stdout)
process = host.start(["sh", "-c", "trap '' TERM HUP INT; sleep 600"], output="{out}")
print(agent, process.pid, flush=True)
time.sleep(600)
"""


@contextmanager
def an_owner(out: Path) -> Iterator[tuple[int, int, int]]:
    """The processes of an owner, of its agent, and one that this has started; the owner is killed in the end."""
    program = OWNER.format(silence=_SILENCE, out=out)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        agent, started = map(int, owner.stdout.readline().split())
        try:
            yield owner.pid, agent, started
        finally:
            owner.kill()
    wait_for(lambda: not is_alive(started))


@pytest.mark.promise("An agent ends its processes when its owner has been silent", "reference/allocations")
def test_everything_ends_when_the_owner_is_stopped_for_longer_than_the_silence(tmp_path: Path) -> None:
    with an_owner(tmp_path / "out") as (owner, agent, started):
        os.kill(owner, signal.SIGSTOP)
        wait_for(lambda: not is_alive(started) and not is_alive(agent))


@pytest.mark.promise("A machine that sleeps with both ends of a channel loses nothing", "reference/allocations")
def test_nothing_ends_when_both_ends_are_stopped_together(tmp_path: Path) -> None:
    with an_owner(tmp_path / "out") as (owner, agent, started):
        time.sleep(_SILENCE / 2)  # Both have begun to count.
        for pid in (agent, owner):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(2 * _SILENCE)
        for pid in (owner, agent):
            os.kill(pid, signal.SIGCONT)
        time.sleep(_SILENCE)
        assert all(map(is_alive, (owner, agent, started)))


def test_an_interpreter_that_is_not_there_is_a_problem_of_the_host() -> None:
    class Nothing(ProcessLauncher):
        def command(self, program: str) -> tuple[str, ...]:
            return ("/no/such/python", "-c", program)

    with pytest.raises(HostProblem, match=r"\[far\] cannot start the agent: No such file or directory"):
        Channel("far", Nothing())


def test_what_prints_before_the_agent_is_told_as_that() -> None:
    class Chatty(ProcessLauncher):
        def command(self, program: str) -> tuple[str, ...]:
            return ("sh", "-c", "echo Welcome; sleep 1")

    with pytest.raises(HostProblem, match=r"\[far\] cannot start the agent: "):
        Channel("far", Chatty())
