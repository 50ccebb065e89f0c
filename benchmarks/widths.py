"""A run directory and its report, if the run had up to 1,000 hosts: a recorded run whose series, environment and bounds
are multiplied by hosts. Its jobs stay those of the recorded run.

The run is a TeraSort on two hosts that are this machine (`channels:2`), so that its series has one node and the masters
for each host of the copy. RUN names another run directory. 1,000 hosts need some GB of disk.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.pairs import cluster, need_disk, output_of
from howdah.model.quantity import format_bytes

HOSTS = (1, 10, 100, 1000)
_NAME = "bench-widths"


def measure() -> list[str]:
    """Return a row for each number of hosts: series, run directory, report."""
    rows = ["| hosts | series | run directory | report: CPU | wall | memory | page |", "|---|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        recorded = Path(os.environ["RUN"]) if "RUN" in os.environ else _record(Path(scratch))
        need_disk(2.5 * HOSTS[-1] * _size(recorded / "series"))
        for hosts in HOSTS:
            copied = _copy(recorded, Path(scratch, f"{hosts}", recorded.name), hosts)
            rows.append(_row(copied, hosts, Path(scratch, f"{hosts}.html")))
            print(rows[-1], file=sys.stderr, flush=True)
            shutil.rmtree(copied)
    return rows


def _record(scratch: Path) -> Path:
    with cluster(_NAME, 2, "--on", "channels:2"):
        command = (sys.executable, "-m", "howdah", "run", "terasort", "--size", "500M", "--cluster", _NAME)
        said = json.loads(output_of((*command, "--no-report", "--json")))
    return Path(shutil.copytree(said["runs"][0]["path"], scratch / Path(said["runs"][0]["path"]).name))


def _copy(recorded: Path, copy: Path, hosts: int) -> Path:
    """The run on so many hosts."""
    shutil.copytree(recorded, copy)
    [series] = (copy / "series").iterdir()
    one, text = series.stem, series.read_text(encoding="utf-8")
    names = [f"node{number:04}" for number in range(1, hosts + 1)]
    for name in names:
        (copy / "series" / f"{name}.jsonl").write_text(
            text.replace(f'"host":"{one}"', f'"host":"{name}"', 1), encoding="utf-8"
        )
    series.unlink()
    environment = json.loads((copy / "environment.json").read_text(encoding="utf-8"))
    for moment in ("before", "after"):
        own = environment[moment]["hosts"].pop(one)
        environment[moment]["hosts"] = dict.fromkeys(names, own)
    (copy / "environment.json").write_text(json.dumps(environment), encoding="utf-8")
    samples = list(_samples(copy / "samples.jsonl", one, names))
    (copy / "samples.jsonl").write_text("".join(samples), encoding="utf-8")
    return copy


def _samples(file: Path, one: str, names: list[str]) -> Iterator[str]:
    """The bounds of every host, and what is of the whole run once, by the first of them."""
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        of = names if '"source":"calibration"' in line else names[:1]
        yield from (line.replace(f'"host":"{one}"', f'"host":"{name}"') for name in of)


def _row(run: Path, hosts: int, page: Path) -> str:
    began = time.monotonic()
    command = (sys.executable, "-m", "howdah", "report", str(run), "-o", str(page))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    if status != 0:
        raise SystemExit("no report was made")
    cells = (
        *(f"{hosts:,}", format_bytes(_size(run / "series")), format_bytes(_size(run))),
        *(f"{used.ru_utime + used.ru_stime:.1f} s", f"{wall:.1f} s"),
        *(format_bytes(used.ru_maxrss << 10), format_bytes(page.stat().st_size)),
    )
    return f"| {' | '.join(cells)} |"


def _size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
