"""Write a run directory, so that a crash at any moment keeps all earlier measurements."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from howdah.errors import HostProblem, UsageError
from howdah.model.environment import Environment
from howdah.model.redaction import redacted
from howdah.model.run import Run
from howdah.model.sample import Sample
from howdah.store import layout
from howdah.store.codec import encode_environment, encode_run, encode_sample
from howdah.store.locks import take_lock


class RunWriter:
    """The open directory of one run. `run.json` is replaced whole after every step; everything else only grows.

    Every method returns after its data is on the disk (fsync), except `series`. Series are flushed once per line, and
    `close` calls fsync. A number that is not finite is no measurement: it raises ValueError, and the call writes
    nothing.
    """

    def __init__(self, root: Path, run: Run) -> None:
        """Create `root`/`run.id`, which must not exist, readable by its owner only.

        Raises:
            HostProblem: the directory cannot be made (permissions, disk full, exists).
        """
        self.path = root / run.id
        self._series: dict[str, IO[str]] = {}
        try:
            root.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700)
            for name in (layout.CONF, layout.SERIES, layout.JOBS, layout.LOGS):
                (self.path / name).mkdir()
        except OSError as error:
            raise HostProblem(
                f"cannot create the run directory {self.path}: {error.strerror}",
                hint="Choose another place with --out DIR.",
            ) from error
        self._lock = take_lock(self.path / layout.LOCK)
        self.save(run)

    @classmethod
    def reopened(cls, path: Path) -> RunWriter:
        """Open the directory of a finished run, to add to it. Raises UsageError if another process writes it."""
        writer = cls.__new__(cls)
        writer.path, writer._series, writer._lock = path, {}, take_lock(path / layout.LOCK)
        if writer._lock is None:
            raise UsageError(f"{path} is being written by another process")
        return writer

    def save(self, run: Run) -> None:
        """Replace `run.json`."""
        self._replace(layout.RUN, encode_run(run))

    def environment(self, readings: Mapping[str, Environment]) -> None:
        """Replace `environment.json`. `readings` has `before` and, when it could be taken, `after`."""
        self._replace(
            layout.ENVIRONMENT,
            {"schema": layout.SCHEMA, **{name: encode_environment(reading) for name, reading in readings.items()}},
        )

    def readback(self, held: Mapping[str, Sequence[str]]) -> None:
        """Write `readback.json`: every value held by `daemons/KEY` or `PHASE/KEY`."""
        kept = redacted({key: list(held[key]) for key in held})
        self._replace(layout.READBACK, {"schema": layout.SCHEMA, "held": kept})

    def samples(self, samples: Iterable[Sample]) -> None:
        """Append to `samples.jsonl`."""
        lines = [_line(encode_sample(sample)) for sample in samples]
        with (self.path / layout.SAMPLES).open("a", encoding="utf-8") as out:
            out.writelines(lines)
            _sync(out)
        _sync_directory(self.path)

    def series(self, name: str, record: Mapping[str, Any]) -> None:
        """Append one line to `series/NAME.jsonl`; the first line of a file is its header."""
        out = self._series.get(name)
        if out is None:
            out = self._series[name] = (self.path / layout.SERIES / f"{name}.jsonl").open("a", encoding="utf-8")
        out.write(_line(record))
        out.flush()

    def keep(self, relative: str, content: bytes) -> Path:
        """Write `content` as a file of the run, such as `jobs/job_1.jhist`; never overwrite an existing file."""
        target = self.path / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        _sync_directory(target.parent)
        return target

    def keep_json(self, relative: str, record: Mapping[str, Any]) -> Path:
        """Write a JSON document as `keep` does, without the values of sensitive settings."""
        return self.keep(relative, json.dumps(redacted(record), indent=1).encode() + b"\n")

    def close(self) -> None:
        """Fsync and close the series, and release the run's lock. May be called twice."""
        for out in self._series.values():
            _sync(out)
            out.close()
        self._series.clear()
        if self._lock is not None:
            self._lock.release()

    def _replace(self, name: str, record: Mapping[str, Any]) -> None:
        target = self.path / name
        fresh = target.with_name(f".{name}.new")
        with fresh.open("w", encoding="utf-8") as out:
            json.dump(record, out, indent=1, allow_nan=False)
            out.write("\n")
            _sync(out)
        fresh.replace(target)
        _sync_directory(self.path)


def _sync(out: IO[str]) -> None:
    out.flush()
    os.fsync(out.fileno())


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"
