"""Howdah as a user types it, and a look at the processes that it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah.host.agent.children import descendants


@dataclass(frozen=True, slots=True)
class Said:
    """A command that has ended."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    def ok(self) -> Said:
        """Itself, if it ended well."""
        assert self.code == 0, f"{' '.join(self.argv)} ended with {self.code}:\n{self.out[-2000:]}\n{self.err[-4000:]}"
        return self

    def json(self) -> Any:
        return json.loads(self.ok().out)


class Howdah:
    """Runs `howdah ARGS…` with a HOWDAH_HOME of the tests' own."""

    command: tuple[str, ...] = (str(Path(sys.executable).with_name("howdah")),)
    directory: Path | None = None
    """Where it is run; None is where the tests are."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(self, *args: str, stdin: str = "", env: Mapping[str, str] | None = None, timeout: float = 400) -> Said:
        environment = {**self.environment, **(env or {})}
        return run([*self.command, *args], stdin=stdin, env=environment, timeout=timeout, cwd=self.directory)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "HOWDAH_HOME": str(self.home)}

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Starts `howdah ARGS…` and does not wait."""
        return subprocess.Popen(
            [*self.command, *args],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )


def run(
    argv: list[str], *, env: Mapping[str, str], stdin: str = "", timeout: float = 400, cwd: Path | None = None
) -> Said:
    """Runs a command to its end."""
    done = subprocess.run(
        argv, input=stdin, env=dict(env), capture_output=True, text=True, timeout=timeout, check=False, cwd=cwd
    )
    return Said(tuple(argv), done.returncode, done.stdout, done.stderr)


def processes_of(directory: Path) -> list[str]:
    """Every live process that names `directory` in its command line or environment, as `PID COMMAND`."""
    found = []
    needle = str(directory).encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            if needle in command or needle in (entry / "environ").read_bytes():
                found.append(f"{entry.name} {command.replace(bytes(1), b' ').decode(errors='replace')[:200]}")
        except OSError:
            continue
    return found


def below(pids: Iterable[int]) -> dict[int, str]:
    """The command lines of `pids` and of everything below them."""
    found = {}
    for root in pids:
        for pid in (root, *descendants(root)):
            try:
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(bytes(1), b" ").decode(errors="replace")
            except OSError:
                continue
    return found


def archives_of(pid: int) -> set[str]:
    """The class archives that process `pid` has mapped, beside the JDK's own."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    except OSError:
        return set()
    return {line.split()[-1] for line in maps.splitlines() if line.endswith(".jsa") and "/archives/" in line}


def listening(pids: Iterable[int]) -> set[tuple[str, int]]:
    """(address, port) of every TCP socket on which `pids` listen, as `ss` sees them; `::` is every address."""
    wanted = {f"pid={pid}," for pid in pids}
    lines = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines()
    sockets = set()
    for line in lines:
        if any(pid in line for pid in wanted):
            address, _, port = line.split()[3].rpartition(":")
            sockets.add((address.strip("[]").removeprefix("::ffff:").replace("*", "::"), int(port)))
    return sockets
