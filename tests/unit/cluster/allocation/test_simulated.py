"""Whether a simulated network has its rate, without any."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.allocation import find_allocation
from howdah.cluster.allocation.simulated import check_rate, payload_again
from howdah.cluster.request import Links
from howdah.cluster.simulations import end_simulation
from howdah.errors import HostProblem, UsageError

RATE = 100_000_000


class Sending:
    """A host whose payload comes at this rate; it keeps who was sent to."""

    def __init__(self, name: str, rates: Sequence[float], sent: dict[str, str]) -> None:
        self.name = name
        self._rates = list(rates)
        self._sent = sent

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "network.payload_rate":
            self._sent[self.name] = arguments["address"]
            return self._rates.pop(0) if len(self._rates) > 1 else self._rates[0]
        assert operation == "network.swallow"
        return None


def sending(rates: Mapping[str, Sequence[float]], sent: dict[str, str]) -> tuple[Any, dict[str, str]]:
    return {name: Sending(name, of, sent) for name, of in rates.items()}, {name: f"to {name}" for name in rates}


def checked(rates: Mapping[str, float]) -> tuple[int, dict[str, str]]:
    sent: dict[str, str] = {}
    hosts, addresses = sending({name: [rate] for name, rate in rates.items()}, sent)
    return check_rate(hosts, addresses, RATE), sent


def test_every_host_sends_to_the_next_and_the_slowest_counts() -> None:
    payload, sent = checked({"a": 95e6, "b": 94.4e6, "c": 96e6})
    assert payload == 94_400_000
    assert sent == {"a": "to b", "b": "to c", "c": "to a"}


@pytest.mark.promise("A simulated network without its rate is refused before any daemon starts", "how-to/simulate")
@pytest.mark.parametrize("wrong", [89e6, 102e6, 940e6])
def test_one_card_that_is_too_slow_or_too_fast_is_refused(wrong: float) -> None:
    with pytest.raises(HostProblem, match=r"does not have its rate of 100 Mb/s: payloads are \d+\.\d to \d+\.\d Mb/s"):
        checked({"a": 95e6, "b": wrong, "c": 96e6})


def test_a_card_that_was_slow_for_a_moment_is_measured_again() -> None:
    hosts, addresses = sending({"a": [95e6], "b": [60e6, 70e6, 80e6, 89e6, 94e6, 1e6]}, {})
    assert check_rate(hosts, addresses, RATE) == 94_000_000


@pytest.mark.promise("A run is invalid when a simulated network has another rate after it", "how-to/simulate")
@pytest.mark.parametrize(("after", "held"), [(95e6, True), (91e6, True), (90e6, False), (101e6, False)])
def test_what_cards_bring_later_is_compared_with_what_they_brought(after: float, held: bool) -> None:
    hosts, addresses = sending({"a": [95e6], "b": [after]}, {})
    assert payload_again(hosts, addresses, 95e6) == (after, held)


def test_one_host_has_nobody_to_send_to() -> None:
    with pytest.raises(UsageError, match="sends nothing by its network"):
        checked({"a": 95e6})


def test_the_network_of_hosts_that_are_listed_is_none_of_simulated_ones() -> None:
    with pytest.raises(UsageError, match="--network is for hosts:"):
        find_allocation("sim:3", Links(network="eth0"))


@pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root")
@pytest.mark.promise("`howdah sim` has simulated hosts without a cluster", "how-to/simulate")
def test_hosts_stay_until_somebody_ends_them(tmp_path: Path) -> None:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "howdah", "sim", *arguments)
        home = {**os.environ, "HOWDAH_HOME": str(tmp_path)}
        return subprocess.run(command, env=home, capture_output=True, text=True, check=False)

    assert "No hosts are simulated" in call("status").stdout
    said = call("up", "2,network=100mbit", "--name", "lab")
    try:
        assert said.returncode == 0, said.stderr
        assert "2 simulated hosts; network cards: 100 Mb/s" in said.stdout
        (command,) = (line.split() for line in said.stdout.splitlines() if line.strip().startswith("ssh "))
        ran = subprocess.run([*command, "hostname"], capture_output=True, text=True, check=True)
        assert ran.stdout == "sim1\n"
        assert "lab  2 simulated hosts" in call("status").stdout
        again = call("up", "2", "--name", "lab")
        assert again.returncode == 2
        assert "a simulation called lab is up" in again.stderr
    finally:
        assert "Simulation lab is down" in call("down", "--name", "lab").stdout
    assert "No simulation called lab is up" in call("down", "--name", "lab").stdout
    assert not list((tmp_path / "simulations").iterdir())


@pytest.mark.parametrize("name", ["", "../x", "A"])
def test_a_name_is_one(name: str) -> None:
    with pytest.raises(UsageError, match="not a simulation name"):
        end_simulation(name)
