"""CPU time of a cluster's processes as the kernel accounts it, read at one moment without waiting for any to end.

A process counts while it is there, and after that in its parent, which has waited for it. An application master stays
for five seconds after its job (`MRAppMaster.shutDownJob`, 3.4.2) and then uses another 0.1 s. Containers that run at a
reading are therefore followed until they have ended, so that the caller can charge that time to their own job.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set

_TICK = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.02
"""Seconds between two looks: the most CPU time of a container that can be missed at its end. A look costs 0.02 ms for
each process."""
_FOLLOW_SECONDS = 30.0
_MOST_LOOKS = 20

# Fields 3 to 22 of proc(5)'s stat, the state as 0: so ppid is at 1, utime and stime at 11 and 12, cutime and cstime at
# 13 and 14, and starttime at 19.
_Stat = List[int]


class Accounts:
    """The CPU time of processes and of the containers below them. Several threads may call its methods."""

    def __init__(self, stat_of: "Callable[[int], Optional[_Stat]] | None" = None) -> None:
        self._stat_of = stat_of or _stat_of
        self._lock = threading.Lock()
        self._containers: Dict[str, _Container] = {}
        self._until = 0.0
        self._follower: Optional[threading.Thread] = None

    def cpu(self, pids: List[int], managers: List[int]) -> Dict[str, Any]:
        """Return the CPU seconds of each process of `pids`, with all its descendants and all processes that it has
        waited for. Processes that are gone are left out. `pids` are all processes that their agent has started.

        A container is everything that descends from a child of one of `managers`. A container whose parent was killed
        comes to the agent that started `pids`. `adopted` is the CPU seconds of those that run there, and of those that
        the agent has waited for. `containers` is the CPU seconds so far of every container that has run at a reading,
        `running` which of them run. `steady` is whether no process ended during the reading; if it is false, some may
        count twice.
        """
        with self._lock:
            table, steady = _steady(pids)
            below = _children(table)
            starters = {table[pid][1] for pid in pids if pid in table and table[pid][1] > 1}  # Not init.
            orphans = _descendants(below, starters) - _descendants(below, pids) - set(pids)
            self._find(table, below, [one for pid in managers for one in below.get(pid, [])])
            self._find(table, below, orphans)
            for container in self._containers.values():
                container.look(table.get)
            waited = sum(_waited(table[pid]) for pid in starters if pid in table)
            answer = {
                "seconds": {
                    pid: sum(_used(table[one]) for one in (pid, *_descendants(below, [pid]))) / _TICK
                    for pid in pids
                    if pid in table
                },
                "adopted": (waited + sum(_used(table[pid]) for pid in orphans)) / _TICK,
                "containers": {name: one.ticks / _TICK for name, one in self._containers.items()},
                "running": [name for name, one in self._containers.items() if one.running],
                "steady": steady,
            }
            self._until = time.monotonic() + _FOLLOW_SECONDS
            if answer["running"] and self._follower is None:
                self._follower = threading.Thread(target=self._follow, daemon=True)
                self._follower.start()
        return answer

    def _find(self, table: Mapping[int, _Stat], below: Mapping[int, List[int]], roots: Iterable[int]) -> None:
        known = {pid for one in self._containers.values() for pid in one.members}
        for root in sorted(set(roots) - known):
            members = {root, *_descendants(below, [root])} - known
            self._containers["{}-{}".format(root, table[root][19])] = _Container({pid: table[pid] for pid in members})
            known |= members

    def _follow(self) -> None:
        while True:
            time.sleep(_POLL_SECONDS)
            with self._lock:
                for container in self._containers.values():
                    container.look(self._stat_of)
                running = any(one.running for one in self._containers.values())
                if not running or time.monotonic() > self._until:
                    self._follower = None
                    return


class _Container:
    """Processes with a common ancestor, whoever their parent is now. `ticks` is their CPU time at the last look."""

    def __init__(self, members: Dict[int, _Stat]) -> None:
        self.members = members
        self._ended = 0

    @property
    def running(self) -> bool:
        return bool(self.members)

    @property
    def ticks(self) -> int:
        return self._ended + sum(_used(stat) for stat in self.members.values())

    def look(self, stat_of: Callable[[int], Optional[_Stat]]) -> None:
        gone = {pid: stat for pid, stat in self.members.items() if not self._there(pid, stat_of)}
        self.members = {pid: stat for pid, stat in self.members.items() if pid not in gone}
        for stat in gone.values():
            parent = stat[1]
            while parent in gone:
                parent = gone[parent][1]
            # An ancestor that is still there, looked at after those below it had gone, has their time in its own.
            if parent not in self.members or not self._there(parent, stat_of):
                self._ended += _used(stat)

    def _there(self, pid: int, stat_of: Callable[[int], Optional[_Stat]]) -> bool:
        stat = stat_of(pid)
        if stat is None or stat[19] != self.members[pid][19]:
            return False
        # The parent that it was found with waits for it, or has ended before it.
        self.members[pid] = [*stat[:1], self.members[pid][1], *stat[2:]]
        return True


def _used(stat: _Stat) -> int:
    return sum(stat[11:15])


def _waited(stat: _Stat) -> int:
    return sum(stat[13:15])


def _steady(pids: Sequence[int]) -> "tuple[Dict[int, _Stat], bool]":
    """Return all processes, and whether none of the descendants of `pids` and of their parents ended between two
    looks."""
    before = None
    for _ in range(_MOST_LOOKS):
        table = _processes()
        starters = [table[pid][1] for pid in pids if pid in table]
        below = _children(table)
        relevant = {pid: _waited(table[pid]) for pid in (*starters, *_descendants(below, starters)) if pid in table}
        if relevant == before:
            return table, True
        before = relevant
    return table, False


def _children(table: Mapping[int, _Stat]) -> Dict[int, List[int]]:
    below: Dict[int, List[int]] = {}
    for pid, stat in table.items():
        below.setdefault(stat[1], []).append(pid)
    return below


def _descendants(below: Mapping[int, List[int]], pids: Iterable[int]) -> Set[int]:
    found: Set[int] = set()
    waiting = list(pids)
    while waiting:
        fresh = [pid for pid in below.get(waiting.pop(), []) if pid not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _processes() -> Dict[int, _Stat]:
    """Return the stat of every process. This reads one file each: the kernel's own lists of children are one for every
    thread, of which a daemon has a hundred."""
    found = {int(name): _stat_of(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: stat for pid, stat in found.items() if stat is not None}


def _stat_of(pid: int) -> Optional[_Stat]:
    try:
        # Bytes: the kernel cuts names at 15 of them, be it within a character.
        with open("/proc/{}/stat".format(pid), "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:  # It has ended, or is another user's whom /proc hides.
        return None
    return [0, *(int(field) for field in fields[1:20])]


OPERATIONS: Dict[str, Callable[..., Any]] = {"accounting.cpu": Accounts().cpu}
