"""The reaper beside others that wait. A process for each scene: the reaper takes every child of its process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_BEGIN = """
import json, os, signal, sys, time
from howdah.host.agent.children import Children

told = []
children = Children(lambda *ended: told.append(ended[:2]))

def start(line):
    return children.start(["sh", "-c", line], "out", None, None)

def code_of(line, timeout=10.0):
    return children.run(["sh", "-c", line], timeout, None, None, b"")["code"]

def until(count):
    deadline = time.monotonic() + 20
    while len(told) < count and time.monotonic() < deadline:
        time.sleep(0.01)

sleeper = start("exec sleep 60")
time.sleep(0.2)  # Now the reaper waits for an end, and not for a start.
"""


def play(scene: str, directory: Path) -> Any:
    """What `scene` says as JSON. The reaper must live at its end, and have complained of nothing."""
    script = f"{_BEGIN}\n{scene}\nprint(json.dumps(said))\nassert code_of('exit 3') == 3\nchildren.end_all()"
    # From 3.12 on Python warns of a fork beside a thread, which is what the calibration does too.
    argv = [sys.executable, "-Wignore::DeprecationWarning", "-c", script]
    done = subprocess.run(argv, cwd=directory, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_who_waits_for_his_own_fork_does_not_end_the_reaper(tmp_path: Path) -> None:
    scene = """
with children._change:  # The reaper knows of its end by now, and cannot reap it yet.
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    time.sleep(0.2)
    said = os.waitpid(pid, 0)[0] == pid
"""
    assert play(scene, tmp_path), "the reaper reaped without the lock"


def test_who_loses_his_own_forks_to_the_reaper_is_told_so_and_nothing_waits_for_ever(tmp_path: Path) -> None:
    scene = """
said = 0
for _ in range(300):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    try:
        said += os.waitpid(pid, 0)[0] == pid
    except ChildProcessError:
        said += 1
"""
    assert play(scene, tmp_path) == 300


def test_a_wait_for_any_child_costs_the_exits_that_it_takes_and_no_more(tmp_path: Path) -> None:
    scene = """
with children._change:
    children.signal(sleeper, signal.SIGKILL)
    start("exit 1")
    time.sleep(0.2)
    for _ in range(2):
        os.waitpid(-1, 0)
begun = time.process_time()
time.sleep(0.5)
busy = time.process_time() - begun
start("exit 2")
until(1)
said = [busy, [code for _, code in told]]
"""
    busy, codes = play(scene, tmp_path)
    assert busy < 0.25, "the reaper spins"
    assert codes == [2]


def test_a_process_that_has_ended_and_is_not_reaped_can_be_signalled(tmp_path: Path) -> None:
    scene = """
with children._change:
    pid = start("exit 5")
    time.sleep(0.2)
    children.signal(pid, signal.SIGTERM)
until(1)
children.signal(pid, signal.SIGTERM)
said = [code for _, code in told]
"""
    assert play(scene, tmp_path) == [5]


def test_each_exit_is_told_once(tmp_path: Path) -> None:
    scene = """
pids = [start("exit %d" % number) for number in range(60)]
for pid in pids:
    children.signal(pid, signal.SIGCONT)
until(60)
time.sleep(0.1)
said = sorted(told) == sorted(zip(pids, range(60)))
"""
    assert play(scene, tmp_path)


def test_a_command_that_was_given_up_is_gone_and_reaped(tmp_path: Path) -> None:
    scene = """
try:
    said = code_of("echo $$ > pid; exec sleep 600", 0.5)
except TimeoutError as error:
    said = [str(error), os.path.exists("/proc/" + open("pid").read().strip())]
"""
    assert play(scene, tmp_path) == ["sh did not end within 0.5 s", False]
