"""`ROW=files-close`: what it costs that closing a file waits for the storage, as on Lustre, CephFS and GPFS unless set.

On the disk of HOWDAH_HOME, which one arm's mount table calls `lustre`; only root can make such a table. There is no
Lustre here: its servers answer an fsync in a time of their own.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.filesystems import build, rounds, said_in_jvm, spread, target
from benchmarks.pairs import output_of, ratio_words

_ARMS = ("closed", "durable")
# The operation of `Rounds`, its COUNT, and how often it is done.
_WORKS: Mapping[str, tuple[str, int, int]] = {
    "1 GiB in one file": ("put", 1024, 1),
    "200 files of 1 MiB": ("put", 1, 200),
    "1,000 empty files": ("create", 1000, 1),
}


def measure() -> list[str]:
    """Runs the rounds that are missing (`ROUNDS`, 10 unless told)."""
    home = build()
    place = home / "bench-close"
    place.mkdir(exist_ok=True)
    try:
        done = rounds("files-close", _ARMS, lambda arm: _figures(arm, place, home))
    finally:
        shutil.rmtree(place)
    return _table(done)


def _figures(arm: str, place: Path, home: Path) -> list[dict[str, object]]:
    kind = output_of(["stat", "-f", "-c", "%T", str(place)]).strip()
    uri, settings = target("posixfs", place / arm, {})
    found: list[dict[str, object]] = []
    for name, (operation, count, passes) in _WORKS.items():
        arguments = [operation, uri, str(count), "1", "0", *settings]
        before = () if arm == "closed" else _called_lustre(place / "mountinfo")
        output_of(["sync"])  # What was written before is not waited for.
        said = said_in_jvm(arguments, home, before=before, flags=[f"-Dpasses={passes}"])
        found.append({"operation": name, "disk": kind, **json.loads(said.splitlines()[-1])})
    return found


def _called_lustre(table: Path) -> Sequence[str]:
    """Runs a command whose mount table, kept in the file `table`, has Lustre everywhere."""
    script = "sed -E 's/ - [^ ]+ / - lustre /' /proc/self/mountinfo > $0; mount --bind $0 /proc/$$/mountinfo"
    return ["unshare", "-m", "sh", "-ec", f'{script}; exec "$@"', str(table)]


def _table(done: Sequence[Mapping[str, object]]) -> list[str]:
    lines = ["| written | figure | closed | durable | durable ÷ closed |", "|---|---|---|---|---|"]
    for name in _WORKS:
        for figure in ("seconds", "cpu"):
            found: dict[str, dict[int, float]] = {arm: {} for arm in _ARMS}
            for one in done:
                if one["operation"] == name:
                    found[str(one["arm"])][int(str(one["round"]))] = float(str(one[figure]))
            closed, durable = (found[arm] for arm in _ARMS)
            ratio = ratio_words([durable[number] / closed[number] for number in sorted(closed)])
            cells = (name, figure, spread(list(closed.values())), spread(list(durable.values())), ratio)
            lines.append(f"| {' | '.join(cells)} |")
    return lines
