"""Meters that are read by programs: BMCs by ipmitool, distribution units by snmpget."""

from __future__ import annotations

import os
import re
import select
import subprocess
import threading
import time
from typing import Any, Dict, Iterator, Optional, Tuple

from .power_reader import Point, Reader, ReaderPlaces

_PATIENCE = 10.0
"""Seconds that a program may take for one reading."""
_LAST = 3.0
"""Seconds that a program may take for its last reading, once it is to stop."""
_PATIENCE_OF_SNMP = 3.0
"""Seconds for a reading by snmpget, as for a last reading: snmpget itself gives up after two seconds."""
_REASON = 200
"""Letters of a program's output that are kept."""
_WRONG = re.compile(r"error|failed|unable|could not|invalid|no such", re.IGNORECASE)


class _Patience:
    """The time that a program may take, which gets shorter when the readings are to stop."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop, self._stopped = stop, 0.0

    def left(self, begun: float) -> float:
        """Return the seconds that are left for a reading that began at `begun`."""
        now = time.monotonic()
        if not self._stop.is_set():
            return begun + _PATIENCE - now
        self._stopped = self._stopped or now
        return min(begun + _PATIENCE, self._stopped + _LAST) - now

    def ready(self, pipe: Any, begun: float) -> bool:
        """Return whether a pipe has something to read in time."""
        while (left := self.left(begun)) > 0:
            if select.select([pipe], [], [], min(left, 0.5))[0]:
                return True
        return False


class Ipmi(Reader):
    """The BMC's reading by ipmitool: on the host itself, or at an `address` on the network. One ipmitool is asked again
    and again, because starting it and logging in takes a hundred times as long as a reading."""

    def __init__(self, source: Dict[str, Any], place: ReaderPlaces) -> None:
        self._patience = _Patience(place.stop)
        self._child: Optional["subprocess.Popen[bytes]"] = None
        self._command = ["ipmitool"]
        self._environ = {**os.environ, **({"IPMI_PASSWORD": source["password"]} if "password" in source else {})}
        if source.get("address"):
            self._command += ["-I", "lanplus", "-H", source["address"], "-U", source.get("user") or ""]
            self._command += ["-p", source["port"]] if source.get("port") else []
            self._command += ["-E"] if "password" in source else []
        self._command.append("shell")
        said = self._ask()
        if "fault" in said:
            self.close()
            raise ValueError(said["fault"])
        about = {"source": "ipmitool dcmi power reading", "domain": "node", "side": "ac", "reading": "instant"}
        self.meters = [self.header(source, name=source.get("name") or source["kind"], resolution=1.0, **about)]

    def read(self) -> Iterator[Tuple[str, Point]]:
        yield self.meters[0]["name"], self._ask()

    def close(self) -> None:
        if self._child is not None:
            self.program_seconds += _spent(self._child.pid)
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._child = None

    def _ask(self) -> Point:
        begun = time.monotonic()
        try:
            if self._child is None:
                self._child = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    bufsize=0,
                    env=self._environ,
                )
            assert self._child.stdin is not None
            self._child.stdin.write(b"dcmi power reading\n")
            text = self._answer(self._child, begun)
        except OSError as error:
            self.close()
            return {"fault": "ipmitool: {}".format(error.strerror)}
        if text is None:
            self.close()
            return {"fault": "ipmitool did not answer within {:.0f} s".format(time.monotonic() - begun)}
        point = parse_dcmi(text)
        wrong = [line.strip() for line in text.splitlines() if _WRONG.search(line)]
        if wrong and "fault" in point:
            self.close()
            return {"fault": "ipmitool: {}".format(wrong[-1][:_REASON])}
        return point

    def _answer(self, child: "subprocess.Popen[bytes]", begun: float) -> Optional[str]:
        """Return the output of ipmitool until it was done, or ended; None if that takes too long."""
        assert child.stdout is not None
        said = ""
        while self._patience.ready(child.stdout, begun):
            more = os.read(child.stdout.fileno(), 65536)
            said += more.decode(errors="replace")
            if not more:
                self.close()  # It has ended, and the next reading begins with another one.
            if not more or _DCMI_STATE.search(said) or _WRONG.search(said):
                return said
        return None


class Snmp(Reader):
    """One number of a distribution unit, read by snmpget, which finds names and passwords in the user's snmp.conf."""

    def __init__(self, source: Dict[str, Any], place: ReaderPlaces) -> None:
        self._program = place.program
        self._scale = float(source.get("scale", 1))
        reading = source.get("reading", "instant")
        self._column = "joules" if reading == "counter" else "watts"
        self._command = ["snmpget", "-Oqv", "-t", "1", "-r", "1", source["address"], source["oid"]]
        said = self._ask()
        if "fault" in said:
            raise ValueError(said["fault"])
        about = {"source": "snmp {}".format(source["oid"]), "domain": source.get("domain", "pdu"), "reading": reading}
        own = {"name": source.get("name") or source["kind"], "side": source.get("side", "ac")}
        self.meters = [self.header(source, resolution=self._scale, **about, **own)]

    def read(self) -> Iterator[Tuple[str, Point]]:
        yield self.meters[0]["name"], self._ask()

    def _ask(self) -> Point:
        try:
            ended = self._program(self._command, _PATIENCE_OF_SNMP, None, None, b"")
        except (OSError, TimeoutError) as error:
            return {"fault": "snmpget: {}".format(getattr(error, "strerror", None) or error)}
        self.program_seconds += ended["cpu_seconds"]
        text = ended["stdout"].decode(errors="replace").strip().strip('"')
        found = re.match(r"-?\d+(\.\d+)?", text)
        if ended["code"] or found is None:
            words = ended["stderr"].decode(errors="replace").strip().splitlines()[-1:] or [text or "it said nothing"]
            return {"fault": "snmpget ended with code {}: {}".format(ended["code"], words[0][:_REASON])}
        value = float(found.group(0)) * self._scale
        return {self._column: value} if value > 0 else {"fault": "{:g}".format(value)}


def _spent(pid: int) -> float:
    """Return the processor seconds of a running program; 0 if it has ended."""
    try:
        with open("/proc/{}/stat".format(pid), encoding="ascii", errors="replace") as file:
            columns = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(columns[11]) + int(columns[12])) / os.sysconf("SC_CLK_TCK")


_DCMI = re.compile(
    r"^\s*(?:Instantaneous power reading|Current Power)\s*:\s*(\d+)\s*watts?\s*$", re.IGNORECASE | re.MULTILINE
)
_DCMI_STATE = re.compile(
    r"^\s*(?:Power reading state is|Power Measurement)\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE
)


def parse_dcmi(text: str) -> Point:
    """Return the present power in the output of ipmitool, FreeIPMI's ipmi-dcmi or ipmiutil. Their mean is ignored,
    because its window may be days."""
    state, found = _DCMI_STATE.search(text), _DCMI.search(text)
    if state is not None and state.group(1).lower() not in ("activated", "active"):
        return {"fault": "the BMC's power reading is {}".format(state.group(1).lower())}
    if found is None:
        return {"fault": "the BMC's answer has no power reading"}
    watts = int(found.group(1))
    return {"watts": float(watts)} if watts > 0 else {"fault": "0 W"}
