"""Hosts that are simulated on this machine: each has a network, a name and processes of its own, and an ssh server.

Namespaces have no names here. They live as long as the processes in them, and all these die with the holder
(`holder.py`), however it ends. Only files can be left behind.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from howdah.errors import HostProblem
from howdah.host.supervise import Detached
from howdah.spec.simulation import Simulation

_PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "/usr/sbin/sshd": "openssh-server",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
}
"""Required programs, with the Debian package of each."""
_FOR_DISKS = {"mkfs.xfs": "xfsprogs", "losetup": "mount"}
_HOLDER = "howdah.host.simulation.holder"
_START_SECONDS = 60.0
_END_SECONDS = 20.0


@dataclass(frozen=True)
class Simulated:
    """Hosts that run: their addresses by name, and the configuration with which ssh reaches them. They stop with `end`,
    with the process that started them, or with their holder."""

    addresses: Mapping[str, str]
    config: str
    holder: int
    disks: Mapping[str, Sequence[Mapping[str, str]]]
    """Disks by host: the `directory` of each disk, which only that host has mounted, and its `device`."""
    _process: Detached
    _asking: threading.Lock = field(default_factory=threading.Lock)

    def disturb(self, kind: str, host: str, rate: float | None = None, resource: str = "network") -> None:
        """Inject a fault: `cut` takes a host's cable away, `join` gives it back. `slow` gives another `rate` to one
        `resource`: its card ("network", bits per second), its disks ("disk_rate", bytes per second of each) or its
        processors ("cpus"). `restore` gives all of them what they had. `disk` takes its last disk away. Raises
        HostProblem."""
        asked = {"do": kind, "host": host, "rate": rate, "resource": resource}
        with self._asking:
            try:
                self._process.to.write(json.dumps(asked).encode() + b"\n")
                self._process.to.flush()
                answer = json.loads(self._process.said.readline())
            except (OSError, ValueError) as error:
                raise HostProblem("the simulated hosts are gone", host=host) from error
        if "error" in answer:
            raise HostProblem(answer["error"], host=host)

    def leave(self) -> None:
        """Let the hosts outlive this process; `end` of their holder stops them then."""
        self._process.to.write(b'{"do": "stay"}\n')
        self._process.to.close()
        self._process.said.close()

    def end(self) -> None:
        """Stop the hosts with everything that runs on them, and remove their files; may be called twice."""
        if not _ended(self._process):
            raise HostProblem(f"the simulated hosts do not end (process {self.holder})")


def end(holder: int) -> None:
    """Stop hosts that were left. Raises HostProblem."""
    deadline = time.monotonic() + _END_SECONDS
    with suppress(ProcessLookupError):
        os.kill(holder, signal.SIGTERM)
    while runs(holder):
        if time.monotonic() > deadline:
            raise HostProblem(f"the simulated hosts do not end (process {holder})")
        time.sleep(0.02)


def check_possible(wish: Simulation | None = None) -> None:
    """Raise HostProblem if this machine cannot simulate hosts, or not those that are wished for."""
    if os.geteuid() != 0:
        raise HostProblem(
            "simulated hosts need root, which makes their networks",
            hint="--on channels:N needs no root, and has no network.",
        )
    needed = {**_PROGRAMS, **(_FOR_DISKS if wish is not None and wish.disks else {})}
    missing = {name: package for name, package in needed.items() if shutil.which(name) is None}
    if missing:
        raise HostProblem(
            f"simulated hosts need {', '.join(sorted(missing))}",
            hint=f"apt install {' '.join(sorted(set(missing.values())))}",
        )


def start(directory: Path, names: Sequence[str], wish: Simulation) -> Simulated:
    """Start hosts with these names and the wished properties, with their files in `directory`. Raises HostProblem;
    nothing runs then.

    The hosts stop when this process does.
    """
    check_possible(wish)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(mode=0o700, parents=True)
    log = directory / "holder.log"
    process = Detached((sys.executable, "-P", "-m", _HOLDER), log)
    asked = json.dumps({"directory": str(directory), "names": list(names), "wish": asdict(wish)})
    timer = threading.Timer(_START_SECONDS, process.to.close)
    timer.daemon = True
    timer.start()
    try:
        with suppress(BrokenPipeError):  # It has ended already, and has said why.
            process.to.write(asked.encode() + b"\n")
            process.to.flush()
        said = process.said.readline()
    finally:
        timer.cancel()
    answer: dict[str, Any] = json.loads(said) if said else {"error": _words(log)}
    if "error" in answer:
        _ended(process)
        raise HostProblem(f"hosts cannot be simulated here: {answer['error']}")
    return Simulated(answer["addresses"], answer["config"], process.pid, answer["disks"], process)


def _words(log: Path) -> str:
    """Return why there was no answer."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.exists() else []
    return next((line for line in reversed(lines) if line.strip()), f"there were none within {_START_SECONDS:.0f} s")


def _ended(process: Detached) -> bool:
    """Stop a holder; return whether it has stopped."""
    with suppress(OSError):  # It has ended, and what could not be written is in the buffer.
        process.to.close()
    code = process.wait(_END_SECONDS)
    process.said.close()
    return code is not None


def runs(holder: int) -> bool:
    """Return whether the hosts of that holder run; its process ID may be another process's by now."""
    try:
        return _HOLDER.encode() in Path(f"/proc/{holder}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
