"""Hosts leave and come while the cluster goes on: in a thread, which others ask how far it is."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from howdah.cluster.deployment.resizing import Resizing
from howdah.errors import ClusterProblem, HowdahError, UsageError

SHRINK, GROW = "shrink", "grow"


class Resizer:
    """Runs one change of the cluster's hosts at a time."""

    def __init__(self, resizing: Resizing) -> None:
        self._resizing = resizing
        self._beginning = threading.Lock()
        self._thread: threading.Thread | None = None
        self._said: list[str] = []
        self._problem: HowdahError | None = None

    def begin(self, kind: str, hosts: Sequence[str], seconds: float) -> None:
        """Begins to take `hosts` out (SHRINK, within `seconds`) or in (GROW). Raises UsageError while another change is
        under way."""
        with self._beginning:
            if self._thread is not None and self._thread.is_alive():
                raise UsageError("the hosts of this cluster are changing", hint="Wait until that is done.")
            self._said = []
            self._problem = ClusterProblem("the supervisor failed; its log says why (supervisor.log)")
            self._thread = threading.Thread(target=self._run, args=(kind, hosts, seconds), daemon=True)
            self._thread.start()

    def _run(self, kind: str, hosts: Sequence[str], seconds: float) -> None:
        try:
            if kind == SHRINK:
                self._resizing.shrink(hosts, seconds, self._said.append)
            else:
                self._resizing.grow(hosts, self._said.append)
            self._problem = None
        except HowdahError as problem:
            self._problem = problem

    @property
    def is_busy(self) -> bool:
        """Whether a change is under way."""
        return self._thread is not None and self._thread.is_alive()

    def seen(self) -> Mapping[str, Any]:
        """Return whether a change `runs`, what it has `said`, and, once it does not run, what went wrong."""
        if self.is_busy:
            return {"runs": True, "said": list(self._said)}
        problem, found = self._problem, {"runs": False, "said": list(self._said)}
        if problem is None:
            return found
        return {**found, "error": problem.message, "hint": problem.hint, "code": problem.exit_code}

    def wait(self) -> None:
        """Returns when no change is under way."""
        if self._thread is not None:
            self._thread.join()
