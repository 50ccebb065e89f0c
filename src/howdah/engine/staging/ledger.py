"""The ledger of stages, finished or not: a file for each pair of source and target, in HOWDAH_HOME/stages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from howdah.engine.staging.listing import Listing
from howdah.store import howdah_home


@dataclass(frozen=True, slots=True)
class Entry:
    """A stage: `way` is `in` or `out`; `state` is `copying` or `done`. `cluster` tells its HDFS from every other one.
    `files` has bytes by path; `copied` of these bytes were not at the target when the last attempt began, which took
    `seconds`. `verified` is the evidence of the verification; None if there could be none. `rate` is bytes per second
    between the first and the last byte that came; None if HDFS does not tell.
    """

    way: str
    source: str
    target: str
    cluster: str
    state: str
    begun: float
    files: Mapping[str, int]
    copied: int = 0
    seconds: float | None = None
    rate: float | None = None
    verified: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(self.files.values())


def sizes(listing: Listing) -> Mapping[str, int]:
    """Return bytes by path."""
    return {name: file.bytes for name, file in sorted(listing.items())}


def place_of(way: str, source: str, target: str, cluster: str) -> Path:
    """Return the file of a stage in the ledger."""
    key = hashlib.sha256("\0".join((way, source, target, cluster)).encode()).hexdigest()[:16]
    return howdah_home() / "stages" / f"{way}-{key}.json"


def read(file: Path) -> Entry | None:
    """Return the entry in `file`; None if it is missing or cannot be read."""
    try:
        return Entry(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write(file: Path, entry: Entry) -> None:
    """Write `entry` to `file`, whole or not at all. Raises OSError."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(entry), indent=1) + "\n", encoding="utf-8")
    fresh.replace(file)
