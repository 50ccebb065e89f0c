"""How long Hadoop takes to eight hosts, against one. Needs root.

The hosts are simulated, have cards of 1 Gb/s and a store each, and share two processors, which also check every file.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from howdah.cluster.software.shipping import ship, spread_files
from howdah.hadoop.distribution.distribution import managed
from howdah.host import Host, simulation
from howdah.host.channel import Channel
from howdah.host.launch.ssh import SshLauncher
from howdah.host.over import over
from howdah.spec.simulation import Simulation
from howdah.store import howdah_home

HOSTS = int(os.environ.get("HOSTS", "8"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
RATE = 10**9
_VERSION = "3.4.2"
_PORT = 23000


def measure() -> list[str]:
    """Interleaved rounds; the stores are empty in each."""
    names = [f"host{number}" for number in range(1, HOSTS + 1)]
    distribution = managed(_VERSION, howdah_home() / "cache")
    with tempfile.TemporaryDirectory() as place, ExitStack() as made:
        hosts = simulation.start(Path(place, "sim"), names, Simulation(HOSTS, RATE))
        made.callback(hosts.end)
        opened: dict[str, Host] = {}
        for name in names:
            channel = Channel(name, SshLauncher(name, None, sys.executable, ("-F", hosts.config)))
            opened[name] = channel
            made.callback(channel.close)
        points = {name: (address, _PORT) for name, address in hosts.addresses.items()}

        def send(chosen: list[str]) -> float:
            fresh = tempfile.mkdtemp(dir=place)
            stores = {name: f"{fresh}/{name}" for name in chosen}
            some = {name: opened[name] for name in chosen}
            began = time.monotonic()
            spread_files(some, distribution, stores, points)
            over(some, lambda host: ship(host, distribution, stores[host.name]))
            return time.monotonic() - began

        send(names)
        pairs = [(send(names[:1]), send(names)) for _ in range(ROUNDS)]
        [first, *_] = Path(place).glob("tmp*/host1")
        # Trees are links to the files of the store.
        size = sum({(one := file.stat()).st_ino: one.st_size for file in first.rglob("*") if file.is_file()}.values())
    ones, alls = ([pair[side] for pair in pairs] for side in (0, 1))
    ratios = [many / one for one, many in pairs]
    return [
        f"- {size / 1e6:.0f} MB to one host: {statistics.median(ones):.2f} s ({min(ones):.2f}–{max(ones):.2f})",
        f"- to {HOSTS} hosts: {statistics.median(alls):.2f} s ({min(alls):.2f}–{max(alls):.2f})",
        f"- ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}), bar 2.5",
    ]
