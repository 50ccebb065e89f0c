"""A request for simulated hosts: `4`, or `4,network=100mbit,cpus=0.5,memory=4G,disks=2,disk_rate=50MB`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.model.quantity import parse_bytes
from howdah.spec.slips import did_you_mean

_MOST = 16
_UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_LEAST_RATE, _MOST_RATE = 10**6, 10**10
_LEAST_CPUS, _MOST_CPUS = 0.1, 64.0
_LEAST_MEMORY = 1 << 30
_MOST_DISKS = 8
_LEAST_DISK_RATE, _MOST_DISK_RATE = 10**6, 10**10
KEYS = ("network", "cpus", "memory", "disks", "disk_rate")
"""The resources of which each host may have less than the machine."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """A number of simulated hosts and the resources of each. None means the same as the machine.

    `network` is the rate of a host's card in bits a second, both ways. `cpus` is processor time, in processors.
    `memory` is in bytes. `disks` have `disk_rate` bytes a second, both ways.
    """

    hosts: int
    network: int | None = None
    cpus: float | None = None
    memory: int | None = None
    disks: int | None = None
    disk_rate: int | None = None


def parse_simulation(text: str) -> Simulation:
    """Return the simulation that the text after `sim:` asks for. Raises UsageError."""
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
        if key not in KEYS:
            raise UsageError(f"--on sim:{text}: simulated hosts have no {key!r}", hint=did_you_mean(key, KEYS))
        given[key] = value
    return _simulation(int(count), given)


def _simulation(hosts: int, given: Mapping[str, str]) -> Simulation:
    def of(key: str) -> str | None:
        return given.get(key)

    if "disk_rate" in given and "disks" not in given:
        raise UsageError("disk_rate is the rate of disks, and these hosts have none of their own", hint="Add disks=1.")
    return Simulation(
        hosts,
        network=None if (text := of("network")) is None else parse_rate(text),
        cpus=None if (text := of("cpus")) is None else _cpus(text),
        memory=None if (text := of("memory")) is None else _memory(text),
        disks=None if (text := of("disks")) is None else _disks(text),
        disk_rate=None if (text := of("disk_rate")) is None else _disk_rate(text),
    )


def with_key(allocation: str, key: str, value: str) -> str:
    """Return `sim:N…` with another value of one of `KEYS`.

    Raises UsageError for a bad value, and for another allocation.
    """
    kind, _, argument = allocation.partition(":")
    if kind != "sim":
        raise UsageError(
            f"{key} is {value!r}, and that of {allocation} is what it is",
            hint="Simulated hosts have what one likes: --on sim:3, or `on: sim:3` under `cluster`.",
        )
    kept = [part for part in argument.split(",") if part.partition("=")[0].strip() != key]
    changed = ",".join((*kept, f"{key}={value}"))
    # The rate of disks may come before their number, of factors.
    parse_simulation(f"{changed},disks=1" if key == "disk_rate" and "disks=" not in changed else changed)
    return f"sim:{changed}"


def parse_rate(text: str) -> int:
    """Return bits a second: `100mbit` → 100,000,000. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*(kbit|mbit|gbit)", text.lower())
    rate = 0 if match is None else round(float(match[1]) * _UNITS[match[2]])
    if not _LEAST_RATE <= rate <= _MOST_RATE:
        raise UsageError(f"network is {text!r}, which is no rate", hint="Write 100mbit or 1gbit; from 1mbit to 10gbit.")
    return rate


def parse_slow_rate(text: str) -> tuple[str, float]:
    """Return what is slow of a host, one of `KEYS`, and its rate there: `10mbit` → network, `10MB` → disk_rate,
    `0.2cpus` → cpus. Raises UsageError."""
    if text.endswith("cpus"):
        return "cpus", _cpus(text.removesuffix("cpus"))
    if re.fullmatch(r"[\d.]+\s*[kmg]?b", text.lower().removesuffix("/s")):
        return "disk_rate", _disk_rate(text)
    try:
        return "network", parse_rate(text)
    except UsageError as error:
        hint = "Write 10mbit for its card, 10MB for its disks, or 0.2cpus for its processors."
        raise UsageError(f"{text!r} is no rate of a slow host", hint=hint) from error


def _cpus(text: str) -> float:
    cpus = float(text) if re.fullmatch(r"\d{1,2}(\.\d{1,2})?", text) else 0.0
    if not _LEAST_CPUS <= cpus <= _MOST_CPUS:
        raise UsageError(f"cpus is {text!r}, which is no share of processors", hint="Write 0.5 or 2; 0.1 or more.")
    return cpus


def _memory(text: str) -> int:
    memory = parse_bytes(text)
    if memory < _LEAST_MEMORY:
        raise UsageError(f"memory is {text!r}: a simulated host needs 1G or more")
    return memory >> 20 << 20  # Control groups count in pages.


def _disks(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:3]) <= _MOST_DISKS:
        raise UsageError(f"disks is {text!r}, which is no number from 1 to {_MOST_DISKS}", hint="Write disks=2.")
    return int(text)


def _disk_rate(text: str) -> int:
    """Return bytes a second: `50MB` → 50,000,000. Raises UsageError."""
    rate = parse_bytes(text.removesuffix("/s"))
    if not _LEAST_DISK_RATE <= rate <= _MOST_DISK_RATE:
        raise UsageError(f"disk_rate is {text!r}, which is no rate", hint="Write 50MB, for 50 MB/s; 1MB or more.")
    return rate
