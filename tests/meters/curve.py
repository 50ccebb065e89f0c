"""A known curve of power: a wave around a mean, for as long as one likes. Printed, it is what a meter in steps of ten
watts says now."""

from __future__ import annotations

import math
import sys
import time

MEAN, SWING, PERIOD = 220.0, 60.0, 9.0
_ROUND = 2 * math.pi / PERIOD


def watts(moment: float) -> float:
    """The power at a moment, in seconds since 1970."""
    return MEAN + SWING * math.sin(_ROUND * moment)


def joules(start: float, end: float) -> float:
    """The energy between two moments."""
    return MEAN * (end - start) + SWING / _ROUND * (math.cos(_ROUND * start) - math.cos(_ROUND * end))


if __name__ == "__main__":
    gain = float(sys.argv[1])
    sys.stdout.write(f"{round(watts(time.time()) * gain / 10)}\n")
