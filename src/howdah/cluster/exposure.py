"""The ports of a cluster on this machine that listen beyond loopback, because Hadoop has no setting for them."""

from __future__ import annotations

from howdah.hadoop.configuration.plan import Plan


def wildcard_ports(plan: Plan) -> dict[str, tuple[int, int]]:
    """Return port ranges that are bound to every address of the machine, by the name of the listener.

    The shuffle handler and the application master's servers (task umbilical, client interface, web pages) always bind
    the wildcard address. The umbilical takes its port from the range of the client interface (seen with 3.4.2 and
    3.5.0).
    """
    ranges = {f"shuffle of {node.name}": (node.ports["shuffle"], node.ports["shuffle"]) for node in plan.nodes}
    ranges["application masters, tasks and clients"] = plan.application_ports
    ranges["application masters, web pages"] = plan.application_web_ports
    return ranges


def exposed(plan: Plan) -> list[str]:
    """Return `wildcard_ports` as lines to show."""
    return [
        f"listens on every address: {first if first == last else f'{first}-{last}'} ({what})"
        for what, (first, last) in wildcard_ports(plan).items()
    ]
