"""`make bench [ROW=NAME]`: runs one benchmark, or all, and prints what it found as lines of Markdown.

Benchmarks of jobs keep their run directories under .build/bench/NAME and go on where they were stopped; remove that
directory to begin anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import (
    accounting,
    agents,
    arms,
    bottlenecks,
    byhand,
    cards,
    closing,
    commands,
    energies,
    error_rates,
    filesystems,
    interrupted,
    jobs,
    listings,
    meters,
    micro,
    others,
    planning,
    reached,
    searching,
    shipping,
    sorting,
    staging,
    startup,
    storing,
    sums,
    throttled,
    walltime,
    widths,
)

ROWS: dict[str, Callable[[], list[str]]] = {
    "cli": commands.measure,
    "up": startup.measure,
    "probes": arms.probes,
    "accounting": accounting.measure,
    "agents": agents.measure,
    "channels": agents.measure_rest,
    "up-hosts": reached.measure,
    "up-jobs": jobs.measure,
    "up-sim": reached.measure_simulated,
    "ship": shipping.measure,
    "stage-in": staging.measure,
    "job-share": walltime.measure,
    "sim-sums": sums.measure,
    "sim-network": cards.measure,
    "bottlenecks": bottlenecks.measure,
    "report-hosts": widths.measure,
    "up-secure": reached.measure_secured,
    "tuned": arms.tuned,
    "tuned3": arms.tuned_on_three_nodes,
    "settings": arms.settings,
    "same": arms.same,
    "text": arms.text,
    "text-posix": arms.text_on_posix,
    "experiment": interrupted.measure,
    "planning": planning.measure,
    "statistics": error_rates.measure,
    "meters": meters.measure,
    "energy": lambda: list(energies.measure()),
    "tune": searching.measure,
    "byhand": lambda: byhand.measure(arms.SIZE, arms.BLOCKS),
    "sort-others": others.measure,
    "micro": micro.measure,
    "files": partial(filesystems.measure, "files"),
    "files-slow": throttled.measure,
    "files-disk": partial(filesystems.measure, "files-disk"),
    "names-disk": filesystems.measure_names,
    "files-moosefs": filesystems.measure_shared,
    "files-close": closing.measure,
    "names-million": listings.measure,
    **{name: partial(sorting.measure, name) for name in sorting.ROWS},
    **{name: partial(storing.measure, name) for name in storing.ROWS},
}


def main(names: list[str]) -> int:
    """Runs the rows called `names`, or all."""
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        print(f"unknown row: {', '.join(unknown)}; there are {', '.join(ROWS)}", file=sys.stderr)
        return 2
    for name in names or list(ROWS):
        print(f"\n## {name}\n", flush=True)
        for line in ROWS[name]():
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
