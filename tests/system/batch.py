"""Howdah in jobs of a batch system, for tests."""

from __future__ import annotations

import os
import subprocess
import time
from copy import copy
from pathlib import Path
from typing import Any

from howdah.store import read_run
from tests.slurm import Slurm
from tests.system.running import Howdah, Said, processes_of

_CLEAN_SECONDS = 25.0
"""Slurm itself kills what is left after 30 s."""


class Batch:
    """Howdah where the batch system's commands are, and what it leaves on the hosts."""

    def __init__(self, system: Slurm, howdah: Howdah, directory: Path) -> None:
        self.system = system
        self.howdah = copy(howdah)
        # Where PBS puts what scripts say, unless it is asked otherwise.
        self.howdah.directory = directory
        self.directory = directory
        self.scratch = directory / "scratch"
        self.scratch.mkdir()
        self.site = directory / "site.yaml"
        self.site.write_text(f"batch: slurm\nscratch: {self.scratch}\n")
        self.environment = {**system.environment, "HOWDAH_SITE": str(self.site), "HOWDAH_HOME": str(howdah.home)}

    def __call__(self, *arguments: str, timeout: float = 400) -> Said:
        return self.howdah(*arguments, timeout=timeout, env=self.environment)

    def submit(self, text: str, *options: str, command: str = "sbatch") -> str:
        """Submits a script; the job's number."""
        script = self.directory / "job.sh"
        script.write_text(text)
        given = (*options, "--parsable", f"--output={self.directory}/%j.out") if command == "sbatch" else options
        done = subprocess.run(
            (command, *given, str(script)),
            env={**os.environ, **self.environment},
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def output(self, job: str) -> str:
        """What a job of `sbatch` has printed."""
        file = self.directory / f"{job}.out"
        return file.read_text() if file.exists() else ""

    def wait_for_words(self, job: str, words: str, seconds: float = 200.0) -> None:
        """Returns when a job has printed that."""
        deadline = time.monotonic() + seconds
        while words not in self.output(job):
            assert time.monotonic() < deadline, self.output(job)
            time.sleep(0.2)

    def left(self) -> list[str]:
        """What is on the hosts, and need not be there: processes, and directories of clusters."""
        places = [str(one) for one in self.scratch.glob("howdah-*/*") if one.name != "store"]
        return [*places, *processes_of(self.scratch)]

    def wait_until_clean(self) -> float:
        """The seconds until nothing is left on the hosts."""
        began = time.monotonic()
        while left := self.left():
            assert time.monotonic() < began + _CLEAN_SECONDS, left
            time.sleep(0.1)
        return time.monotonic() - began

    def last_run(self) -> Any:
        """The newest run."""
        newest = max((self.howdah.home / "runs").iterdir(), key=lambda one: one.name)
        return read_run(newest).run

    def last_energy(self) -> Any:
        """The energy of the newest run."""
        newest = max((self.howdah.home / "runs").iterdir(), key=lambda one: one.name)
        return read_run(newest).energy()


def script(*lines: str) -> str:
    """A script that ends when one of its lines fails."""
    return "\n".join(("#!/bin/bash", "set -e", *lines, ""))


def hadoop(line: str, *, name: str) -> tuple[str, ...]:
    """A cluster in a job, with a line that uses it."""
    program = Howdah.command[0]
    return (f"{program} up --name {name} --on slurm --insecure", line.replace("howdah", program))
