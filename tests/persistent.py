"""Data of HDFS in a directory, as a cluster leaves them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from howdah.cluster.deployment.persistence import RECORD, Persistent
from howdah.host.user import process_user


def data(directory: Path, nodes: int = 2, **changes: Any) -> Path:
    """Data as a cluster of so many nodes leaves them."""
    record = Persistent(1, "3.4.2", nodes, process_user(), 1.0, 2.0, ("a", "b"))
    for name in ("name", *(f"node{number}" for number in range(1, nodes + 1))):
        (directory / name / "current").mkdir(parents=True)
        (directory / name / "current" / "VERSION").write_text("#comment\nclusterID=CID-1\nlayoutVersion=-67\n")
    directory.chmod(0o700)
    image = directory / "name" / "current" / "fsimage_0000000000000000000"
    image.write_bytes(b"image")
    Path(f"{image}.md5").write_text(f"{hashlib.md5(b'image').hexdigest()} *{image.name}\n")
    (directory / RECORD).write_text(json.dumps(asdict(replace(record, **changes))))
    return directory
