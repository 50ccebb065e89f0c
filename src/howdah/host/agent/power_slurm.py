"""The energy that Slurm accounts to the step of the agents: a counter of all of its nodes."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .power_reader import Point, Reader, ReaderPlaces

_PATIENCE = 3.0
"""Seconds for one answer of Slurm."""
_REASON = 200
"""Letters of a program's output that are kept."""
_PLUGINS = {
    "rapl": ("package", "chip"),
    "ipmi": ("node", "ac"),
    "xcc": ("node", "ac"),
    "ibmaem": ("node", "ac"),
    "pm_counters": ("node", "dc"),
    "cray_aries": ("node", "dc"),
}
"""The part that each plugin of Slurm measures, and the side of the power supply."""


class SlurmMeter(Reader):
    """The energy of the step that this agent is a task of, by sstat. Only a changed value is a reading: Slurm repeats
    the old one until it has read its meters again."""

    def __init__(self, source: Dict[str, Any], place: ReaderPlaces) -> None:
        self._program = place.program
        step = _step(os.environ)
        if step is None:
            raise ValueError("the agents are in no step of a job")
        nodes = os.environ.get("SLURM_STEP_NUM_NODES")
        if nodes != str(source["run_hosts"]):
            raise ValueError("the step has {} nodes, and the run {} hosts".format(nodes, source["run_hosts"]))
        domain, side = self._measured()
        self._command = ["sstat", "--noheader", "--parsable2", "--noconvert", "--format=ConsumedEnergyRaw", "-j", step]
        self._before = 0.0
        about = {"source": "sstat {}".format(step), "domain": domain, "side": side, "reading": "counter"}
        name = source.get("name") or source["kind"]
        # A value is up to one interval older than it looks.
        self.meters = [self.header(source, name=name, resolution=1.0, **about, offset_error=float(source["interval"]))]

    def read(self) -> Iterator[Tuple[str, Point]]:
        joules = parse_sstat(self._ask(self._command))
        if joules == 0:
            yield self.meters[0]["name"], {"fault": "0 J"}
        elif joules != self._before:
            self._before = joules
            yield self.meters[0]["name"], {"joules": joules}

    def _measured(self) -> Tuple[str, str]:
        """Return what Slurm measures here. Raises ValueError if it measures nothing, or nothing that counts."""
        said = self._ask(["scontrol", "show", "config"])
        match = re.search(r"^AcctGatherEnergyType\s*=\s*(?:acct_gather_energy/)?(\S+)", said, re.MULTILINE)
        kind = "(null)" if match is None else match.group(1)
        if kind not in _PLUGINS:
            raise ValueError("AcctGatherEnergyType of this Slurm is {}: it has no energy of nodes".format(kind))
        return _PLUGINS[kind]

    def _ask(self, command: List[str]) -> str:
        try:
            ended = self._program(command, _PATIENCE, None, None, b"")
        except TimeoutError:
            raise ValueError("{} did not answer within {:.0f} s".format(command[0], _PATIENCE)) from None
        except OSError as error:
            raise ValueError("{}: {}".format(command[0], error.strerror)) from None
        self.program_seconds += ended["cpu_seconds"]
        if ended["code"]:
            words = ended["stderr"].decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise ValueError("{} ended with code {}: {}".format(command[0], ended["code"], words[0][:_REASON]))
        return str(ended["stdout"].decode(errors="replace"))


def _step(environ: Any) -> Optional[str]:
    """Return the step of a task with this environment, which slurmstepd sets on every node; None for other programs."""
    job, step = environ.get("SLURM_JOB_ID"), environ.get("SLURM_STEP_ID")
    return "{}.{}".format(job, step) if job and step else None


def parse_sstat(text: str) -> float:
    """Return the joules in the only line of `sstat --format=ConsumedEnergyRaw`; 0 if Slurm counts none. Raises
    ValueError for other output."""
    lines = text.split()
    if len(lines) != 1 or not re.fullmatch(r"\d+", lines[0]):
        raise ValueError("sstat said {!r}, and no energy of one step".format(text.strip()[:_REASON]))
    # 0, and the largest of 64 bits less one or two, are Slurm's words for no value.
    joules = int(lines[0])
    return 0.0 if joules >= (1 << 64) - 4 else float(joules)
