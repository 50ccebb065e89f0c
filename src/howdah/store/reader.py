"""Read run directories: of this schema version and of older ones, whole or cut off."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from howdah.errors import UsageError
from howdah.model.environment import Environment
from howdah.model.run import Outcome, Run
from howdah.model.sample import Sample
from howdah.store import layout
from howdah.store.codec import decode_environment, decode_run, decode_sample
from howdah.store.locks import holder_of


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run directory that was read. `problems` are sentences about missing or cut off parts."""

    path: Path
    run: Run
    samples: tuple[Sample, ...]
    environment: dict[str, Environment]
    problems: tuple[str, ...]

    def series(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the probe series, one at a time: the file's name without its ending, and its lines, header first."""
        for file in sorted((self.path / layout.SERIES).glob("*.jsonl")):
            lines, _ = _read_lines(file)
            yield file.stem, lines

    def energy(self) -> dict[str, Any] | None:
        """Return `energy.json`; None if nothing measured power. Raises UsageError if it is cut off."""
        file = self.path / layout.ENERGY
        if not file.is_file():
            return None
        try:
            record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"damaged run directory: {file} cannot be read ({error})") from error
        return record

    def readback(self) -> dict[str, list[str]]:
        """Return the settings held by daemons and jobs, `daemons/KEY` or `PHASE/KEY` → values; empty without the file.

        Raises UsageError if the file is cut off.
        """
        file = self.path / layout.READBACK
        try:
            held: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))["held"]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"damaged run directory: {file} cannot be read ({error})") from error
        return held

    def job_file(self, name: str) -> dict[str, Any] | None:
        """Return `jobs/NAME` as JSON; None if the run does not have it. Raises ValueError if it is cut off."""
        file = self.path / layout.JOBS / name
        if not file.is_file():
            return None
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return content


def read_run(path: Path) -> StoredRun:
    """Return the run in directory `path`.

    Raises:
        UsageError: not a run directory, an unreadable `run.json`, or a schema newer than this program.
    """
    run = read_identity(path)
    samples, problems = _read_samples(path / layout.SAMPLES)
    if run.outcome.kind == "valid" and not samples:
        problems.append(f"the run is valid but {layout.SAMPLES} has no samples")
    environment: dict[str, Environment] = {}
    try:
        record = json.loads((path / layout.ENVIRONMENT).read_text(encoding="utf-8"))
        names = ("before", "after") if "after" in record else ("before",)
        environment = {name: decode_environment(record[name]) for name in names}
    except (OSError, ValueError, KeyError, TypeError) as error:
        problems.append(f"{layout.ENVIRONMENT} cannot be read: {error}")
    problems += [
        problem for file in sorted((path / layout.SERIES).glob("*.jsonl")) if (problem := _series_problem(file))
    ]
    return StoredRun(path, run, tuple(samples), environment, tuple(problems))


def read_identity(path: Path) -> Run:
    """Return only `run.json` of directory `path`, for a list of runs. Raises as `read_run` does.

    A run that was `running` when its writer stopped (`kill -9`, power failure) is `aborted`.
    """
    file = path / layout.RUN
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"not a run directory: {path} has no {layout.RUN}") from None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"damaged run directory: {file} cannot be read ({error})",
            hint="The other files of the run are text and may still be whole. Move the directory away to go on.",
        ) from error
    schema = record.get("schema") if isinstance(record, dict) else None
    if not isinstance(schema, int) or schema < 1:
        raise UsageError(f"not a run directory: {file} names no schema version")
    if schema > layout.SCHEMA:
        raise UsageError(
            f"{file} has schema {schema}; this Howdah reads up to {layout.SCHEMA}", hint="Use a newer Howdah."
        )
    try:
        run = decode_run(record)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"damaged run directory: {file} lacks or garbles {error}") from error
    if run.outcome.kind == "running" and _left(path):
        return replace(run, outcome=Outcome("aborted", "the process that ran it ended before the run did"))
    return run


