"""The display while an experiment runs: a line for each run, and the effects known so far."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from howdah.cli.progress import sentence
from howdah.engine.experiment.factors import CONFIGURATION
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.results import Done, as_done, metric_of, observations, terms
from howdah.engine.experiment.trials import Status
from howdah.engine.measurement.request import Measured
from howdah.engine.observer import JobProgress, Silent
from howdah.model.experiment import Effect
from howdah.model.quantity import format_seconds
from howdah.report.document.wording import quantity, short_names
from howdah.stats.blocks import effects

_MOST = 4
"""The maximum number of effects shown during the experiment, largest first."""


@contextmanager
def experiment_display(plan: ExperimentPlan, done: Sequence[Done]) -> Iterator[ExperimentDisplay]:
    """Yield the display of an experiment whose runs `done` are finished."""
    console = Console(stderr=True, highlight=False)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield ExperimentDisplay(plan, done, console, None)
        return
    with Live(console=console, refresh_per_second=2, transient=True) as live:
        yield ExperimentDisplay(plan, done, console, live)


class ExperimentDisplay(Silent):
    """The observer of every run of an experiment.

    In a terminal, the lines below the finished runs change during a run. Elsewhere, the known effects are printed after
    every block.
    """

    def __init__(self, plan: ExperimentPlan, done: Sequence[Done], console: Console, live: Live | None) -> None:
        self._plan, self._console, self._live = plan, console, live
        self._done = list(done)
        self._names = short_names([factor for factor, _ in terms(plan)])
        self._unit = metric_of(plan).unit
        self._phase = ""
        self._status, self._known = self._judged()
        self._update(Text(""))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the display while a person is asked something."""
        if self._live is not None:
            self._live.stop()
        try:
            yield
        finally:
            if self._live is not None:
                self._live.start()

    def ended(self, measured: Measured) -> None:
        """Show a run that has ended, with any outcome."""
        one = as_done(self._plan, measured.path, measured.run)
        self._done.append(one)
        if self._live is None:
            self._console.print(self._run_line(one), soft_wrap=True)
        else:
            self._console.print(self._run_line(one), no_wrap=True, overflow="ellipsis")
        self._status, self._known = self._judged()
        self._update(Text(""))
        following = self._status.next
        if self._live is None and (following is None or following.block != one.slot.block):
            for line in self._known:
                self._console.print(line, soft_wrap=True)

    def step(self, text: str) -> None:
        self._update(Text(f"{text} …"))

    def phase_started(self, name: str, data_bytes: int | None) -> None:  # noqa: ARG002
        self._phase = name
        self._update(Text(name))

    def progress(self, progress: JobProgress) -> None:
        self._update(sentence(self._phase, progress, bar=0))

    def _run_line(self, one: Done) -> Text:
        """Return a line such as `36  43.7 s  0.98 of its mean  nodes 3, output.compress true`."""
        line = Text(f"{len(self._done):5}  ")
        arm = self._arm(one.slot.arm)
        if one.value is None:
            reason = one.run.outcome.reason or "it has no value of the primary metric"
            return line.append(f"{one.run.outcome.kind:>9}", style="red").append(f"  {arm}: {reason}")
        line.append(f"{quantity(one.value, self._unit):>9}", style="bold")
        same = [other.value for other in self._done if other.slot.arm == one.slot.arm and other.value is not None]
        share = f"{one.value / statistics.geometric_mean(same):.2f} of its mean" if len(same) > 1 else ""
        return line.append(f"  {share:16}", style="dim").append(f"  {arm}")

    def _arm(self, arm: int) -> str:
        """Return the differences between an arm and the baseline, in words."""
        return arm_words(self._plan.arms[arm], self._plan.arms[0], self._names)

    def _update(self, now: Text) -> None:
        """Update the lines that change: the known effects, and the current run."""
        if self._live is None:
            return
        lines, following = [line.copy() for line in self._known], self._status.next
        if following is not None:
            place = f"block {following.block + 1}, run {following.place + 1}: {self._arm(following.arm)}"
            lines.append(Text.assemble(("    now  ", "cyan"), place, " · ", now))
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        self._live.update(Group(*lines))

    def _judged(self) -> tuple[Status, list[Text]]:
        """Return the status of the experiment, and lines with the largest effects so far and the work that is left."""
        status = Status.after(self._plan, self._done)
        lines: list[Text] = []
        found: tuple[Effect, ...] = ()
        if self._plan.experiment.design != "search":
            found = effects(observations(self._plan, self._done), self._plan.experiment.stop.least)
        for one in sorted(found, key=lambda one: -abs(math.log(one.ratio)))[:_MOST]:
            lines.append(Text.assemble(("    so far  ", "green"), self._effect(one)))
        if status.next is not None:
            lines.append(Text(f"    {runs_words(status)}{time_words(status)}", style="dim"))
        return status, lines

    def _effect(self, one: Effect) -> str:
        factor, level = terms(self._plan)[one.term]
        low, high = (f"{100 * (edge - 1):+.0f}" for edge in (one.interval.low, one.interval.high))
        return f"{level_words(factor, level, self._names)}  {100 * (one.ratio - 1):+.1f} % ({low} to {high} %)"


def arm_words(arm: Mapping[str, str], baseline: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return the levels of an arm that differ from the baseline, in words."""
    changed = (level_words(name, level, names) for name, level in arm.items() if baseline[name] != level)
    return ", ".join(changed) or baseline.get(CONFIGURATION, "baseline")


def level_words(factor: str, level: str, names: Mapping[str, str]) -> str:
    """Return a factor and its level in words. A configuration is shown by its name alone."""
    return level if factor == CONFIGURATION else f"{names.get(factor, factor)} {level}"


def runs_words(status: Status) -> str:
    """Return the number of finished runs and of planned runs, in words."""
    least, most = status.least, status.most
    return f"{len(status.done)} of {least} runs" if least == most else f"{len(status.done)} of {least} to {most} runs"


def time_words(status: Status) -> str:
    """Return the remaining time in words; empty if it is not known."""
    if status.remaining_seconds is None or status.remaining_seconds[1] < 1:
        return ""
    low, high = (format_seconds(seconds) for seconds in status.remaining_seconds)
    return f", {low} left" if low == high else f", {low} to {high} left"
