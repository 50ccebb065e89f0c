"""How long a three-node cluster takes to come up and go down, against two ways of doing it without Howdah.

`one by one`: the same daemons with Hadoop's own JVM settings, each started when the one before it answers, as by
hand. `MiniCluster`: Hadoop's own `minicluster` program, all daemons in one JVM.
"""

from __future__ import annotations

import os
import platform
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.pairs import howdah
from howdah.cluster.allocation.here import local
from howdah.cluster.deployment.daemons import Daemons
from howdah.cluster.request import Links
from howdah.cluster.software.installation import Installation
from howdah.errors import ClusterProblem
from howdah.hadoop.configuration.cluster import configure
from howdah.hadoop.configuration.plan import Quarters
from howdah.hadoop.distribution.distribution import Distribution, managed
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks
from howdah.hadoop.interfaces.http import Http
from howdah.host import Host
from howdah.store import howdah_home

ROUNDS = int(os.environ.get("ROUNDS", "5"))
NODES = 3


def measure() -> list[str]:
    """Interleaved rounds of the three, in an order drawn anew each round."""
    seconds: dict[str, list[float]] = {"up": [], "down": [], "one by one": [], "MiniCluster": []}
    for number in range(ROUNDS):
        ways = [_howdah, _one_by_one, _minicluster]
        random.Random(number).shuffle(ways)
        for way in ways:
            for name, value in way().items():
                seconds[name].append(value)
                print(f"round {number}: {name} {value:.1f} s", file=sys.stderr, flush=True)
    lines = [
        f"- {name}: median {statistics.median(values):.1f} s ({min(values):.1f}–{max(values):.1f}, n={len(values)})"
        for name, values in seconds.items()
    ]
    for other in ("one by one", "MiniCluster"):
        pairs = [slow / quick for slow, quick in zip(seconds[other], seconds["up"], strict=True)]
        lines.append(f"- {other} ÷ up: {statistics.geometric_mean(pairs):.2f} ({min(pairs):.2f}–{max(pairs):.2f})")
    return lines


def _howdah() -> dict[str, float]:
    began = time.monotonic()
    done = howdah("up", "--name", "bench", "--nodes", str(NODES))
    up = time.monotonic() - began
    began = time.monotonic()
    howdah("down", "--name", "bench")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return {"up": up, "down": time.monotonic() - began}


def _one_by_one() -> dict[str, float]:
    allocation = local(None, Links())
    with tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        try:
            plan = allocation.acquire("bench-plain", NODES, _home(scratch))
            host = allocation.hosts[plan.masters.host]
            distribution, jdk = _software(host)
            installed = {host.name: Installation(distribution, jdk, None)}
            reopen = allocation.hosts.__getitem__
            daemons = Daemons(plan, allocation.hosts, installed, flags=lambda *_: (), reopen=reopen)
            daemons.write_configuration(configure(plan, distribution, {}, {}), ())
            daemons.format()
            for role, place in plan.daemons():
                daemons.launch(role, place)
                assert role.web is not None
                _wait_for_web(place.at(role.web))
            return {"one by one": time.monotonic() - began}
        finally:
            allocation.release()


def _home(directory: str) -> Quarters:
    return Quarters(
        platform.node(), f"{directory}/work", f"{directory}/conf", f"{directory}/logs", f"{directory}/store"
    )


def _wait_for_web(address: str) -> None:
    while True:
        try:
            Http().get(f"http://{address}/conf")
            return
        except ClusterProblem:
            time.sleep(0.1)


def _minicluster() -> dict[str, float]:
    allocation = local(None, Links())
    try:
        plan = allocation.acquire("bench-mini", NODES, _home("/nowhere"))
        distribution, jdk = _software(allocation.hosts[plan.masters.host])
    finally:
        allocation.release()
    environment = {**os.environ, "HADOOP_HOME": str(distribution.home), "JAVA_HOME": str(jdk.home)}
    command = [str(distribution.home / "bin" / "mapred"), "minicluster", "-format", "-datanodes", str(NODES)]
    with tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        with subprocess.Popen(
            [*command, "-nodemanagers", str(NODES)],
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if "Started MiniMRCluster" in line:
                    break
            else:
                raise SystemExit("the MiniCluster did not start:\n" + "".join(said[-20:]))
            seconds = time.monotonic() - began
            os.killpg(process.pid, signal.SIGKILL)
    return {"MiniCluster": seconds}


def _software(host: Host) -> tuple[Distribution, Jdk]:
    distribution = managed("3.4.2", howdah_home() / "cache")
    return distribution, choose_jdk(find_jdks(host), distribution.version)