def read_samples(path: Path) -> tuple[Sample, ...]:
    """Return only the samples of directory `path`, up to the first damaged one."""
    return tuple(_read_samples(path / layout.SAMPLES)[0])


def list_runs(root: Path, *, newest_first: bool = False) -> Iterator[tuple[Path, Run | UsageError]]:
    """Yield every run directory under `root`, oldest or newest first; an unreadable one comes with its error.

    Each directory is read when it is yielded.
    """
    for path in sorted(root.iterdir() if root.is_dir() else (), reverse=newest_first):
        if path.name.startswith("."):
            continue  # One that is being removed.
        if (path / layout.RUN).exists() or (path / layout.SERIES).is_dir():
            try:
                yield path, read_identity(path)
            except UsageError as error:
                yield path, error


def runs_under_way(root: Path) -> Iterator[Run]:
    """Yield the runs under `root` that are under way. Only those are read, however many have finished."""
    for lock in root.glob(f"*/{layout.LOCK}"):
        with suppress(UsageError):  # It is still being begun.
            run = read_identity(lock.parent)
            if run.outcome.kind == "running":
                yield run


def find_run(name: str, root: Path) -> Path:
    """Return the directory of the run called `name`: a path, a run id, the unambiguous start of one, or `latest`.

    Raises:
        UsageError: no such run, or several.
    """
    if (Path(name) / layout.RUN).exists():
        return Path(name)
    if name == "latest":
        for path, _ in list_runs(root, newest_first=True):
            return path
    ids = [path.name for path, _ in list_runs(root)]
    matches = [known for known in ids if known == name] or [known for known in ids if known.startswith(name)]
    if len(matches) == 1:
        return root / matches[0]
    if matches:
        raise UsageError(f"several runs start with {name!r}: {', '.join(matches[:5])}")
    raise UsageError(f"no run {name!r} under {root}", hint="`howdah runs` lists them.")


def _left(path: Path) -> bool:
    """Return whether nobody writes the run in `path` any more. A writer on another host is never taken for gone."""
    return holder_of(path / layout.LOCK) is None


def _read_samples(file: Path) -> tuple[list[Sample], list[str]]:
    """Return the samples up to the first damaged line, and a sentence about the damage, if any."""
    lines, damaged = _read_lines(file)
    samples: list[Sample] = []
    try:
        for line in lines:
            samples.append(decode_sample(line))
    except (KeyError, TypeError, ValueError):
        damaged = True
    problem = f"{file.name} is cut off or damaged after line {len(samples)}; nothing after it was read"
    return samples, [problem] if damaged else []


def _series_problem(file: Path) -> str | None:
    """Return the damage that shows at the ends of a series. Series are long, and read only on demand."""
    name = f"{layout.SERIES}/{file.name}"
    with file.open("rb") as content:
        try:
            header = json.loads(content.readline())
        except ValueError:
            header = None
        if not isinstance(header, dict) or "kinds" not in header:
            return f"{name} has no readable header: it was not used"
        content.seek(-1, os.SEEK_END)
        return None if content.read() == b"\n" else f"{name} is cut off: its last line was not read"


def _read_lines(file: Path) -> tuple[list[dict[str, Any]], bool]:
    """Return the JSON lines of `file` up to the first damaged one, and whether there is one. No file has no lines."""
    lines: list[dict[str, Any]] = []
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return lines, False
    *whole, rest = content.split(b"\n")
    with suppress(ValueError):
        # At once, which takes a third of the time; two damaged lines may make a whole one, but then there are fewer.
        every: list[dict[str, Any]] = json.loads(b"[%s]" % b",".join(whole))
        if len(every) == len(whole):
            return every, bool(rest)
    for line in whole:
        try:
            lines.append(json.loads(line))
        except ValueError:
            return lines, True
    return lines, bool(rest)
