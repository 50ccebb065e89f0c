"""Rules about installed software, and about what earlier clusters left behind."""

from __future__ import annotations

from collections.abc import Iterator

from howdah.engine.doctor.facts import Facts
from howdah.engine.doctor.finding import Rule, Seen
from howdah.errors import HostProblem
from howdah.hadoop.distribution.jdk import GSSAPI

_SLOW_LOOKUP_SECONDS = 1.0


_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
"""The kernel's names of architectures, by other names that JDKs have for them."""


def _java(facts: Facts) -> Iterator[Seen]:
    if isinstance(facts.jdk, HostProblem):
        yield Seen("error", facts.jdk.message)
        return
    jdk = facts.jdk
    yield Seen("ok", f"{jdk.vendor} {'.'.join(map(str, jdk.version))}, {jdk.architecture}, at {jdk.home}")
    machine = facts.machine["architecture"]
    if _ARCHITECTURES.get(jdk.architecture, jdk.architecture) not in (machine, "unknown"):
        yield Seen("warning", f"{jdk.home} is for {jdk.architecture} and this machine is {machine}: it is emulated")
    if not jdk.has_kerberos:
        yield Seen("note", f"{jdk.home} has no module {GSSAPI}: no cluster with Kerberos can use it")


def _hadoop(facts: Facts) -> Iterator[Seen]:
    version = facts.request.hadoop
    if facts.release is None:
        yield Seen("ok", f"Hadoop {version} is in the cache")
    elif facts.maven is None:
        yield Seen("error", f"Hadoop {version} is not in the cache and there is no mvn to fetch it with")
    else:
        yield Seen("ok", f"Hadoop {version} is not in the cache yet; {facts.maven} will fetch it")


def _ports(facts: Facts) -> Iterator[Seen]:
    if isinstance(facts.plan, HostProblem):
        yield Seen("error", facts.plan.message, "howdah status", looks=True)
        return
    used = [port for place in facts.plan.places for port in place.ports.values()]
    used += [*facts.plan.application_ports, *facts.plan.application_web_ports]
    yield Seen("ok", f"{min(used)} to {max(used)} are free; nodes: {facts.request.nodes}")
    ephemeral = facts.machine["sysctl"].get("net.ipv4.ip_local_port_range")
    if ephemeral is not None:
        first, last = (int(word) for word in ephemeral.split())
        if first <= max(used) and min(used) <= last:
            yield Seen(
                "warning",
                f"the kernel gives ports {first} to {last} to outgoing connections, which may take a daemon's",
                'sudo sysctl -w net.ipv4.ip_local_port_range="32768 60999"',
            )


def _host_name(facts: Facts) -> Iterator[Seen]:
    found = facts.name
    if not found.addresses:
        yield Seen("error", f"{found.name!r}, the name of this machine, does not resolve: {found.error}")
    elif found.seconds > _SLOW_LOOKUP_SECONDS:
        yield Seen("warning", f"looking up {found.name!r} took {found.seconds:.1f} s")
    else:
        yield Seen("ok", f"{found.name} is {', '.join(found.addresses)}")


def _leftovers(facts: Facts) -> Iterator[Seen]:
    if not facts.leftovers:
        yield Seen("ok", "no cluster was left behind")
    for name in facts.leftovers:
        yield Seen(
            "warning",
            f"cluster {name!r} was never brought down: its data are still there",
            f"howdah down --name {name}",
        )


def _strays(facts: Facts) -> Iterator[Seen]:
    if not facts.strays:
        yield Seen("ok", "no process of an earlier cluster is left")
        return
    pids = " ".join(str(stray.pid) for stray in facts.strays)
    clusters = ", ".join(sorted({stray.cluster for stray in facts.strays}))
    yield Seen("warning", f"{len(facts.strays)} processes of earlier clusters ({clusters}) still run", f"kill {pids}")


def _users(facts: Facts) -> Iterator[Seen]:
    others = facts.machine["now"]["other_users"]
    if others:
        yield Seen("warning", f"processes of other users: {', '.join(others)}")
    else:
        yield Seen("ok", "no other user has processes")


RULES = (
    Rule(
        "java",
        "Hadoop runs on Java. Each release runs on certain versions only, and with all of their modules.",
        "sudo apt install openjdk-17-jdk-headless",
        _java,
    ),
    Rule(
        "hadoop",
        "The jars of a managed Hadoop come through Maven, once; then they are in the cache.",
        "sudo apt install maven",
        _hadoop,
    ),
    Rule(
        "ports",
        "Every daemon listens on ports of its own; one that is taken keeps its daemon from starting.",
        None,
        _ports,
    ),
    Rule(
        "host-name",
        "The job client looks up the machine's own name when it submits a job, and fails without an answer; daemons "
        "wait for the answer when they start.",
        'echo "127.0.1.1 $(hostname)" | sudo tee -a /etc/hosts',
        _host_name,
    ),
    Rule("leftovers", "A cluster whose supervisor was killed leaves its data on the disk.", None, _leftovers),
    Rule(
        "stray-processes",
        "Daemons that nobody looks after any more hold memory and ports.",
        None,
        _strays,
    ),
    Rule(
        "other-users",
        "A cluster without Kerberos believes whatever user name a client claims: every user of the machine can read "
        "and delete your data in it, and run programs as you. Use a machine, or an allocation, that is yours alone.",
        "ps -eo user= | sort | uniq -c",
        _users,
        looks=True,
    ),
)
