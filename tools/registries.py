"""Fail when a file of the repository names the host of a package registry.

The machine chooses where packages come from (its pip, Maven and apt settings), never the repository. A mirror or an
offline machine must work without a change. The names are in pieces here, because this file is checked as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {".git", ".venv", ".build", ".ruff_cache", ".hypothesis", "__pycache__", "target"}
HOSTS = [
    ".".join(pieces).encode()
    for pieces in (
        ("pypi", "org"),
        ("pypi", "python", "org"),
        ("pythonhosted", "org"),
        ("anaconda", "org"),
        ("repo", "maven", "apache", "org"),
        ("repo1", "maven", "org"),
        ("repository", "apache", "org"),
        ("sonatype", "com"),
        ("sonatype", "org"),
        ("plugins", "gradle", "org"),
        ("jitpack", "io"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
        ("ftp", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
    )
]


def main() -> int:
    found = [f"{file.relative_to(ROOT)} names {host.decode()}" for file in _files(ROOT) for host in _named(file)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


def _named(file: Path) -> Iterator[bytes]:
    content = file.read_bytes().lower()
    return (host for host in HOSTS if host in content)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path


if __name__ == "__main__":
    sys.exit(main())
