"""Build a release: the wheel, the source distribution, each plugin jar under its version, and their SHA-256.

.venv/bin/python tools/dist.py [DIR]

DIR is `dist` by default; files of an earlier build are removed from it. The jars must have been built. The archives
have the time of the commit, so that one commit gives one sequence of bytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ("howdah-accelerator", "howdah-filesystem")
SUMS = "SHA256SUMS"


def main(out: Path) -> None:
    """Fill the directory `out` and print its contents."""
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("howdah-*"), *out.glob(SUMS)):
        old.unlink()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(out)],
        cwd=ROOT,
        env={**os.environ, **_commit_time()},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    [wheel] = out.glob("howdah-*.whl")
    version = wheel.name.split("-")[1]
    for name in PLUGINS:
        shutil.copyfile(ROOT / "src/howdah/jars" / f"{name}.jar", out / f"{name}-{version}.jar")
    files = sorted(out.glob("howdah-*"))
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (out / SUMS).write_text(sums, encoding="utf-8")
    print(sums, end="")


def _commit_time() -> dict[str, str]:
    """Return the variable that sets the time for build tools; empty if git does not know the commit."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"SOURCE_DATE_EPOCH": done.stdout.strip()} if done.returncode == 0 else {}


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["dist"]))
