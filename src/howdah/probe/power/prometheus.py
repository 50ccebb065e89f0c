"""A series that a Prometheus server has scraped. Its raw samples are requested once, when the run has ended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlencode, urljoin

from howdah.model.meter import AROUND, POWER, SERIES, Domain, Meter, Reading, Side, encode_meter
from howdah.probe import Sink
from howdah.probe.power.web import Unanswered, ask
from howdah.spec.meters import MeterSource


class Prometheus:
    """A series that `query` names. `query_range` would repeat a stale value for five minutes, so the samples are
    requested as they were scraped (`/api/v1/query?query=SERIES[5m]`)."""

    def __init__(self, source: MeterSource, sink: Sink, absent: Callable[[str], None]) -> None:
        self._source, self._sink, self._absent = source, sink, absent
        self._begun = 0.0

    def start(self) -> None:
        self._begun = time.time()

    def wait(self, seconds: float) -> None:
        """Readings from before the run are read, too: there is nothing to wait for."""

    def stop(self) -> None:
        self.collect(self._begun - AROUND, time.time())

    def collect(self, start: float, end: float) -> None:
        """Ask for the samples that were scraped between two moments."""
        source = self._source
        span = math.ceil(end - start)
        query = urlencode({"query": f"{source.settings['query']}[{span}s]", "time": f"{end:.3f}"})
        try:
            said, _ = ask(urljoin(source.settings["url"], f"/api/v1/query?{query}"))
            samples = samples_of(said)
        except Unanswered as why:
            self._absent(f"{source.name}: {why}")
            return
        name = source.name or "prometheus"
        meter = self._meter(name)
        ahead = time.time() - time.monotonic()
        scale = scale_of(source.settings["query"])
        self._sink(SERIES + name, encode_meter(meter))
        for utc, value in unbroken(samples) if meter.reading == "counter" else samples:
            point: dict[str, Any] = {meter.column: value * scale} if value > 0 else {"fault": f"{value:g}"}
            self._sink(SERIES + name, {"kind": POWER, "role": POWER, "utc": utc, "monotonic": utc - ahead, **point})

    def _meter(self, name: str) -> Meter:
        source = self._source
        given = source.settings
        usual = "counter" if "joules" in given["query"] else "instant"
        return Meter(
            name=name,
            source=f"prometheus {given['query']}",
            domain=cast("Domain", given.get("domain", "node")),
            side=cast("Side", given.get("side", "ac")),
            reading=cast("Reading", given.get("reading", usual)),
            interval_seconds=source.interval,
            accuracy=source.accuracy,
            resolution=float(given.get("resolution", 0)),
            clock="meter",
            offset_error=None,  # When it was scraped is known, when its value was read is not.
            covers=source.covers or (),
            quality="measured",
            feed=source.feed,
        )


def samples_of(said: Any) -> list[tuple[float, float]]:
    """Return the moments and values of the only series in an answer. Raises Unanswered."""
    try:
        series = said["data"]["result"]
        found = [(float(utc), float(value)) for utc, value in series[0]["values"]] if series else []
    except (KeyError, TypeError, ValueError, IndexError):
        raise Unanswered("the answer is none of Prometheus") from None
    if len(series) != 1:
        raise Unanswered(f"the query gives {len(series)} series, and one is needed")
    return [(utc, value) for utc, value in found if math.isfinite(value)]


def unbroken(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return a counter without the resets by restarts of its exporter. The amount between its last sample and a restart
    is unknown and is not estimated."""
    total, made = 0.0, list[tuple[float, float]]()
    before = 0.0
    for utc, value in samples:
        total += value - before if value >= before else value
        before = value
        made.append((utc, total))
    return made


def scale_of(query: str) -> float:
    """Return the factor from the unit in a metric's name to watts or joules."""
    return 1e-6 if "microwatts" in query or "microjoules" in query else 1e-3 if "milliwatts" in query else 1.0
