"""CPU of jobs read when their clients end, against the same jobs read once every container has ended.

Each job is a TeraSort of 100 MB on one node; of every second one, a task is killed as it runs, so that a container dies
and an attempt is lost. The two ways read the same job: at its client's end, and again some five seconds later, when its
application master has gone. What the daemons use in those seconds is no job's: it is measured after each job over as
many idle seconds, and taken off the way that waits.
"""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.live.managed import open_managed
from howdah.cluster.request import ClusterRequest
from howdah.cluster.supervision.client import StartedCluster
from howdah.engine.evidence.accounting import Accounting, Readings
from howdah.engine.run.storages import job_files
from howdah.hadoop.history.job_files import find_history

JOBS = int(os.environ.get("JOBS", "20"))
ROWS = 1_000_000


def measure() -> list[str]:
    """The largest and mean differences over `JOBS` jobs, of all processes and of each role."""
    started = StartedCluster(ClusterRequest("accounting", nodes=1))
    try:
        cluster = open_managed(started.wait_until_up(lambda _: None))
        try:
            _job(cluster, ("teragen", str(ROWS), "/in"))
            pairs = [_pair(cluster, number) for number in range(JOBS)]
        finally:
            cluster.close()
    finally:
        started.end()
        started.forget()
    lines = [_line("all processes", [(sum(once.values()), sum(waited.values())) for once, waited in pairs])]
    lines += [_line(role, [(once[role], waited[role]) for once, waited in pairs]) for role in pairs[0][0]]
    return lines


def _pair(cluster: LiveCluster, number: int) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """CPU seconds by role of one job: read at once, and after its application master has gone."""
    accounting = Accounting(cluster)
    before = accounting.read()
    killer = threading.Thread(target=_kill_a_task, args=(accounting,)) if number % 2 else None
    if killer is not None:
        killer.start()
    _job(cluster, ("terasort", "/in", f"/out-{number}"))
    _wait_for_history(cluster)
    after, began = accounting.read(), time.monotonic()
    if killer is not None:
        killer.join()
    settled = _settled(accounting)
    seconds = time.monotonic() - began
    time.sleep(seconds)
    idle = accounting.by_role(settled, last := accounting.read(), last)
    once, waited = accounting.by_role(before, after, settled), accounting.by_role(before, settled, settled)
    assert once is not None
    assert waited is not None
    assert idle is not None
    return once, {role: waited[role] - idle[role] for role in waited}


def _job(cluster: LiveCluster, program: tuple[str, ...]) -> None:
    argv = cluster.client_command((str(cluster.distribution.examples_jar), *program), cluster.conf)
    done = cluster.client.run(argv, timeout=300, env=cluster.client_environment(cluster.conf))
    if done.code != 0:
        raise RuntimeError(done.stderr.decode()[-2000:])


def _wait_for_history(cluster: LiveCluster) -> None:
    """A run reads the CPU time once it has the history of the job."""
    manager = cluster.resourcemanager
    while not all(one.ended for one in manager.applications()):
        time.sleep(0.1)
    newest = manager.applications()[-1]
    settings = cluster.settings
    find_history(
        job_files(cluster),
        newest.id.replace("application", "job", 1),
        user=newest.user,
        intermediate=settings.get("mapreduce.jobhistory.intermediate-done-dir"),
        done=settings.get("mapreduce.jobhistory.done-dir"),
        staging=settings.get("yarn.app.mapreduce.am.staging-dir"),
        patience=60.0,
    )


def _settled(accounting: Accounting) -> Readings:
    for _ in range(120):
        reading = accounting.read()
        if not any(one.running for one in reading.values()):
            return reading
        time.sleep(0.25)
    raise RuntimeError("containers still run 30 s after their job")


def _kill_a_task(accounting: Accounting) -> None:
    """Kills the first JVM of a task that has run for a second. Its shell ends by itself, as YARN expects."""
    for _ in range(600):
        time.sleep(0.1)
        for container in (name for one in accounting.read().values() for name in one.running):
            for task in _below(int(container.partition("-")[0])):
                if b"YarnChild" in _command_line(task):
                    time.sleep(1)
                    os.kill(task, signal.SIGKILL)
                    return
    raise RuntimeError("no task ran within a minute")


def _below(pid: int) -> list[int]:
    try:
        found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [pid, *(below for child in found for below in _below(child))]


def _command_line(pid: int) -> bytes:
    try:
        content = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
    return content if content.split(b"\0", 1)[0].endswith(b"java") else b""


def _line(name: str, pairs: list[tuple[float, float]]) -> str:
    whole = sum(once for once, _ in pairs) / sum(waited for _, waited in pairs) - 1
    each = [once / waited - 1 for once, waited in pairs]
    return (
        f"- {name}: {sum(waited for _, waited in pairs):.1f} s of CPU by waiting, read at once {whole:+.2%}; "
        f"single jobs {min(each):+.2%} to {max(each):+.2%}, median {statistics.median(each):+.2%} (n={len(pairs)})"
    )
