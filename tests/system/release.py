"""Builds of a release, Pythons to install it with, and an installed Howdah."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.system.running import Howdah

ROOT = Path(__file__).resolve().parents[2]
JARS = "src/howdah/jars"
_MADE = shutil.ignore_patterns(".venv", ".build", "dist", "target", "jars", "__pycache__", ".hypothesis")


def copied_tree(to: Path) -> Path:
    """A copy of this source tree without what was built, in which every file is new and nobody else's business."""
    shutil.copytree(ROOT, to, ignore=_MADE, copy_function=shutil.copy, symlinks=True)
    for path in to.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
    return to


def release(tree: Path, out: Path) -> Path:
    """The directory `out`, with what `make dist` makes of a tree whose jars are there."""
    subprocess.run([sys.executable, tree / "tools/dist.py", out], check=True, capture_output=True)
    return out


def wheel_of(directory: Path) -> Path:
    [wheel] = directory.glob("howdah-*.whl")
    return wheel


def find_python(version: str) -> str | None:
    """A Python of `version`, as 3.12, that can make environments: on the PATH, or one of pyenv's or of uv's."""
    places = (
        (Path.home() / ".pyenv/versions", f"{version}.*/bin/python"),
        (Path.home() / ".local/share/uv/python", f"cpython-{version}.*/bin/python"),
    )
    found = [shutil.which(f"python{version}")]
    found += [str(python) for folder, pattern in places for python in sorted(folder.glob(pattern))]
    check = f"import ensurepip, sys, venv; sys.exit('{version}' != '%d.%d' % sys.version_info[:2])"
    for python in filter(None, found):
        if subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0:
            return python
    return None


class Installed(Howdah):
    """Howdah in a virtual environment of its own, which `pip` fills; it is run in an empty directory, as by a user who
    has no repository."""

    def __init__(self, home: Path, place: Path, python: str) -> None:
        super().__init__(home)
        self._place = place
        self._python = place / "venv/bin/python"
        self.command = (str(place / "venv/bin/howdah"),)
        self.directory = place / "empty"
        self.directory.mkdir(parents=True)
        subprocess.run([python, "-m", "venv", place / "venv"], check=True, capture_output=True)

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return {**kept, "HOWDAH_HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    def pip(self, *arguments: str) -> str:
        command = [str(self._python), "-m", "pip", "--disable-pip-version-check", *arguments]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def files(self) -> Iterator[Path]:
        """What pip has installed of Howdah."""
        return (self._place / "venv").glob("**/howdah*")
