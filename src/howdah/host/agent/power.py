"""What can be asked on a host about power: RAPL, hwmon, a BMC by ipmitool, SNMP; or a simulation of it.

Records are {"meter": NAME, "header": {...}} once for each meter that is there, {"meter": NAME, "utc", "monotonic"} with
`watts` or `joules` for each reading, or with `fault` and its words where a reading cannot be one; and {"absent": KIND,
"why"} for what is not there. A meter that is absent has no readings, and none is ever 0 for want of one.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

_PATIENCE = 10.0
"""Seconds that a program may take for one reading."""
_LAST = 3.0
"""Seconds that it may take for the last one, once it is to end."""
_RAPL = re.compile(r"intel-rapl:(\d+)(:\d+)?$")  # AMD's processors are there under the same name.
_RAPL_JOULES = 2.0**-14
"""The unit of RAPL's counters on most processors (Intel SDM 3B, 15.10.1)."""
_ACPI = "power_meter"
"""The name of the hwmon device of ACPI's power meter, which is the one that tells what a whole host draws."""

Point = Dict[str, Any]


def run(
    emit: Callable[[List[Dict[str, Any]]], None],
    stop: threading.Event,
    *,
    sources: List[Dict[str, Any]],
    sys: str = "/sys",
    proc: str = "/proc",
) -> Dict[str, Any]:
    """Emits the meters that the `sources` have, then their readings until `stop`, each source at its own interval.

    A source is {"kind", "interval", "accuracy"} with what its kind needs.
    Returns the `cpu_seconds` that it took, of programs, too.
    """
    spent: List[float] = []
    threads = [
        threading.Thread(target=_observe, args=(emit, source, _Place(sys, proc, stop), spent), daemon=True)
        for source in sources
    ]
    for thread in threads:
        thread.start()
    stop.wait()
    for thread in threads:
        thread.join(_LAST + 1.0)  # A program that hangs is ended by its own thread.
    return {"cpu_seconds": sum(spent)}


def _observe(
    emit: Callable[[List[Dict[str, Any]]], None],
    source: Dict[str, Any],
    place: "_Place",
    spent: List[float],
) -> None:
    kind, interval = source["kind"], float(source["interval"])
    used = time.thread_time()
    try:
        reader = _READERS[kind](source, place)
    except (OSError, ValueError) as error:
        emit([{"absent": kind, "why": str(error)}])
        return
    headers = [{"meter": one["name"], "header": one} for one in reader.meters]
    emit(headers)
    start, tick = time.monotonic(), 0
    while True:
        ended = place.stop.is_set()
        points = [{"meter": name, **_now(), **said} for name, said in _readings(reader)]
        if points:
            emit(points)
        if ended:
            break
        tick = max(tick + 1, int((time.monotonic() - start) / interval))
        place.stop.wait(start + tick * interval - time.monotonic())
    spent.append(time.thread_time() - used + reader.program_seconds)


def _now() -> Point:
    return {"utc": time.time(), "monotonic": time.monotonic()}


def _readings(reader: "_Reader") -> List[Tuple[str, Point]]:
    """One reading of each meter; a fault of each where the reader cannot read."""
    try:
        return list(reader.read())
    except (OSError, ValueError) as error:
        return [(meter["name"], {"fault": str(error)}) for meter in reader.meters]


class _Place:
    """Where a reader looks, and the event that ends it."""

    def __init__(self, sys: str, proc: str, stop: threading.Event) -> None:
        self.sys, self.proc, self.stop = sys, proc, stop


class _Reader:
    """`meters` are the headers of what it reads, without the hosts that they cover."""

    program_seconds = 0.0
    meters: List[Dict[str, Any]]

    def read(self) -> Iterator[Tuple[str, Point]]:
        """The name of a meter and its reading, `watts`, `joules` or `fault`; for each meter that has one now."""
        raise NotImplementedError

    def _header(self, given: Dict[str, Any], **own: Any) -> Dict[str, Any]:
        return {
            "interval_seconds": float(given["interval"]),
            "accuracy": given.get("accuracy"),
            "clock": "host",
            "offset_error": 0.0,
            "quality": "measured",
            **own,
        }


