"""The directories that belong to a cluster: only these are ever removed, with all their contents."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from howdah.cluster.allocation import close_hosts, ends_with_its_supervisor, open_hosts
from howdah.cluster.state import Manifest, cluster_directory, write_private
from howdah.errors import ClusterProblem, HostProblem, HowdahError, UsageError
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host, operations
from howdah.host.batch import has_ended
from howdah.host.over import over
from howdah.store import howdah_home

_OF_A_JOB = re.compile(r", job ((?:slurm|pbs):\S+)$")
_POLL_SECONDS = 0.05
_DYING_SECONDS = 15.0
_LOG_KEPT = 4 << 20
"""Bytes from the end of a log that are copied here from its host; a daemon writes some KiB per hour."""
_OVERLAP = 4096
"""Bytes by which the end of a log is found in a longer copy."""


def claim_directories(hosts: Iterable[Host], plan: Plan) -> None:
    """Create the directories of a cluster from scratch on every host, and mark them with their owner.

    Raises:
        UsageError: something is there that neither this cluster nor an earlier one of its name has made. All
            directories that this call has made are removed.
        HostProblem: another user could change the contents of a daemon's directory, and so run programs as this user.
    """
    owner, named = owner_of(plan), {host.name: host for host in hosts}
    if plan.job is not None:
        sweep(named, plan)

    def claim_own(host: Host) -> None:
        own = plan.own_directories(host.name)
        _claim(host, plan, owner, own)
        _leave_none(host, plan, owner, own)

    try:
        over(named, claim_own)
        for host in named.values():  # One after the other: it may be one directory for all.
            rest = plan.directories(host.name)[len(plan.own_directories(host.name)) :]
            _claim(host, plan, owner, rest)
            if host.name == plan.masters.host:  # A host that is lost alone leaves to the others what they share.
                _leave_none(host, plan, owner, rest)
    except HowdahError:
        over(named, lambda host: _release(host, plan, owner))
        raise


def claim_of_host(host: Host, plan: Plan) -> None:
    """As `claim_directories`, for a host that a running cluster takes in: what hosts share is there already."""
    own = plan.own_directories(host.name)
    try:
        _claim(host, plan, owner_of(plan), own)
    except HowdahError:
        for made in own:
            with suppress(HostProblem):  # The host was lost meanwhile.
                operations.remove_claimed(host, made, owner_of(plan))
        raise


def _claim(host: Host, plan: Plan, owner: str, directories: Sequence[str]) -> None:
    for directory in directories:
        if directory in plan.own_directories(host.name):
            refuse_exposed(host, directory)
        other = operations.claim_directory(host, directory, owner)
        if other is not None:
            whose = f"it belongs to the cluster {other}" if other else "no cluster has made it"
            raise UsageError(
                f"{directory} is there already, and would be emptied: {whose}",
                host=host.name if len(plan.quarters) > 1 else None,
                hint="Choose another --name, or another --work-dir, below which a directory of that name is made.",
            )


def _leave_none(host: Host, plan: Plan, owner: str, directories: Sequence[str]) -> None:
    """Have the agent of a batch job remove these directories when its channel ends."""
    if plan.job is not None:
        for directory in directories:
            operations.leave_none(host, directory, owner)


def _release(host: Host, plan: Plan, owner: str) -> None:
    for made in plan.directories(host.name):
        with suppress(HostProblem):  # The host was lost meanwhile.
            operations.remove_claimed(host, made, owner)


def refuse_exposed(host: Host, directory: str) -> None:
    """Raise HostProblem if another user could change the contents of `directory`."""
    why = operations.exposed(host, directory)
    if why is not None:
        raise HostProblem(
            f"{directory} is no place for a cluster: {why}, and could run programs as you",
            host=host.name,
            hint="Choose a directory below one of your own: --work-dir for data, HOWDAH_HOME for everything.",
        )


def remove_directories(host: Host, plan: Plan, logs: Path, *, shared: bool = True) -> None:
    """Removes what `claim_directories` has made on `host`; what another cluster has claimed since then is that one's.
    Directories that other hosts have too are removed if nobody needs them any more, as `shared` says. The ends of logs
    that are not in `logs` by themselves are copied there before.

    Raises:
        HostProblem: a directory cannot be removed.
        ClusterProblem: a directory has no mark of its owner.
    """
    _keep_logs(host, plan, logs)
    unknown = []
    for directory in plan.directories(host.name) if shared else plan.own_directories(host.name):
        if operations.remove_claimed(host, directory, owner_of(plan)) == "":
            unknown.append(directory)
    if unknown:
        raise ClusterProblem(
            f"{' and '.join(unknown)} left as it is: nothing in it says that it was this cluster's",
            host=host.name,
            hint="If nobody needs it, remove it yourself.",
        )


def _keep_logs(host: Host, plan: Plan, logs: Path) -> None:
    for role, place in plan.daemons():
        log = plan.log_of(role, place)
        kept = logs / Path(log).name
        if place.host == host.name and str(kept) != log:
            with suppress(HostProblem, OSError):  # It was never started; or there is no room for it here.
                _keep_log(kept, operations.read_file(host, log, offset=-_LOG_KEPT))


def _keep_log(kept: Path, end: bytes) -> None:
    """Write the end of a log home. If more of it is there already, append what is new. Raises OSError."""
    if kept.exists() and kept.stat().st_size > len(end):
        known = kept.read_bytes()[-_OVERLAP:]
        if (place := end.rfind(known)) >= 0:
            with kept.open("ab") as file:
                file.write(end[place + len(known) :])
            return
    fresh = kept.with_suffix(".new")
    write_private(fresh, end)
    fresh.replace(kept)


def remove_data(manifest: Manifest) -> None:
    """Remove the directories that a dead cluster of this machine left. Its daemons may still be dying. Raises
    HostProblem if a directory cannot be removed."""
    if ends_with_its_supervisor(manifest.allocation):
        return
    plan, logs = manifest.plan, cluster_directory(manifest.name).logs
    deadline = time.monotonic() + _DYING_SECONDS

    def remove(host: Host) -> None:
        operations.end_strays(host, plan.quarters[host.name].root)
        while True:
            try:
                return remove_directories(host, plan, logs)
            except HostProblem:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_POLL_SECONDS)

    hosts = open_hosts(manifest.allocation, plan.quarters)
    try:
        over(hosts, remove)
    finally:
        close_hosts(hosts)


def owner_of(plan: Plan) -> str:
    """Return the mark of a cluster's directories. The cluster's name alone is not enough: clusters of another machine
    or another HOWDAH_HOME may have the same name."""
    job = "" if plan.job is None else f", job {plan.job}"
    return f"{plan.name} of {howdah_home().resolve()} on {plan.quarters[plan.masters.host].machine}{job}"


def sweep(hosts: Mapping[str, Host], plan: Plan) -> None:
    """Remove the directories and processes that ended batch jobs left on hosts, because everything in the jobs was
    killed at once. For clusters in batch jobs. Leftovers stay if nothing is known of their job. Raises HostProblem if
    leftovers cannot be removed."""
    found: dict[str, list[tuple[Host, str, str]]] = {}
    for host in hosts.values():
        for root, owner in _own_neighbours(host, plan):
            if (match := _OF_A_JOB.search(owner)) and match[1] != plan.job:
                found.setdefault(match[1], []).append((host, root, owner))
    for job, left in found.items():
        if has_ended(job):
            for host, root, owner in left:
                operations.end_strays(host, root)
                operations.remove_claimed(host, root, owner)


def _own_neighbours(host: Host, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (directory, owner) for this user's clusters on a host, next to the directories of `plan`."""
    for parent in dict.fromkeys(str(Path(one).parent) for one in plan.own_directories(host.name)):
        try:
            entries = operations.list_directory(host, parent)
        except HostProblem:  # There is none yet.
            continue
        for entry in entries:
            if entry.type == "directory":
                with suppress(HostProblem):  # It is none of a cluster, or goes at this moment.
                    yield f"{parent}/{entry.name}", operations.owner_of_claimed(host, f"{parent}/{entry.name}")
