"""Hosts leave and come while the cluster goes on: in a thread, which others ask how far it is."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from howdah.cluster.deployment.resizing import Resizing
from howdah.errors import ClusterProblem, HowdahError, UsageError

SHRINK, GROW = "shrink", "grow"


@dataclass
class _Change:
    """One change, with the lines that it has `said` so far; it ends with a `problem`, or well."""

    said: list[str] = field(default_factory=list)
    problem: HowdahError | None = field(
        default_factory=lambda: ClusterProblem("the supervisor failed; its log says why (supervisor.log)")
    )
    runs: bool = True


class Resizer:
    """Runs one change of the cluster's hosts at a time."""

    def __init__(self, resizing: Resizing) -> None:
        self._resizing = resizing
        self._beginning = threading.Lock()
        self._thread: threading.Thread | None = None
        self._changes: list[_Change] = []
        self._is_over = False

    def begin(self, kind: str, hosts: Sequence[str], seconds: float) -> int:
        """Begin to take `hosts` out (SHRINK, within `seconds`) or in (GROW), and return the number of this change.
        Raises UsageError during another change, and ClusterProblem once the cluster is about to stop."""
        with self._beginning:
            if self._is_over:
                raise ClusterProblem("the cluster is stopped")
            if self.is_busy():
                raise UsageError("the hosts of this cluster are changing", hint="Wait until that is done.")
            self._changes.append(_Change())
            self._thread = threading.Thread(target=self._run, args=(kind, hosts, seconds), daemon=True)
            self._thread.start()
            return len(self._changes)

    def _run(self, kind: str, hosts: Sequence[str], seconds: float) -> None:
        change = self._changes[-1]
        try:
            if kind == SHRINK:
                self._resizing.shrink(hosts, seconds, change.said.append)
            else:
                self._resizing.grow(hosts, change.said.append)
            change.problem = None
        except HowdahError as problem:
            change.problem = problem
        finally:
            change.runs = False

    def is_busy(self) -> bool:
        """Return whether a change is under way."""
        return bool(self._changes) and self._changes[-1].runs

    def seen(self, number: int) -> Mapping[str, Any]:
        """Return whether the change `runs`, the lines that it has `said`, and, once it does not run, its problem."""
        change = self._changes[number - 1]
        runs, found = change.runs, {"said": list(change.said)}
        if runs or change.problem is None:
            return {"runs": runs, **found}
        problem = change.problem
        return {"runs": runs, **found, "error": problem.message, "hint": problem.hint, "code": problem.exit_code}

    def finish(self) -> None:
        """Return when no change is under way, and begin none any more."""
        with self._beginning:
            self._is_over = True
        if self._thread is not None:
            self._thread.join()
