"""The events that an observer of a run receives. The command line shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from howdah.errors import HowdahError
from howdah.model.run import Check, Run


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a job: shares from 0 to 1. A share is None if the application master has not reported yet, or if
    the job has no reduces.

    `bytes_read` and `bytes_written` are those of the storage so far, some seconds old; None before tasks have reported.
    """

    map: float | None
    reduce: float | None
    elapsed_seconds: float
    bytes_read: int | None = None
    bytes_written: int | None = None


class Observer(Protocol):
    """Receives events on the run's thread. Its methods must not raise and must not take long."""

    def step(self, text: str) -> None:
        """Handle the start of a step that is no phase: preflight, calibration, verification."""

    def left_out(self, name: str, why: HowdahError) -> None:
        """Handle a workload of several that cannot run here, and is left out."""

    def run_started(self, title: str, number: int, of: int) -> None:
        """Handle the start of the run of a workload, called `title`. It is the `number`th of so many runs of all
        workloads."""

    def phase_started(self, name: str, data_bytes: int | None) -> None:
        """Handle the start of a phase."""

    def progress(self, progress: JobProgress) -> None:
        """Handle the progress of the current phase's job, about twice a second."""

    def phase_ended(self, name: str, seconds: float | None) -> None:
        """Handle the end of a phase. `seconds` is its job time (its client's, if it has no job), None if it failed."""

    def checked(self, checks: tuple[Check, ...]) -> None:
        """Handle the results of verification."""

    def run_ended(self, run: Run) -> None:
        """Handle the end of a run: its directory is closed."""


class Both:
    """Two observers as one."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self._both = (first, second)

    def step(self, text: str) -> None:
        for one in self._both:
            one.step(text)

    def left_out(self, name: str, why: HowdahError) -> None:
        for one in self._both:
            one.left_out(name, why)

    def run_started(self, title: str, number: int, of: int) -> None:
        for one in self._both:
            one.run_started(title, number, of)

    def phase_started(self, name: str, data_bytes: int | None) -> None:
        for one in self._both:
            one.phase_started(name, data_bytes)

    def progress(self, progress: JobProgress) -> None:
        for one in self._both:
            one.progress(progress)

    def phase_ended(self, name: str, seconds: float | None) -> None:
        for one in self._both:
            one.phase_ended(name, seconds)

    def checked(self, checks: tuple[Check, ...]) -> None:
        for one in self._both:
            one.checked(checks)

    def run_ended(self, run: Run) -> None:
        for one in self._both:
            one.run_ended(run)


class Silent:
    """An observer that shows nothing."""

    def step(self, text: str) -> None: ...

    def left_out(self, name: str, why: HowdahError) -> None: ...

    def run_started(self, title: str, number: int, of: int) -> None: ...

    def phase_started(self, name: str, data_bytes: int | None) -> None: ...

    def progress(self, progress: JobProgress) -> None: ...

    def phase_ended(self, name: str, seconds: float | None) -> None: ...

    def checked(self, checks: tuple[Check, ...]) -> None: ...

    def run_ended(self, run: Run) -> None: ...
