"""Pi by quasi-Monte Carlo: a job that computes and moves nothing; Hadoop's examples."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import Untrusted, UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, Asked, Option, Session, Settings
from howdah.workload.counts import count

_ESTIMATE = re.compile(r"^Estimated value of Pi is ([0-9]{1,9}(?:\.[0-9]{1,40})?)$", re.MULTILINE)
_COUNTED = 1_000_000
"""The points up to which the answer is computed here too."""


class Pi:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "pi"
    title: ClassVar[str] = "Pi"
    summary: ClassVar[str] = "estimates pi from points of a Halton sequence: processors alone; Hadoop's examples"
    unit: ClassVar[str] = "samples"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 100_000, "small": 10**9, "large": 10**10}
    options: ClassVar[tuple[Option, ...]] = (MAPS,)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "pi/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._output = ""

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        size = asked.size_of(self)
        maps = asked.maps or count({**cluster, **asked.conf}, "mapreduce.job.maps", 2)
        if size < maps:
            raise UsageError(f"{size} samples are less than one for each of {maps} maps")
        # The program takes as many for every map.
        return {"size": size, "samples": size // maps * maps, "maps": maps, "conf": dict(asked.conf)}

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        return 0, 0

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        return {"generator": "halton", "samples": settings["samples"]}

    def run(self, session: Session, settings: Settings) -> None:
        maps, share = settings["maps"], settings["samples"] // settings["maps"]
        self._output = session.run(
            "pi", "run", session.programs.examples("pi", *session.programs.at_home(), str(maps), str(share))
        ).output

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        found = _ESTIMATE.findall(self._output)
        if len(found) != 1:
            raise Untrusted(f"the program printed {len(found)} estimates of pi, not one")
        return (judge(found[0], settings["samples"]),)


def judge(estimate: str, samples: int) -> Check:
    """Return a check that `estimate`, as printed, is the result of `samples` points.

    Up to a million points it must be the very number. Beyond, it must be as close to pi as one standard error of as
    many random points, `4 √(π/4 (1 − π/4) / n)`. A low-discrepancy sequence stays far below that (Niederreiter, Random
    Number Generation and Quasi-Monte Carlo Methods, 1992).
    """
    if samples <= _COUNTED:
        inside = round(float(estimate) * samples / 4)
        expected = points_inside(samples)
        return Check("answer", inside == expected, f"{inside} of {samples} points counted inside, {expected} are")
    error = abs(float(estimate) - math.pi)
    bound = 4 * math.sqrt(math.pi / 4 * (1 - math.pi / 4) / samples)
    return Check("answer", error <= bound, f"{estimate} is {error:.2g} from pi, {bound:.2g} is allowed")


def points_inside(samples: int) -> int:
    """Return how many of the points 1 to `samples` are in the circle inscribed in the unit square. The points are those
    of the Halton sequence with bases 2 and 3. The count is in whole numbers, so exact."""
    columns, width = _radical_inverses(2, samples)
    rows, height = _radical_inverses(3, samples)
    radius = (width * height) ** 2
    return sum(
        ((2 * x - width) * height) ** 2 + ((2 * y - height) * width) ** 2 <= radius
        for x, y in zip(columns, rows, strict=True)
    )


def _radical_inverses(base: int, most: int) -> tuple[list[int], int]:
    """Return the digits of 1 to `most` mirrored at the point: numerators, and their common denominator."""
    denominator = base
    while denominator <= most:
        denominator *= base
    mirrored, weight = [0], denominator
    while weight > 1:
        weight //= base
        mirrored = [value + digit * weight for digit in range(base) for value in mirrored]
    return mirrored[1 : most + 1], denominator
