"""The fingerprint of a run's hosts and software. Runs with different fingerprints are never pooled silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_READINGS = ("load", "now")


@dataclass(frozen=True, slots=True)
class Environment:
    """Facts by host name, each a nested mapping of plain values; `hadoop` holds version, home and jar hashes.

    `load` and everything under a key called `now` is a momentary reading and no part of the identity.
    """

    hosts: Mapping[str, Mapping[str, Any]]
    hadoop: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that differs between two environments; None for the side that lacks it."""

    path: str
    left: Any
    right: Any


def by_rank(environments: Sequence[Environment]) -> list[Environment]:
    """Return `environments`, with hosts named by rank if two of them have equally many hosts with other names.

    Rank `1` is the host of the masters. Two allocations of equal hosts then do not differ. A host's own name is left
    out.
    """
    names = {tuple(one.hosts) for one in environments}
    if len({len(some) for some in names}) == len(names):
        return list(environments)
    return [
        Environment(
            {
                str(rank): {key: value for key, value in facts.items() if key != "host"}
                for rank, facts in enumerate(one.hosts.values(), 1)
            },
            one.hadoop,
        )
        for one in environments
    ]


def differences(left: Environment, right: Environment) -> tuple[Difference, ...]:
    """Return the differences between two environments, sorted by path. Momentary readings are left out."""
    first, second = _facts(left), _facts(right)
    return tuple(
        Difference(path, first.get(path), second.get(path))
        for path in sorted(first.keys() | second.keys())
        if first.get(path) != second.get(path)
    )


def _facts(environment: Environment) -> dict[str, Any]:
    facts: dict[str, Any] = {}

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key not in _READINGS:
                    walk(f"{prefix}.{key}" if prefix else str(key), inner)
        else:
            facts[prefix] = value

    walk("", {"hosts": environment.hosts, "hadoop": environment.hadoop})
    return facts
