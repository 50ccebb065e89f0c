"""Meters that a kernel has as files: RAPL, ACPI's power meter; and a meter that is simulated by the processors'
load."""

from __future__ import annotations

import os
import re
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .power_reader import Point, Reader, ReaderPlaces

_RAPL = re.compile(r"intel-rapl:(\d+)(:\d+)?$")  # AMD's processors are there under the same name.
_RAPL_JOULES = 2.0**-14
"""Unit of RAPL's counters on most processors (Intel SDM 3B, 15.10.1)."""
_ACPI = "power_meter"
"""Name of the hwmon device of ACPI's power meter, which is the one that measures a whole host."""


class Rapl(Reader):
    """Energy counters of processor packages, of their memory, and of the platform if there is one."""

    def __init__(self, source: Dict[str, Any], place: ReaderPlaces) -> None:
        root = os.path.join(place.sys, "class/powercap")
        zones = sorted(name for name in _listed(root) if _RAPL.match(name))
        if not zones:
            raise ValueError("the kernel has no RAPL counters here ({})".format(root))
        self.meters = []
        self._counters: Dict[str, List[Any]] = {}
        for zone in zones:
            folder = os.path.join(root, zone)
            what = _text(os.path.join(folder, "name"))
            domain = _rapl_domain(what)
            if domain is None:
                continue
            file = os.path.join(folder, "energy_uj")
            wrap = int(_text(os.path.join(folder, "max_energy_range_uj"))) + 1
            name = "rapl-" + (what if domain == "package" else "{}-{}".format(what, _RAPL.match(zone).group(1)))  # type: ignore[union-attr]
            self._counters[name] = [file, wrap, int(_text(file)), 0]
            side = "dc" if domain == "node" else "chip"
            self.meters.append(
                self.header(
                    source, name=name, source=file, domain=domain, side=side, reading="counter", resolution=_RAPL_JOULES
                )
            )

    def read(self) -> Iterator[Tuple[str, Point]]:
        for name, counter in self._counters.items():
            file, wrap, before, total = counter
            now = int(_text(file))
            total += (now - before) % wrap
            counter[2:] = [now, total]
            yield name, {"joules": total / 1e6}


def _rapl_domain(name: str) -> Optional[str]:
    """Return the domain of a zone; None for the parts of a package, which would count twice."""
    if name.startswith("package"):
        return "package"
    return {"dram": "dram", "psys": "node"}.get(name)


class Hwmon(Reader):
    """ACPI's power meter: the power that the host draws from its supply."""

    def __init__(self, source: Dict[str, Any], place: ReaderPlaces) -> None:
        root = os.path.join(place.sys, "class/hwmon")
        found = [name for name in sorted(_listed(root)) if _text(os.path.join(root, name, "name")) == _ACPI]
        self.meters = []
        self._files: Dict[str, str] = {}
        for device in found:
            folder = os.path.join(root, device)
            if not os.path.exists(os.path.join(folder, "power1_average")):
                folder = os.path.join(folder, "device")  # Older kernels.
            file = os.path.join(folder, "power1_average")
            if not os.path.exists(file):
                continue
            name = "hwmon-{}".format(device)
            own = {"name": name, "source": file, "domain": "node", "side": "ac", "resolution": 1e-6}
            header = self.header(source, reading="instant", **own)
            period = os.path.join(folder, "power1_average_interval")
            if os.path.exists(period):
                header["reading"] = "mean"
                header["interval_seconds"] = max(header["interval_seconds"], int(_text(period)) / 1000)
            stated = os.path.join(folder, "power1_accuracy")
            if header["accuracy"] is None and os.path.exists(stated):
                header["accuracy"] = round(1 - float(_text(stated).rstrip("%")) / 100, 6)
            int(_text(file))
            self._files[name] = file
            self.meters.append(header)
        if not self.meters:
            raise ValueError("no power meter of ACPI in {}".format(root))

    def read(self) -> Iterator[Tuple[str, Point]]:
        for name, file in self._files.items():
            try:
                watts = int(_text(file)) / 1e6
            except (OSError, ValueError) as error:
                yield name, {"fault": str(error)}
                continue
            yield name, {"watts": watts} if watts > 0 else {"fault": "0 W"}


class SimulatedMeter(Reader):
    """A simulated energy counter: `idle` watts when nothing is busy, `busy` watts when every processor is, added up."""

    def __init__(self, source: Dict[str, Any], place: ReaderPlaces) -> None:
        self._idle, self._busy = float(source["idle"]), float(source["busy"])
        self._stat = os.path.join(place.proc, "stat")
        self._before, self._read, self._joules = self._times(), time.monotonic(), 0.0
        words = "simulated: {:g} W idle, {:g} W busy".format(self._idle, self._busy)
        own = {"name": source.get("name") or "simulated", "source": words, "domain": "node", "side": "ac"}
        self.meters = [self.header(source, reading="counter", resolution=0.0, **own)]
        self.meters[0]["quality"] = "simulated"

    def read(self) -> Iterator[Tuple[str, Point]]:
        busy, whole = self._times()
        passed, now = whole - self._before[1], time.monotonic()
        if passed > 0:
            share = (busy - self._before[0]) / passed
            self._joules += (self._idle + (self._busy - self._idle) * share) * (now - self._read)
            self._before, self._read = (busy, whole), now
        yield self.meters[0]["name"], {"joules": self._joules}

    def _times(self) -> Tuple[float, float]:
        with open(self._stat, encoding="ascii") as file:
            columns = [int(one) for one in file.readline().split()[1:9]]
        idle, waiting, stolen = columns[3], columns[4], columns[7]
        return float(sum(columns) - idle - waiting - stolen), float(sum(columns))


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def _listed(path: str) -> List[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
