"""The ports of a cluster on this machine that listen beyond loopback, because Hadoop has no setting for them."""

from __future__ import annotations

from collections.abc import Sequence

from howdah.hadoop.configuration.plan import NONE, Plan

_SHOWN = 4
"""The ports of shuffles that are named; the nodes of one machine have one each."""


def wildcard_ports(plan: Plan) -> dict[str, Sequence[tuple[int, int]]]:
    """Return port ranges that are bound to every address of their host, by the name of the listener.

    The shuffle handler and the application master's servers (task umbilical, client interface, web pages) always bind
    the wildcard address. The umbilical takes its port from the range of the client interface (seen with 3.4.2 and
    3.5.0).
    """
    return {
        "shuffle": [(port, port) for port in sorted({node.ports["shuffle"] for node in plan.nodes})],
        "application masters, tasks and clients": [plan.application_ports],
        "application masters, web pages": [plan.application_web_ports],
    }


def exposed(plan: Plan) -> str:
    """Return a sentence about `wildcard_ports`, with a remedy."""
    ports = ", ".join(f"{_named(ranges)} ({what})" for what, ranges in wildcard_ports(plan).items())
    remedy = "They want a key" if plan.security != NONE else "A firewall closes them, and with --secure they want a key"
    return f"On every address, as Hadoop has no setting for it: ports {ports}. {remedy}."


def _named(ranges: Sequence[tuple[int, int]]) -> str:
    words = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
