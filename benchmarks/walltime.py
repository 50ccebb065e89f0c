"""Of the time of a batch job, how much its cluster works: the rest is its start, staging out, and its end.

A real Slurm over simulated hosts (`tests/slurm.py`); only root can make them. The job makes a gigabyte, which is staged
out before the time is up, and runs TeraSort again and again until it is told to stop. The hosts have their software.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

from benchmarks.pairs import ROOT
from tests.slurm import Slurm, slurm

MINUTES = int(os.environ.get("MINUTES", "30"))
HOSTS = ("n1", "n2", "n3", "n4")
_NAME = "bench-walltime"
_ROWS = 10**7
_SCRIPT = """\
#!/bin/bash
set -e
howdah() {{ "{howdah}" "$@"; }}
howdah up --name {name} --on slurm:scratch={scratch} --insecure --stage-out /results={scratch}/results
date +%s.%N > {scratch}/up
howdah exec --name {name} -- sh -c \
    'hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-*.jar teragen {rows} /results'
while howdah run terasort --size 200M --cluster {name}; do echo 1 >> {scratch}/runs; done
date +%s.%N > {scratch}/taken
while howdah status --name {name} --json | grep -q '"state": "up"'; do sleep 1; done
date +%s.%N > {scratch}/down
"""


def measure() -> list[str]:
    """One job, to its end."""
    with tempfile.TemporaryDirectory() as directory, slurm(Path(directory, "slurm"), HOSTS) as system:
        scratch = Path(directory, "scratch")
        scratch.mkdir()
        script = Path(directory, "job.sh")
        howdah = ROOT / ".venv" / "bin" / "howdah"
        environment = {**os.environ, **system.environment}
        on = f"slurm:nodes={len(HOSTS)},time=10m,exclusive=no,scratch={scratch}"
        for command in (("up", "--name", "first", "--on", on, "--insecure"), ("down", "--name", "first")):
            subprocess.run((str(howdah), *command), env=environment, check=True, stdout=subprocess.DEVNULL)
        script.write_text(_SCRIPT.format(howdah=howdah, name=_NAME, scratch=scratch, rows=_ROWS))
        options = (f"--nodes={len(HOSTS)}", f"--time={MINUTES}", "--parsable", f"--output={directory}/out")
        job = subprocess.run(
            ("sbatch", *options, str(script)),
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        system.wait_for_state(job, "COMPLETED", "FAILED", "TIMEOUT", seconds=MINUTES * 60 + 120)
        start, end = (_moment(system, job, what) for what in ("StartTime", "EndTime"))
        try:
            up, taken, down = (float((scratch / name).read_text()) for name in ("up", "taken", "down"))
            runs = len((scratch / "runs").read_text().split())
        except OSError:
            raise SystemExit(Path(directory, "out").read_text()) from None
        staged = sum(one.stat().st_size for one in (scratch / "results").glob("part-*"))
        if staged != 100 * _ROWS:
            raise SystemExit(f"{staged} bytes of {100 * _ROWS} were staged out")
        left = [str(one) for one in scratch.glob("howdah-*/*") if one.name != "store"]
        time.sleep(1)
    whole = MINUTES * 60
    return [
        f"- a job of {MINUTES} minutes on {len(HOSTS)} hosts: the cluster works in {(taken - up) / whole:.1%} of it",
        f"- start {up - start:.0f} s; 1 GB staged out, cluster ended {down - taken:.0f} s; "
        f"{start + whole - end:.0f} s were left",
        f"- {runs} runs of TeraSort were valid, the last one was closed; left on the hosts: {left or 'nothing'}",
    ]


def _moment(system: Slurm, job: str, what: str) -> float:
    """A time that Slurm has of a job, in seconds since 1970."""
    said = system.run("scontrol", "show", "job", "-o", job).partition(f"{what}=")[2].split()[0]
    return datetime.fromisoformat(said).timestamp()
