"""The doctor's checks: everything that would make a run fail or a number doubtful, found before anything starts."""

from __future__ import annotations

from howdah.cluster.allocation import Allocation, find_allocation
from howdah.engine.doctor import machine, software
from howdah.engine.doctor.facts import Facts, Request, gather
from howdah.engine.doctor.finding import DoctorFinding, Level, Rule, examine, failed, judgement, to_json
from howdah.engine.doctor.hosts import check_hosts
from howdah.host import Host
from howdah.store import howdah_home

__all__ = [
    "RULES",
    "DoctorFinding",
    "Facts",
    "Level",
    "Request",
    "Rule",
    "check_hosts",
    "examine",
    "failed",
    "judgement",
    "run_checks",
    "to_json",
]

RULES = (*software.RULES, *machine.RULES)
"""The rules, in the order in which their findings are shown. `page.py` makes `docs/how-to/doctor.md` from this
table."""


def run_checks(
    host: Host,
    *,
    nodes: int,
    hadoop: str,
    need: int = 10 * 10**9,
    directory: str | None = None,
    allocation: Allocation | None = None,
    calibrate: bool = True,
) -> tuple[DoctorFinding, ...]:
    """Return findings: whether `host` can run a cluster of `nodes` nodes with Hadoop `hadoop`, and how good its numbers
    would be.

    `directory` (HOWDAH_HOME when None) is the place for the cluster's data, `need` the bytes of that data. `allocation`
    (this machine when None) gives addresses and ports, and releases them. `calibrate` takes three seconds to measure
    processors and disk; without it two rules know less. Raises HostProblem when the channel is lost.
    """
    request = Request(directory or str(howdah_home()), nodes, hadoop, need)
    return examine(gather(host, request, allocation or find_allocation("local"), calibrate=calibrate), RULES)
