"""The same work on several hosts at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from howdah.errors import HostProblem, HostProblems, HowdahError
from howdah.host import Host

_AT_ONCE = 32
"""Number of threads, which mostly wait for answers."""

What = TypeVar("What")
T = TypeVar("T")


def of_reachable(host: Host, work: Callable[[Host], T]) -> T | None:
    """Return the result of `work` on a host; None if the host is lost. Raises what `work` raises on other hosts."""
    try:
        return work(host)
    except HostProblem:
        if host.lost is None:
            raise
        return None


def over(hosts: Mapping[str, What], work: Callable[[What], T]) -> dict[str, T]:
    """Return the result of `work` for each host's value, by the host's name, in the order of `hosts`. Every host has
    its turn, whatever happens on the others.

    Raises the error of the only host with an error, or HostProblems with the errors of several. An error that is no
    HowdahError is raised unchanged.
    """
    if len(hosts) < 2:
        return {name: work(value) for name, value in hosts.items()}
    with ThreadPoolExecutor(min(len(hosts), _AT_ONCE)) as pool:
        futures = {name: pool.submit(work, value) for name, value in hosts.items()}
    problems = []
    for future in futures.values():
        error = future.exception()
        if isinstance(error, HowdahError):
            problems.append(error)
        elif error is not None:
            raise error
    if problems:
        raise problems[0] if len(problems) == 1 else HostProblems.of(problems)
    return {name: future.result() for name, future in futures.items()}
