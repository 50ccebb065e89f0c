"""The software that jobs need and that nodes without this machine's files lack: Spark."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

from howdah.hadoop.distribution.spark import Spark
from howdah.storage import Storage

_ROOT = "/howdah/software"


def stored_spark(storage: Storage, spark: Spark) -> str:
    """Return the URI of Spark's jars in `storage`: one archive (456 MB for 4.0), which is written if it is missing.
    Every node fetches it once, for the first job that needs it. Raises ClusterProblem."""
    jars = sorted((spark.home / "jars").glob("*.jar"))
    listing = "".join(f"{jar.name} {jar.stat().st_size}\n" for jar in jars)
    name = f"spark-{spark.version}-{hashlib.sha256(listing.encode()).hexdigest()[:12]}.zip"
    path = f"{_ROOT}/{name}"
    if name not in storage.files(_ROOT):
        storage.write(f"{path}.part", _archive(jars))
        storage.rename(f"{path}.part", path)
    return storage.uri(path)


def _archive(jars: list[Path]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for jar in jars:
            archive.write(jar, jar.name)
    return content.getvalue()
