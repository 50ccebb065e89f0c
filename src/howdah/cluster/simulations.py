"""Simulated hosts without a cluster, which stay until somebody stops them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from howdah.cluster.allocation import close_hosts
from howdah.cluster.allocation.simulated import check_disks, check_rate, names_of, open_simulated
from howdah.cluster.request import SILENCE
from howdah.cluster.state import check_name, write_private
from howdah.errors import UsageError
from howdah.host import Host, simulation
from howdah.host.over import over
from howdah.host.simulation import Simulated
from howdah.spec.simulation import Simulation, parse_simulation
from howdah.store import howdah_home

_STATE = "simulation.json"


@dataclass(frozen=True, slots=True)
class Lasting:
    """Simulated hosts that stay: their addresses by name, the configuration by which ssh reaches them, and the process
    that holds them. `network` is the rate of their cards, `payload` the rate that was measured, both in bits per
    second."""

    addresses: Mapping[str, str]
    config: str
    network: int | None
    payload: int | None
    holder: int


def start_simulation(name: str, text: str) -> Lasting:
    """Start the hosts that `text` describes in the syntax of `sim:`. Raises HowdahError; no host runs then."""
    wish = parse_simulation(text.removeprefix("sim:"))
    if name in simulations():
        raise UsageError(f"a simulation called {name} is up", hint=f"`howdah sim down --name {name}` ends it.")
    directory = _directory(name)
    made = simulation.start(directory, names_of(wish), wish)
    try:
        payload = _checked(made, wish)
        lasting = Lasting(made.addresses, made.config, wish.network, payload, made.holder)
        write_private(directory / _STATE, json.dumps(asdict(lasting)).encode())
        made.leave()
    except BaseException:
        made.end()
        raise
    return lasting


def try_simulation(text: str) -> None:
    """Start the hosts that `text` describes in the syntax of `sim:`, and end them. Raises UsageError, and HostProblem
    if the kernel of this machine cannot do it."""
    wish = parse_simulation(text)
    directory = howdah_home() / "simulations" / f".try-{os.getpid()}"
    simulation.start(directory, names_of(wish), wish).end()


def end_simulation(name: str) -> bool:
    """Stop the hosts of a simulation; return whether there was one. Raises HostProblem if the hosts do not stop."""
    found = simulations().get(name)
    if found is not None:
        simulation.end(found.holder)
    shutil.rmtree(_directory(name), ignore_errors=True)
    return found is not None


def simulations() -> Mapping[str, Lasting]:
    """Return the simulations that are up, by name."""
    found = {}
    for file in sorted((howdah_home() / "simulations").glob(f"*/{_STATE}")):
        with suppress(OSError, ValueError, TypeError):  # It ends at this moment.
            one = Lasting(**json.loads(file.read_text(encoding="utf-8")))
            if simulation.runs(one.holder):
                found[file.parent.name] = one
    return found


def _directory(name: str) -> Path:
    check_name(name, "simulation")
    return howdah_home() / "simulations" / name


def _checked(made: Simulated, wish: Simulation) -> int | None:
    """Check that cards and disks have their rates. Return the payload of the cards, or None if they have no rate.
    Raises HostProblem."""
    opened = open_simulated({"config": made.config, "holder": made.holder, "silence": SILENCE})
    hosts: dict[str, Host] = over({name: name for name in made.addresses}, opened)
    try:
        if wish.disks is not None:
            check_disks(hosts, made.disks, wish.disk_rate)
        return None if wish.network is None else check_rate(hosts, made.addresses, wish.network)
    finally:
        close_hosts(hosts)
