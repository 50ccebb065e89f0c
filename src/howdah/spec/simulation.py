"""What one wants of simulated hosts: `4`, or `4,network=100mbit`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.spec.slips import did_you_mean

_MOST = 16
_UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_LEAST_RATE, _MOST_RATE = 10**6, 10**10
_KEYS = ("network",)


@dataclass(frozen=True, slots=True)
class Simulation:
    """So many hosts; `network` is the rate of each one's card in bits a second, both ways, None for as fast as it
    goes."""

    hosts: int
    network: int | None = None


def parse_simulation(text: str) -> Simulation:
    """What stands behind `sim:`. Raises UsageError."""
    count, *rest = [part.strip() for part in text.split(",")]
    if not count.isdecimal() or not 1 <= int(count[:5]) <= _MOST:
        raise UsageError(
            f"--on sim:{text} takes a number of hosts from 1 to {_MOST} first",
            hint="For example --on sim:3,network=100mbit.",
        )
    given: dict[str, str] = {}
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals or key in given:
            raise UsageError(f"--on sim:{text}: {part!r} is no KEY=VALUE, or is there twice")
        if key not in _KEYS:
            raise UsageError(f"--on sim:{text}: simulated hosts have no {key!r}", hint=did_you_mean(key, _KEYS))
        given[key] = value
    return Simulation(int(count), parse_rate(given["network"]) if "network" in given else None)


def with_rate(allocation: str, rate: str) -> str:
    """`sim:N…` with another rate of the network. Raises UsageError for a text that is no rate, and for another
    allocation."""
    kind, _, argument = allocation.partition(":")
    if kind != "sim":
        raise UsageError(
            f"network is {rate!r}, and the rate of {allocation} is what it is",
            hint="Simulated hosts have cards of any rate: --on sim:3, or `on: sim:3` under `fixed`.",
        )
    parse_rate(rate)
    kept = [part for part in argument.split(",") if part.partition("=")[0].strip() != "network"]
    return f"sim:{','.join((*kept, f'network={rate}'))}"


def parse_rate(text: str) -> int:
    """Bits a second: `100mbit` → 100,000,000. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*(kbit|mbit|gbit)", text.lower())
    rate = 0 if match is None else round(float(match[1]) * _UNITS[match[2]])
    if not _LEAST_RATE <= rate <= _MOST_RATE:
        raise UsageError(f"network is {text!r}, which is no rate", hint="Write 100mbit or 1gbit; from 1mbit to 10gbit.")
    return rate
