"""How fast `howdah stage in` fills HDFS from a shared file system, against DistCp by hand and against the network.

Simulated hosts with slow cards; MooseFS is served by this machine outside of them, so that every byte comes to its host
by the card. HDFS keeps one replica, which stays on the host. Needs root.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.pairs import cluster, manifest_of
from howdah.cluster.live.managed import open_managed
from howdah.cluster.supervision.client import find_cluster
from howdah.engine.staging.listing import hdfs_files, moving
from tools.moosefs import MooseFS, moosefs, mount_command

ROUNDS = int(os.environ.get("ROUNDS", "3"))
HOSTS = int(os.environ.get("HOSTS", "4"))
RATE = os.environ.get("RATE", "100mbit")
FILES = 32
FILE_BYTES = int(os.environ.get("FILE_BYTES", str(250 * 10**6)))
_NAME = "bench-stage"
_ARMS = ("howdah stage in", "DistCp by hand")


def measure() -> list[str]:
    """Interleaved rounds of both ways, in a new random order each round."""
    on = f"sim:{HOSTS},network={RATE}"
    with ExitStack() as made:
        root = Path(made.enter_context(tempfile.TemporaryDirectory()))
        made.enter_context(cluster(_NAME, HOSTS, "--on", on, "--insecure"))
        allocation = manifest_of(_NAME)["allocation"]
        addresses = [node["address"] for node in manifest_of(_NAME)["plan"]["nodes"]]
        outside = f"{addresses[0].rpartition('.')[0]}.254"
        shared = made.enter_context(moosefs(root, 1, copies=1, address=outside))
        for host in range(1, HOSTS + 1):
            _mount(made, allocation["config"], f"sim{host}", shared, outside)
        source = shared.mount / "source"
        _fill(shared, source)
        found: dict[str, list[tuple[float, float]]] = {arm: [] for arm in _ARMS}
        for number in range(ROUNDS):
            for arm in random.Random(number).sample(_ARMS, len(_ARMS)):
                found[arm].append(_copy(arm, shared, source))
                moved, wall = found[arm][-1]
                print(f"round {number}: {arm}: {moved:.1f} MB/s, by the clock {wall:.1f}", file=sys.stderr, flush=True)
    network = HOSTS * allocation["payload"] / 8e6
    lines = [f"- payload of {HOSTS} cards: {network:.1f} MB/s"]
    for arm, rates in found.items():
        for what, numbers in zip(("first to last byte", "by the clock"), zip(*rates, strict=True), strict=True):
            share = statistics.median(numbers) / network
            lines.append(f"- {arm}, {what}: {_rate(numbers)}, {share:.0%} of the payload")
    return lines


def _rate(numbers: Sequence[float]) -> str:
    return f"{statistics.median(numbers):.1f} MB/s ({min(numbers):.1f} to {max(numbers):.1f}, n={len(numbers)})"


def _mount(made: ExitStack, config: str, host: str, shared: MooseFS, address: str) -> None:
    """Mounts it on a simulated host."""
    ssh = ("ssh", "-F", config, host)
    made.callback(subprocess.run, (*ssh, "umount", "-l", str(shared.mount)), check=False)
    client = subprocess.Popen((*ssh, *mount_command(shared.mount, address)))
    made.callback(client.wait)
    made.callback(client.kill)
    deadline = time.monotonic() + 30
    while subprocess.run((*ssh, "mountpoint", "-q", str(shared.mount)), check=False).returncode != 0:
        if time.monotonic() > deadline:
            raise SystemExit(f"{host} does not mount MooseFS")
        time.sleep(0.1)


def _fill(shared: MooseFS, source: Path) -> None:
    """Makes the files, by this machine's own mount, which is as fast as it goes."""
    filling = f"mkdir -p {source}; for n in $(seq {FILES}); do head -c {FILE_BYTES} /dev/urandom > {source}/f$n; done"
    subprocess.run((*shared.inside(0), "sh", "-ec", filling), check=True)


def _copy(arm: str, shared: MooseFS, source: Path) -> tuple[float, float]:
    """Copies everything once; MB/s between the first and the last byte, and by the clock."""
    program = (*shared.inside(0), sys.executable, "-m", "howdah")
    within = ("exec", "--name", _NAME, "--")
    if arm == _ARMS[0]:
        command: tuple[str, ...] = ("stage", "in", str(source), "/copy", "--name", _NAME, "--replication", "1")
    else:
        command = (*within, "hadoop", "distcp", "-Ddfs.replication=1", f"file://{source}", "/copy")
    began = time.monotonic()
    done = subprocess.run((*program, *command), capture_output=True, text=True, check=False)
    wall = time.monotonic() - began
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    copied = hdfs_files(open_managed(find_cluster(_NAME)).webhdfs, "/copy")
    moved = moving({}, copied)
    assert moved is not None
    assert moved[0] == FILES * FILE_BYTES
    subprocess.run((*program, *within, "hadoop", "fs", "-rm", "-r", "-skipTrash", "/copy"), check=True)
    return moved[0] / moved[1] / 1e6, moved[0] / wall / 1e6
