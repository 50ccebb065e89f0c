"""The common part of all readers of meters."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Iterator, List, Tuple

Point = Dict[str, Any]


class ReaderPlaces:
    """The places where a reader looks, the event that stops it, and the function that runs a program to its end
    (`Children.run`)."""

    def __init__(self, sys: str, proc: str, stop: threading.Event, program: Callable[..., Dict[str, Any]]) -> None:
        self.sys, self.proc, self.stop, self.program = sys, proc, stop, program


class Reader:
    """A reader of meters. `meters` are their headers, without the hosts that they cover."""

    program_seconds = 0.0
    meters: List[Dict[str, Any]]

    def read(self) -> Iterator[Tuple[str, Point]]:
        """Yield the name of a meter and its reading, `watts`, `joules` or `fault`; for each meter that has one now."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop everything that the reader has started. Called once, after the last reading."""

    def header(self, given: Dict[str, Any], **own: Any) -> Dict[str, Any]:
        return {
            "interval_seconds": float(given["interval"]),
            "accuracy": given.get("accuracy"),
            "clock": "host",
            "offset_error": 0.0,
            "quality": "measured",
            **own,
        }
