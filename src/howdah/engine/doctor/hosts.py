"""The doctor on several hosts: each host by itself, and the connections and differences between hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from howdah.cluster.allocation import Allocation
from howdah.cluster.deployment.realm import misnamed
from howdah.engine.doctor import machine, software
from howdah.engine.doctor.facts import Facts, Request, at_home, facts_of
from howdah.engine.doctor.finding import DoctorFinding, Level, examine
from howdah.errors import HostProblem, HostProblems, HowdahError
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host, operations
from howdah.host.over import over

_HERE_ALONE = ("hadoop", "ports", "leftovers")
"""The names of rules about this machine, or about all hosts together."""
_WRONG_SECONDS, _DOUBTFUL_SECONDS = 1.0, 0.05
_BETWEEN = "Daemons on different hosts talk to each other, and this machine to all of them."
_CLOCKS = "Hadoop takes the difference of two hosts' clocks for a time: job_seconds is wrong by as much as they differ."
_PACKETS = "If the way between two cards drops large packets, connections open, and hang when data comes."
_NAMES = (
    "A client follows its job by the name that the host of its application master gives that host's address. On a "
    "secured cluster it fails where it does not know that name."
)
_JAVA = "A job has one set of JVM flags for all its tasks, and each line of Java knows other flags."

RULES = tuple(rule for rule in (*software.RULES, *machine.RULES) if rule.name not in _HERE_ALONE)
"""The rules for each host."""


def check_hosts(allocation: Allocation, request: Request, *, calibrate: bool = True) -> tuple[DoctorFinding, ...]:
    """Return findings, errors first: whether the hosts of `allocation` can run a cluster, and how good its numbers
    would be. A host that cannot be reached is an error; the other hosts are checked all the same."""
    found: list[DoctorFinding] = []
    try:
        plan: Plan | None = None
        try:
            plan = allocation.acquire("doctor", request.nodes, at_home(request.directory))
            found.append(DoctorFinding("hosts", "ok", f"{', '.join(plan.quarters)} reach each other", _BETWEEN, None))
        except HowdahError as error:
            problems = (isinstance(error, HostProblems) and error.problems) or (error,)
            found += [
                DoctorFinding("hosts", "error", line, one.hint or _BETWEEN, None)
                for one in problems
                for line in one.message.splitlines()
            ]
        hosts = _one_of_each_machine(allocation, plan)
        facts = over(hosts, lambda host: _look(host, request, plan, calibrate=calibrate))
        for name, one in facts.items():
            found += [replace(finding, host=name) for finding in examine(one, RULES)]
        found += [*_clocks(hosts.values()), *_lines(facts)]
        if plan is not None:
            found += _names(hosts, plan)
            found += _packets(facts, {host: _interface(hosts[host], plan) for host in facts})
    finally:
        allocation.release()
    return tuple(sorted(found, key=lambda one: ("error", "warning", "note", "ok").index(one.level)))


def _one_of_each_machine(allocation: Allocation, plan: Plan | None) -> dict[str, Host]:
    if plan is None:
        return dict(allocation.hosts)
    return {host: allocation.hosts[host] for host in plan.machines.values()}


def _look(host: Host, request: Request, plan: Plan | None, *, calibrate: bool) -> Facts:
    directory, nodes = request.directory, 1
    if plan is not None:
        own = plan.quarters[host.name]
        directory = own.root
        nodes = max(1, sum(plan.quarters[node.host].machine == own.machine for node in plan.nodes))
    asked = replace(request, directory=directory, nodes=nodes)
    return facts_of(host, asked, plan or HostProblem("no plan"), calibrate=calibrate)


def _clocks(hosts: Iterable[Host]) -> Iterator[DoctorFinding]:
    """Yield a finding for each host: how far its clock is from this machine's."""
    for host in hosts:
        try:
            apart, unsure = operations.clock_offset(host)
        except HostProblem as problem:
            yield DoctorFinding("clock", "error", problem.message, _CLOCKS, None, host=host.name)
            continue
        level: Level = "ok"
        if abs(apart) - unsure > _WRONG_SECONDS:
            level = "error"
        elif abs(apart) - unsure > _DOUBTFUL_SECONDS:
            level = "warning"
        text = f"{apart:+.3f} s from this machine's, give or take {unsure:.3f} s"
        look = None if level == "ok" else "chronyc tracking"
        yield DoctorFinding("clock", level, text, _CLOCKS, look, looks=look is not None, host=host.name)


def _interface(host: Host, plan: Plan) -> str | None:
    """Return the network card that has the address of the daemons on `host`, or None."""
    address = next((place.address for place in plan.places if place.host == host.name), None)
    found = operations.identity(host).addresses
    return next((interface for interface, at in found.items() if at == address), None)


def _names(hosts: Mapping[str, Host], plan: Plan) -> Iterator[DoctorFinding]:
    """Yield a warning for each host whose name this machine does not know. The name is the one that the host's own
    resolver gives its address."""
    addresses: dict[str, str] = {}
    for place in plan.places:
        if place.host in hosts:
            addresses.setdefault(place.host, place.address)
    for host, words in misnamed(hosts, addresses):
        look = f"getent hosts {addresses[host]}"
        yield DoctorFinding("names", "warning", words, _NAMES, look, looks=True, host=host)


def _packets(facts: Mapping[str, Facts], interfaces: Mapping[str, str | None]) -> Iterator[DoctorFinding]:
    """Yield a warning if the cards of the daemons' network differ in the largest packet."""
    sizes: dict[int, list[str]] = {}
    for host, one in facts.items():
        size = one.machine.get("network", {}).get(interfaces[host], {}).get("mtu")
        if size is not None:
            sizes.setdefault(size, []).append(f"{interfaces[host]} of {host}")
    if len(sizes) > 1:
        words = "; ".join(f"{size} bytes for {', '.join(cards)}" for size, cards in sorted(sizes.items()))
        yield DoctorFinding(
            "packets", "warning", f"the largest packet (MTU) is {words}", _PACKETS, "ip link", looks=True
        )


def _lines(facts: dict[str, Facts]) -> Iterator[DoctorFinding]:
    lines: dict[int, list[str]] = {}
    for host, one in facts.items():
        if not isinstance(one.jdk, HostProblem):
            lines.setdefault(one.jdk.major, []).append(host)
    if len(lines) > 1:
        words = "; ".join(f"{line} on {', '.join(hosts)}" for line, hosts in sorted(lines.items()))
        yield DoctorFinding("java-lines", "error", f"hosts have different lines of Java: {words}", _JAVA, None)
