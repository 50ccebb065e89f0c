"""What whoever watches a run is told; the command line shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from howdah.errors import HowdahError
from howdah.model.run import Check, Run


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is: shares from 0 to 1, None where the application master has not said yet, or has no reduces.

    `bytes_read` and `bytes_written` are those of the storage so far, some seconds old; None before tasks have reported.
    """

    map: float | None
    reduce: float | None
    elapsed_seconds: float
    bytes_read: int | None = None
    bytes_written: int | None = None


class Observer(Protocol):
    """Called on the run's thread; must not raise and must not take long."""

    def step(self, text: str) -> None:
        """Something that is no phase has begun: preflight, calibration, verification."""

    def left_out(self, name: str, why: HowdahError) -> None:
        """A workload of several cannot be run here, and will not be."""

    def run_started(self, title: str, number: int, of: int) -> None:
        """The run of a workload, called `title`, begins: it is the `number`th of so many runs of all workloads."""

    def phase_started(self, name: str, data_bytes: int | None) -> None:
        """A phase has begun."""

    def progress(self, progress: JobProgress) -> None:
        """The job of the current phase has come this far; about twice a second."""

    def phase_ended(self, name: str, seconds: float | None) -> None:
        """The phase is over; `seconds` is its job time (its client's, where it has no job), None when it failed."""

    def checked(self, checks: tuple[Check, ...]) -> None:
        """What verification found."""

    def run_ended(self, run: Run) -> None:
        """The run directory is closed."""


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
