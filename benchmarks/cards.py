"""How well TeraGen uses the network of simulated hosts, with three replicas: the time that the bytes of the busiest
card need at its measured rate, divided by the time between the first and the last byte. Needs root.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from benchmarks.pairs import cluster, output_of
from howdah.model.quantity import parse_bytes
from howdah.report.phases.jobs import read_jobs
from howdah.report.phases.limits import bounds_of, find_limits, window
from howdah.report.phases.series import read_series
from howdah.store import read_run

HOSTS = int(os.environ.get("HOSTS", "4"))
SIZE = os.environ.get("SIZE", "4G")
RATE = os.environ.get("RATE", "100mbit")
KEYS = os.environ.get("KEYS", "")
"""More settings of the job: `-Dmapreduce.job.maps=4 -Ddfs.blocksize=32m`."""
_TERAGEN = "hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3*.jar teragen"
_NAME = "bench-cards"
_CHATTER = 0.05
"""The share of a card's rate below which it carries heartbeats, and no blocks."""


def measure() -> list[str]:
    """What was sent, how long it took and had to take, and what the report says of it."""
    with cluster(_NAME, HOSTS, "--on", f"sim:{HOSTS},network={RATE}", "--insecure"):
        keys = f"-Ddfs.replication=3 {KEYS}"
        program = f"{_TERAGEN} {keys} {parse_bytes(SIZE) // 100} /generated"
        command = (sys.executable, "-m", "howdah", "run", "command", "--run", program, "--cluster", _NAME)
        said = json.loads(output_of((*command, "--no-report", "--json")))
    return _lines(Path(said["runs"][0]["path"]))


def _lines(path: Path) -> list[str]:
    run = read_run(path)
    (series,) = read_series(run)
    jobs = read_jobs(run)[0]
    span = window(run.run.phases[0], jobs)
    assert span is not None
    most, busiest = 0.0, ""
    for card, rate in bounds_of(run, "bound_network", series.host).items():
        for way in ("receive_bytes", "send_bytes"):
            counter = series.card(way, {card})
            steps = [step for step in counter.steps(*span) if step.value >= _CHATTER * rate]
            if not steps:
                continue
            bytes_moved = counter.growth(*span) or 0.0
            seconds = steps[-1].end - steps[0].start
            words = f"{card} {way}: {bytes_moved / 1e9:.2f} GB in {seconds:.1f} s at {rate / 1e6:.2f} MB/s"
            share = bytes_moved / rate / seconds
            print(words, f"{share:.1%}", file=sys.stderr)
            if bytes_moved > most:
                most, busiest = bytes_moved, f"{words}: {share:.1%}"
    [limit] = [one for one in find_limits(run, (series,), jobs) if one.phase == run.run.phases[0].name]
    return [f"- {busiest} (bar 88 %)", f"- the report: {limit.verdict}"]
