"""A measured number, and its moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MACHINE = "machine"
"""The role of a sample about a whole host."""

DISKS = "+"
"""The separator in the role of a sample about several disks together: `sda+sdb`."""

Quality = Literal["measured", "derived", "estimated", "simulated", "imported"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time on one host: `utc` in seconds since 1970, `monotonic` in seconds of that host's own clock."""

    utc: float
    monotonic: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured number. Missing is missing: a value that was not measured has no sample.

    `phase` is None for the whole run. `host` is the machine. `role` is the part of the host (a Hadoop role such as
    `datanode`, `job`, `client`, `machine`, or disks: `vda`). `source` says where the number was read, with the formula
    if derived.
    """

    metric: str
    value: float
    unit: str
    quality: Quality
    source: str
    host: str
    role: str
    phase: str | None
    moment: Moment

    def is_of(self, phase: str, metric: str) -> bool:
        """Return whether the sample is of a phase's `metric`, which may have a role: `energy@node`."""
        name, _, role = metric.partition("@")
        return (self.phase, self.metric) == (phase, name) and role in ("", self.role)
