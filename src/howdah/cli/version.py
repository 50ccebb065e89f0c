"""The output of `howdah --version`."""

from __future__ import annotations

from howdah import __version__
from howdah.hadoop.distribution.lock import PRIMARY, managed_versions
from howdah.host.source import commit


def version_lines() -> str:
    """Return the version and commit of this Howdah, and the Hadoop lines it was made for."""
    watched = ", ".join(f"{version} (watched)" for version in managed_versions() if version != PRIMARY)
    return f"howdah {__version__}, commit {commit() or 'unknown'}\nHadoop {PRIMARY} (primary), {watched}"
