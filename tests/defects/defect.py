"""What a planted defect is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Defect:
    """A mistake that somebody could make in the product, and the tests that must notice it.

    `promise` is what users are told and the mistake breaks. In `file`, a path from the root of the repository, `old`
    occurs once and is replaced by `new`. Each of `tests` is a node of pytest (`tests/unit/x/test_y.py::test_z`, with
    its parameters or without) or a JUnit method (`module:ClassTest#method`).
    """

    name: str
    promise: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def in_java(self) -> bool:
        """Whether Maven must compile the mistake."""
        return self.file.endswith(".java")

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change with everything the defect says."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]
