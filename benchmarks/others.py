"""A sort of lines or records of 100 bytes by what a user may pick instead, and by a C program as the machine's limit.

Hadoop and Spark on YARN sort TeraGen's records in HDFS, and the result is validated; the others sort lines of text of
the same size in local files, which are compared. Not the same work: HDFS and YARN are what the first ones pay for.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.pairs import KEPT, ROOT, cluster, howdah, need_disk
from howdah.model.quantity import parse_bytes

ROUNDS = int(os.environ.get("ROUNDS", "3"))
SIZE = os.environ.get("SIZE", "2G")
_SPARK = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").config("spark.driver.memory", "6g").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
spark.read.text(sys.argv[1]).sort("value").write.mode("overwrite").text(sys.argv[2])
# Processor time of children counts when somebody has waited for them.
jvm = spark.sparkContext._gateway.proc
spark.stop()
jvm.stdin.close()
jvm.wait()
"""


def measure() -> list[str]:
    """Each program ROUNDS times, in an order drawn anew for each round: seconds and processor seconds."""
    # Lines and three sorts of them, one of these twice; TeraGen's records, sorted, and between map and reduce twice.
    need_disk(9 * parse_bytes(SIZE))
    place = KEPT / "sort-others"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    lines, limit = place / "lines", place / "limit"
    subprocess.run(
        ["gcc", "-O3", "-pthread", "-o", str(limit), str(ROOT / "benchmarks" / "limit.c")], check=True, env=_plain()
    )
    subprocess.run([str(limit), "gen", str(parse_bytes(SIZE) // 100), str(lines)], check=True)
    (place / "spark.py").write_text(_SPARK)
    local = {
        "C program, the limit": [str(limit), "sort", str(lines), str(place / "limit.out")],
        "GNU sort": ["sort", "--parallel", str(os.cpu_count()), "-S", "4G", "-o", str(place / "gnu.out"), str(lines)],
        "Spark, local": [sys.executable, str(place / "spark.py"), str(lines), str(place / "spark.out")],
    }
    on_yarn = {
        "Hadoop": ("terasort", "--accelerator", "none"),
        "Hadoop with ours": ("terasort", "--accelerator", "sort"),
        "Spark on YARN": ("spark-terasort",),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*on_yarn, *local)}
    with cluster("sort-others", 1) as name:
        for number in range(ROUNDS):
            order = list(found)
            random.Random(number).shuffle(order)
            for one in order:
                print(f"round {number}: {one}", file=sys.stderr, flush=True)
                found[one].append(_timed(local[one]) if one in local else _on_yarn(name, on_yarn[one], place))
    _compare(place)
    for large in ("lines", "limit.out", "gnu.out", "spark.all"):
        (place / large).unlink()
    shutil.rmtree(place / "spark.out")
    rows = (f"| {name} | {_middle(times, 0)} | {_middle(times, 1)} |" for name, times in found.items())
    return [f"{SIZE}, {ROUNDS} rounds: median (range)", "", "| | seconds | CPU seconds |", "|---|---|---|", *rows]


def _plain() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


def _timed(command: list[str]) -> tuple[float, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, env=_plain(), stderr=subprocess.DEVNULL)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _on_yarn(name: str, workload: tuple[str, ...], place: Path) -> tuple[float, float]:
    """The phase that sorts, from the client's start to its end."""
    done = howdah(
        *("run", *workload, "--size", SIZE, "--cluster", name, "--no-calibration", "--no-report", "--data", "reuse"),
        *("--out", str(place / "runs"), "--json"),
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(workload)} failed:\n{done.stderr[-3000:]}")
    kept = Path(json.loads(done.stdout)["runs"][0]["path"])
    samples = [json.loads(line) for line in (kept / "samples.jsonl").read_text().splitlines()]
    values = {one["metric"]: one["value"] for one in samples if one.get("phase") == "sort" and one.get("metric")}
    return values["client_seconds"], values["cpu_seconds"]


def _compare(place: Path) -> None:
    parts = sorted((place / "spark.out").glob("part-*"))
    with (place / "spark.all").open("wb") as whole:
        for part in parts:
            whole.write(part.read_bytes())
    for other in ("gnu.out", "spark.all"):
        subprocess.run(["cmp", str(place / "limit.out"), str(place / other)], check=True)


def _middle(times: list[tuple[float, float]], which: int) -> str:
    values = [one[which] for one in times]
    return f"{statistics.median(values):.1f} ({min(values):.1f}–{max(values):.1f})"
