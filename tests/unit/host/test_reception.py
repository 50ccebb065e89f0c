"""Agents that call by themselves: who gets through, and who does not."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from howdah.errors import HostProblem
from howdah.host import operations
from howdah.host.agent import caller
from howdah.host.channel import Channel
from howdah.host.reception import PROGRAM, Expected, Reception
from tests.contract.test_host import wait_for
from tests.processes import is_alive


def fine() -> None:
    """Nothing is broken."""


@pytest.fixture
def reception() -> Iterator[Reception]:
    with closing(Reception()) as made:
        yield made


def start(invitation: Mapping[str, Any], **environment: str) -> subprocess.Popen[bytes]:
    """What a batch system runs on a host."""
    command = (sys.executable, "-I", "-u", "-c", PROGRAM)
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment}
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(invitation).encode() + b"\n")
    process.stdin.close()
    return process


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Its exit code, and what it has said."""
    assert process.stderr is not None
    with process.stderr as said:
        return process.wait(20), said.read().decode()


def open_channel(reception: Reception, name: str, **settings: Any) -> Channel:
    return Channel(name, Expected(reception, name, 20.0, fine), **settings)


def test_two_hosts_that_call_are_told_apart_by_what_their_batch_system_calls_them(reception: Reception) -> None:
    started = [start(reception.invitation(), SLURMD_NODENAME=name, HOSTNAME="wrong") for name in ("n2", "n1")]
    hosts = [open_channel(reception, name) for name in ("n1", "n2")]
    parents = [host.run(("sh", "-c", "echo $SLURMD_NODENAME"), timeout=20).stdout for host in hosts]
    assert parents == [b"n1\n", b"n2\n"]
    for host in hosts:
        host.close()
    assert [ended(process) for process in started] == [(0, ""), (0, "")]


def test_much_goes_both_ways(reception: Reception, tmp_path: Path) -> None:
    process = start(reception.invitation("far"))
    host = open_channel(reception, "far")
    content = os.urandom(20 << 20)
    operations.write_file(host, str(tmp_path / "much"), content)
    assert operations.read_file(host, str(tmp_path / "much")) == content
    host.close()
    assert ended(process)[0] == 0


def test_another_agent_calls_through_the_first_and_ends_with_it(reception: Reception) -> None:
    process = start(reception.invitation("far"))
    first = open_channel(reception, "far")
    with closing(Reception()) as other:
        operations.call_in(first, PROGRAM, json.dumps(other.invitation("far")))
        second = open_channel(other, "far")
    sleeping = second.start(("sleep", "600"), output=os.devnull)
    assert is_alive(sleeping.pid)
    first.close()
    wait_for(lambda: not is_alive(sleeping.pid))
    wait_for(lambda: second.lost is not None)
    second.close()
    assert ended(process)[0] == 0


@pytest.mark.promise("Agents of a batch job end everything when their channel ends, and leave no data", "how-to/batch")
def test_what_was_claimed_is_gone_when_the_one_who_waits_is_killed(tmp_path: Path) -> None:
    place = tmp_path / "claimed"
    owner = subprocess.Popen(
        (sys.executable, "-c", _OWNER, str(place)), stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert owner.stdout is not None
    agent = start(json.loads(owner.stdout.readline()))
    sleeping = int(owner.stdout.readline())
    assert place.is_dir()
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert ended(agent)[0] == 0
    assert not is_alive(sleeping)
    assert not place.exists()


_OWNER = """
import json, os, sys, time
from howdah.host import operations
from howdah.host.channel import Channel
from howdah.host.reception import Expected, Reception
from tests.contract.test_host import wait_for
reception = Reception()
print(json.dumps(dict(reception.invitation("far"))), flush=True)
host = Channel("far", Expected(reception, "far", 20.0, lambda: None))
operations.claim_directory(host, sys.argv[1], "me")
operations.leave_none(host, sys.argv[1], "me")
print(host.start(("sleep", "600"), output=os.devnull).pid, flush=True)
time.sleep(600)
"""


def test_a_batch_system_that_ends_a_job_is_heard_of_and_the_channel_stays(reception: Reception) -> None:
    process = start(reception.invitation("far"))
    host = open_channel(reception, "far")
    told = threading.Event()
    host.stream("process.endings", lambda _: told.set())
    agent = int(host.run(("sh", "-c", "echo $PPID"), timeout=20).stdout)
    process.send_signal(signal.SIGTERM)
    os.kill(agent, signal.SIGTERM)
    assert told.wait(10)
    assert host.run(("true",), timeout=20).code == 0
    host.close()
    assert ended(process)[0] == 0


def test_who_has_no_token_does_not_get_through(reception: Reception) -> None:
    process = start({**reception.invitation("far"), "token": "0" * 64})
    wait_for(lambda: bool(reception._refused))
    with pytest.raises(HostProblem, match=r"\[far\] no agent has called within 2 s; refused was .*no token of ours"):
        Channel("far", Expected(reception, "far", 2.0, fine))
    process.kill()
    ended(process)


def test_a_caller_believes_one_certificate_alone(reception: Reception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "_TRY_SECONDS", 0.5)
    with closing(Reception()) as other:
        invitation = {**reception.invitation("far"), "certificate": other.invitation()["certificate"]}
        with pytest.raises(OSError, match="certificate verify failed"):
            caller.call({**invitation, "addresses": ["127.0.0.1"]}).close()


def test_who_says_nothing_or_nonsense_is_refused(reception: Reception) -> None:
    given = reception.invitation("far")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=given["certificate"])
    for said in (b"", b"x" * 5000, b"[]\n", b'{"token": 1, "name": "far"}\n'):
        plain = socket.create_connection(("127.0.0.1", given["port"]), 10)
        with context.wrap_socket(plain) as secure:
            secure.sendall(said)
            if not said:
                continue
            secure.settimeout(10)
            with suppress(OSError):  # It may be reset.
                assert secure.recv(1) == b""
    wait_for(lambda: len(reception._refused) == 4)


def test_nobody_comes_once_what_brings_them_has_failed(reception: Reception) -> None:
    began = time.monotonic()
    with pytest.raises(HostProblem, match=r"\[n1\] no agent came: `srun` ended with code 1: no such step"):
        Channel("n1", Expected(reception, "n1", 60.0, lambda: "`srun` ended with code 1: no such step"))
    assert time.monotonic() - began < 20


def test_who_called_and_was_not_meant_is_named(reception: Reception) -> None:
    process = start(reception.invitation("n1.cluster"))
    wait_for(lambda: bool(reception._arrived))
    with pytest.raises(HostProblem, match=r"\[n1\] no agent has called within 1 s; others have: n1.cluster"):
        Channel("n1", Expected(reception, "n1", 1.0, fine))
    reception.close()
    ended(process)


def test_nobody_listens_after_the_end(reception: Reception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caller, "_TRY_SECONDS", 0.5)
    given = reception.invitation("far")
    reception.close()
    reception.close()
    with pytest.raises(OSError, match="does not answer"):
        caller.call({**given, "addresses": ["127.0.0.1"]})


def test_what_starts_agents_is_quoted_when_none_comes(reception: Reception) -> None:
    waiting = "srun: Job 7 step creation temporarily disabled, retrying (Requested nodes are busy)"
    with pytest.raises(HostProblem, match=r"no agent has called within 0 s; what starts them said: srun: Job 7 step"):
        reception.wait_for("n1", 0.05, fine, lambda: waiting)
