"""The ports of a cluster on this machine that listen beyond loopback, because Hadoop has no setting for them."""

from __future__ import annotations

from howdah.hadoop.configuration.plan import NONE, Plan


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


def exposed(plan: Plan) -> str:
    """Return a sentence about `wildcard_ports`, with a remedy."""
    ports = ", ".join(
        f"{first if first == last else f'{first}-{last}'} ({what})"
        for what, (first, last) in wildcard_ports(plan).items()
    )
    remedy = "They want a key" if plan.security != NONE else "A firewall closes them, and with --secure they want a key"
    return f"On every address, as Hadoop has no setting for it: ports {ports}. {remedy}."
