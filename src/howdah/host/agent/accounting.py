"""CPU time of processes as the kernel accounts it, children that have ended included."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, List, Sequence

from .children import descendants

_TICK = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.25
"""An application master stays for five seconds after its job (`MRAppMaster.shutDownJob`), and each look reads all of
/proc: twenty looks a second cost more than all that the probe does in these seconds."""


def cpu(pids: List[int], settle_seconds: float = 0.0, settled: Sequence[int] = ()) -> Dict[str, Any]:
    """CPU seconds of each process: itself and every child that it has waited for; dead ones are left out.

    Before reading, waits up to `settle_seconds` until the processes of `settled` have no descendants, because a child
    counts only once it was waited for. `unsettled` is how many descendants were still there.
    """
    deadline = time.monotonic() + settle_seconds
    left = _below(settled)
    while left and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        left = _below(settled)
    seconds = {}
    for pid in pids:
        try:
            with open("/proc/{}/stat".format(pid)) as stat:
                fields = stat.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # proc(5): utime, stime, cutime and cstime are fields 14 to 17; the split begins at field 3.
        seconds[pid] = sum(int(field) for field in fields[11:15]) / _TICK
    return {"seconds": seconds, "unsettled": left}


def _below(pids: Sequence[int]) -> int:
    return sum(len(descendants(pid)) for pid in pids)


OPERATIONS: Dict[str, Callable[..., Any]] = {"accounting.cpu": cpu}
