"""The power meters that can be read on a host: RAPL, hwmon, a BMC by ipmitool, SNMP, Slurm; or a simulation of one.

Records are {"meter": NAME, "header": {...}} once for each meter that is there. Readings are {"meter": NAME, "utc",
"monotonic"} with `watts` or `joules`, or with `fault` and its words if there is no valid reading. Missing meters are
{"absent": KIND, "why"}. A meter that is absent has no readings, and no reading is ever 0 for want of a value. {"begun":
true} is once there when every meter was read once, or is missing.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Dict, List, Tuple

from .power_files import Hwmon, Rapl, SimulatedMeter
from .power_programs import Ipmi, Snmp
from .power_reader import Point, Reader, ReaderPlaces
from .power_slurm import SlurmMeter

_LAST = 4.0
"""Seconds in which a source stops, whatever it waits for."""

_SLOW = 1.0
"""A reading with more seconds than this is slow."""

_READERS: Dict[str, Callable[[Dict[str, Any], ReaderPlaces], Reader]] = {
    "rapl": Rapl,
    "hwmon": Hwmon,
    "ipmi": Ipmi,
    "snmp": Snmp,
    "slurm": SlurmMeter,
    "simulated": SimulatedMeter,
}


def run(
    emit: Callable[[List[Dict[str, Any]]], None],
    stop: threading.Event,
    *,
    sources: List[Dict[str, Any]],
    program: Callable[..., Dict[str, Any]],
    sys: str = "/sys",
    proc: str = "/proc",
) -> Dict[str, Any]:
    """Emit the meters that the `sources` have, then their readings until `stop`, each source at its own interval.

    A source is {"kind", "interval", "accuracy"} with the settings that its kind needs.

    Returns the `cpu_seconds` that this took, including those of programs.
    """
    spent: List[float] = []
    lock, left = threading.Lock(), [len(sources)]

    def begun() -> None:
        with lock:
            left[0] -= 1
            last = not left[0]
        if last:
            emit([{"begun": True}])

    threads = [
        threading.Thread(
            target=_observe, args=(emit, begun, source, ReaderPlaces(sys, proc, stop, program), spent), daemon=True
        )
        for source in sources
    ]
    for thread in threads:
        thread.start()
    stop.wait()
    for thread in threads:
        thread.join(_LAST)
    return {"cpu_seconds": sum(spent)}


def _observe(
    emit: Callable[[List[Dict[str, Any]]], None],
    begun: Callable[[], None],
    source: Dict[str, Any],
    place: ReaderPlaces,
    spent: List[float],
) -> None:
    kind, interval = source["kind"], float(source["interval"])
    used = time.thread_time()
    try:
        reader = _READERS[kind](source, place)
    except (OSError, ValueError) as error:
        emit([{"absent": kind, "why": str(error)}])
        begun()
        return
    emit([{"meter": one["name"], "header": one} for one in reader.meters])
    start, tick = time.monotonic(), 0
    while True:
        ended, asked = place.stop.is_set(), time.monotonic()
        points = [{"meter": name, **_now(), **said} for name, said in _readings(reader)]
        if points:
            emit(points)
        if not tick:
            begun()
        # No last reading after one that was slow: it would be slow, too.
        if ended or (place.stop.is_set() and time.monotonic() - asked > _SLOW):
            break
        tick = max(tick + 1, int((time.monotonic() - start) / interval))
        place.stop.wait(start + tick * interval - time.monotonic())
    reader.close()
    spent.append(time.thread_time() - used + reader.program_seconds)


def _now() -> Point:
    return {"utc": time.time(), "monotonic": time.monotonic()}


def _readings(reader: Reader) -> List[Tuple[str, Point]]:
    """Return one reading of each meter; a fault of each if the reader cannot read."""
    try:
        return list(reader.read())
    except (OSError, ValueError) as error:
        return [(meter["name"], {"fault": str(error)}) for meter in reader.meters]
