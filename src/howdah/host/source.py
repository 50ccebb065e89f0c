"""The commit that this Howdah was built from."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

RECORD = "commit.txt"
"""File of the package that names the commit; `tools/build_hook.py` puts it into wheels and source distributions."""

_GIT_SECONDS = 10.0


def commit(package: Path = PACKAGE) -> str | None:
    """Return the full hash of the commit that `package` was built from, or of the checkout that it is part of. The hash
    is followed by `-dirty` if files differ from that commit. None if neither a record nor git knows the commit."""
    record = package / RECORD
    if record.is_file():
        return record.read_text(encoding="utf-8").strip()
    checkout = package.parents[1]
    if not (checkout / ".git").exists():
        return None  # Installed without a record, perhaps below a repository that is not Howdah's.
    status = ["git", "-C", str(checkout), "status", "--porcelain=v2", "--branch"]
    try:
        done = subprocess.run(status, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()
    found = [line.split()[-1] for line in lines if line.startswith("# branch.oid ")]
    return found[0] + ("-dirty" if any(not line.startswith("#") for line in lines) else "") if found else None