class _Rapl(_Reader):
    """Energy counters of processor packages, of their memory, and of the platform where there is one."""

    def __init__(self, source: Dict[str, Any], place: _Place) -> None:
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
                self._header(
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
    """What a zone is about; None for the parts of a package, which would count twice."""
    if name.startswith("package"):
        return "package"
    return {"dram": "dram", "psys": "node"}.get(name)


class _Hwmon(_Reader):
    """ACPI's power meter: what the host draws from its supply."""

    def __init__(self, source: Dict[str, Any], place: _Place) -> None:
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
            header = self._header(source, reading="instant", **own)
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


class _Program(_Reader):
    """A meter that a program asks."""

    def __init__(self, source: Dict[str, Any], place: _Place) -> None:
        self._stop, self._stopped = place.stop, 0.0
        self._command, about = self._asked(source)
        said = self._ask()
        if "fault" in said:
            raise ValueError(said["fault"])
        self.meters = [self._header(source, name=source.get("name") or source["kind"], **about)]

    def read(self) -> Iterator[Tuple[str, Point]]:
        yield self.meters[0]["name"], self._ask()

    def _asked(self, source: Dict[str, Any]) -> Tuple[List[str], Dict[str, Any]]:
        """The command, and what of the header it decides."""
        raise NotImplementedError

    def _said(self, text: str) -> Point:
        """The reading in what the command printed."""
        raise NotImplementedError

    def _ask(self) -> Point:
        program = self._command[0]
        try:
            child = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            return {"fault": "{}: {}".format(program, error.strerror)}
        begun = time.monotonic()
        while child.poll() is None and time.monotonic() - begun < self._patience(begun):
            time.sleep(0.02)
        if child.poll() is None:
            child.kill()
            child.communicate()
            return {"fault": "{} did not answer within {:.0f} s".format(program, time.monotonic() - begun)}
        out, said = child.communicate()
        point = {} if child.returncode else self._said(out.decode(errors="replace"))
        lines = said.decode(errors="replace").strip().splitlines()
        if child.returncode or ("fault" in point and lines):  # ipmitool's code may be 0 where it could not log in.
            last = lines[-1][:200] if lines else "it said nothing"
            return {"fault": "{} ended with code {}: {}".format(program, child.returncode, last)}
        return point

    def _patience(self, begun: float) -> float:
        """How long a program that was started then may take, known as it goes on."""
        if not self._stop.is_set():
            return _PATIENCE
        self._stopped = self._stopped or time.monotonic()
        return min(_PATIENCE, max(0.0, self._stopped - begun) + _LAST)


class _Ipmi(_Program):
    """What the BMC says, asked by ipmitool: on the host itself, or at an `address` by the network."""

    def _asked(self, source: Dict[str, Any]) -> Tuple[List[str], Dict[str, Any]]:
        command, asked = ["ipmitool"], ["dcmi", "power", "reading"]
        if source.get("address"):
            command += ["-I", "lanplus", "-H", source["address"], "-U", source.get("user") or ""]
            command += ["-p", source["port"]] if source.get("port") else []
            command += ["-f", source["password_file"]] if source.get("password_file") else []
        about = {"source": "ipmitool " + " ".join(asked), "domain": "node", "side": "ac", "reading": "instant"}
        return command + asked, {**about, "resolution": 1.0}

    def _said(self, text: str) -> Point:
        return parse_dcmi(text)


class _Snmp(_Program):
    """One number of a distribution unit, asked by snmpget, which finds names and passwords in the user's snmp.conf."""

    def _asked(self, source: Dict[str, Any]) -> Tuple[List[str], Dict[str, Any]]:
        self._scale = float(source.get("scale", 1))
        reading = source.get("reading", "instant")
        self._column = "joules" if reading == "counter" else "watts"
        command = ["snmpget", "-Oqv", "-t", "2", "-r", "1", source["address"], source["oid"]]
        about = {"source": "snmp {}".format(source["oid"]), "domain": source.get("domain", "pdu"), "reading": reading}
        return command, {**about, "side": source.get("side", "ac"), "resolution": self._scale}

    def _said(self, text: str) -> Point:
        found = re.match(r"-?\d+(\.\d+)?", text.strip().strip('"'))
        if found is None:
            return {"fault": "snmpget: {}".format(text.strip()[:200] or "no value")}
        value = float(found.group(0)) * self._scale
        return {self._column: value} if value > 0 else {"fault": "{:g}".format(value)}


_DCMI = re.compile(
    r"^\s*(?:Instantaneous power reading|Current Power)\s*:\s*(\d+)\s*watts?\s*$", re.IGNORECASE | re.MULTILINE
)
_DCMI_STATE = re.compile(
    r"^\s*(?:Power reading state is|Power Measurement)\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE
)


def parse_dcmi(text: str) -> Point:
    """The reading in what ipmitool, FreeIPMI's ipmi-dcmi or ipmiutil print: what is drawn now. Their mean is over a
    window that may be days; it is left alone."""
    state, found = _DCMI_STATE.search(text), _DCMI.search(text)
    if state is not None and state.group(1).lower() not in ("activated", "active"):
        return {"fault": "the BMC's power reading is {}".format(state.group(1).lower())}
    if found is None:
        return {"fault": "the BMC's answer has no power reading"}
    watts = int(found.group(1))
    return {"watts": float(watts)} if watts > 0 else {"fault": "0 W"}


class _Simulated(_Reader):
    """So many watts when nothing is busy, and so many when every processor is: a mean since the reading before."""

    def __init__(self, source: Dict[str, Any], place: _Place) -> None:
        self._idle, self._busy = float(source["idle"]), float(source["busy"])
        self._stat = os.path.join(place.proc, "stat")
        self._before = self._times()
        words = "simulated: {:g} W idle, {:g} W busy".format(self._idle, self._busy)
        own = {"name": source.get("name") or "simulated", "source": words, "domain": "node", "side": "ac"}
        self.meters = [self._header(source, reading="mean", resolution=0.0, **own)]
        self.meters[0]["quality"] = "simulated"

    def read(self) -> Iterator[Tuple[str, Point]]:
        busy, whole = self._times()
        passed = whole - self._before[1]
        if passed <= 0:
            return
        share = (busy - self._before[0]) / passed
        self._before = (busy, whole)
        yield self.meters[0]["name"], {"watts": self._idle + (self._busy - self._idle) * share}

    def _times(self) -> Tuple[float, float]:
        with open(self._stat, encoding="ascii") as file:
            columns = [int(one) for one in file.readline().split()[1:9]]
        idle, waiting, stolen = columns[3], columns[4], columns[7]
        return float(sum(columns) - idle - waiting - stolen), float(sum(columns))


_READERS: Dict[str, Callable[[Dict[str, Any], _Place], _Reader]] = {
    "rapl": _Rapl,
    "hwmon": _Hwmon,
    "ipmi": _Ipmi,
    "snmp": _Snmp,
    "simulated": _Simulated,
}


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def _listed(path: str) -> List[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
