"""The display while a run lasts: a live line per phase on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from howdah.engine.observer import JobProgress, Observer, Silent
from howdah.errors import HowdahError
from howdah.model.quantity import format_bytes, format_seconds
from howdah.model.run import Check, Run

_PLAIN_SECONDS = 10.0


@contextmanager
def make_display(*, quiet: bool) -> Iterator[Observer]:
    """Yield the observer that suits the output. If `quiet`, it only reports workloads that were left out."""
    if quiet:
        yield _Quiet()
        return
    console = Console(stderr=True, highlight=False)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield _Plain(console)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield _Terminal(console, live)


def say_left_out(name: str, why: HowdahError) -> str:
    """Return the line about a workload that will not be run."""
    return f"{name} is left out: {'. '.join(filter(None, (why.message, why.hint)))}"


class _Quiet(Silent):
    """An observer that only reports workloads that were left out."""

    def left_out(self, name: str, why: HowdahError) -> None:
        print(say_left_out(name, why), file=sys.stderr)


class UnderWay:
    """A line about the current activity, with a clock that runs; for `rich.live.Live`."""

    def __init__(self, text: str, began: float | None = None) -> None:
        self._text = text
        self._began = time.monotonic() if began is None else began

    def __rich__(self) -> Text:
        text = f"  {time.monotonic() - self._began:5.1f} s  {self._text} …"
        return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


class _Lines:
    """The common part of `_Plain` and `_Terminal`: finished things are lines that stay."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._phase = ""
        self._data_bytes: int | None = None
        self._began = 0.0

    def step(self, text: str) -> None:
        self._line(Text(f"  {text}", style="dim"))

    def left_out(self, name: str, why: HowdahError) -> None:
        self._line(Text(say_left_out(name, why)))

    def run_started(self, title: str, number: int, of: int) -> None:
        if of > 1:
            self._line(Text(f"{title}, run {number} of {of}", style="bold"))

    def phase_started(self, name: str, data_bytes: int | None) -> None:
        self._phase, self._data_bytes, self._began = name, data_bytes, time.monotonic()

    def phase_ended(self, name: str, seconds: float | None) -> None:
        if seconds is None:
            self._line(Text(f"  {name:10} failed", style="red"))
            return
        rate = "" if self._data_bytes is None else f"   {format_bytes(self._data_bytes / seconds)}/s"
        self._line(Text(f"  {name:10} {format_seconds(seconds):>10}{rate}"))

    def checked(self, checks: tuple[Check, ...]) -> None:
        for check in checks:
            mark, style = ("ok", "green") if check.passed else ("WRONG", "bold red")
            self._marked(Text(f"  {mark:5}", style=style), Text(f"{check.name}: {check.detail}"))

    def run_ended(self, run: Run) -> None:
        if run.outcome.kind != "valid":
            self._line(Text(f"  {run.id} is {run.outcome.kind}", style="red"))

    def _marked(self, mark: Text, text: Text) -> None:
        self._line(Text.assemble(mark, " ", text))

    def _line(self, text: Text) -> None:
        self._console.print(text, soft_wrap=not self._console.is_terminal)


class _Plain(_Lines):
    """An observer that prints a line now and then."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._last = 0.0

    def progress(self, progress: JobProgress) -> None:
        if time.monotonic() - self._last >= _PLAIN_SECONDS:
            self._last = time.monotonic()
            self._line(sentence(self._phase, progress, bar=0))


class _Terminal(_Lines):
    """An observer with one line that changes."""

    def __init__(self, console: Console, live: Live) -> None:
        super().__init__(console)
        self._live = live

    def step(self, text: str) -> None:
        self._live.update(UnderWay(text))

    def progress(self, progress: JobProgress) -> None:
        bar = max(0, min(20, (self._console.width - 80) // 2))
        self._live.update(sentence(self._phase, progress, bar=bar))

    def _marked(self, mark: Text, text: Text) -> None:
        columns = Table.grid(padding=(0, 1))
        columns.add_row(mark, text)
        self._console.print(columns)

    def phase_ended(self, name: str, seconds: float | None) -> None:
        self._live.update(Text(""))
        super().phase_ended(name, seconds)


def sentence(phase: str, progress: JobProgress, *, bar: int) -> Text:
    """Return the progress of the job of a phase. `bar` is the width of each bar in columns; 0 leaves the bars out."""
    line = Text(f"  {phase:10} ", no_wrap=True, overflow="ellipsis")
    if progress.map is None:
        words = f"waiting for the first container, {format_seconds(progress.elapsed_seconds)}"
        return line.append(words, style="dim")
    line.append(_bar(progress.map, bar), style="cyan").append(f"map {progress.map:4.0%}  ")
    if progress.reduce is not None:
        line.append(_bar(progress.reduce, bar), style="magenta").append(f"reduce {progress.reduce:4.0%}  ")
    if progress.bytes_read is not None and progress.bytes_written is not None:
        line.append(f"in {format_bytes(progress.bytes_read)}, out {format_bytes(progress.bytes_written)}  ")
    return line.append(format_seconds(progress.elapsed_seconds), style="dim")


def _bar(share: float, width: int) -> str:
    full = round(share * width)
    return "━" * full + "╌" * (width - full) + (" " if width else "")
