"""The check that the other end of a channel is still there: each end sends beats, and counts how long it has heard
nothing.

Time is counted in the end's own ticks. An end that was itself suspended, or had no processor, does not take that for
the other's silence. Both ends use this class.
"""

from __future__ import annotations

import threading
from typing import Callable

_TICKS = 10
"""Ticks in the time of silence after which the other end counts as lost."""


class Heartbeat:
    """A sender of beats and a listener, in two threads until `stop`: a beat may wait for a pipe that is full."""

    def __init__(self, silence: float, beat: Callable[[], None], lost: Callable[[], None]) -> None:
        """`beat` tells the other end that this one lives; `lost` is called once, after `silence` seconds without
        `heard`."""
        self._tick = silence / _TICKS
        self._beat = beat
        self._lost = lost
        self._quiet = 0
        self._stopped = threading.Event()
        for work in (self._speak, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def heard(self) -> None:
        """Note that the other end has said something."""
        self._quiet = 0

    def stop(self) -> None:
        """Stop both threads; may be called twice."""
        self._stopped.set()

    def _speak(self) -> None:
        # Several times in the time that the other end waits.
        while not self._stopped.wait(self._tick * _TICKS / 4):
            self._beat()

    def _listen(self) -> None:
        while not self._stopped.wait(self._tick):
            self._quiet += 1
            if self._quiet > _TICKS:
                self._stopped.set()
                self._lost()
