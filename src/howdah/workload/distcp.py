"""DistCp: many maps copy files from one place to another; Gordon's tables measure it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check, PhaseKind
from howdah.model.storage import HDFS, POSIX
from howdah.workload import MAPS, Asked, Dataset, Files, Option, Session, Settings
from howdah.workload.counts import count

MIB = 1 << 20
_ENDS = ("from", "to")
_FILE = "file"
_STORAGES = (HDFS, POSIX, _FILE)
_COMPOSITE = "-Ddfs.checksum.combine.mode=COMPOSITE_CRC"
"""The option for a checksum that files of `hdfs` and `posix` have in common, however they are stored."""


class DistCp:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "distcp"
    title: ClassVar[str] = "DistCp"
    summary: ClassVar[str] = (
        "copies files within a storage or from one to another: disks and network; a stock tool of Hadoop"
    )
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 16 * MIB, "small": 1024 * MIB, "large": 16 * 1024 * MIB}
    options: ClassVar[tuple[Option, ...]] = (
        MAPS,
        Option("files", "How many files the size is divided into. [default: 4 per map]", "count"),
        Option("from", "The storage with the files. [default: the run's]", choices=_STORAGES),
        Option("to", "The storage for the copy. [default: the run's]", choices=_STORAGES),
        Option("directory", "For storage file: a directory that every node sees. [default: one of the cluster's own]"),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "copy/throughput"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._others: Mapping[str, Files] = {}

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        size = asked.size_of(self)
        conf = {**cluster, **asked.conf}
        maps = asked.maps or count(conf, "mapreduce.job.maps", 2)
        # DistCp gives whole files to maps: several each, so that no map waits for the slowest.
        files = asked.own.get("files", 4 * maps)
        if size < files:
            raise UsageError(f"{size} bytes are too few for {files} files, which {maps} maps copy")
        places = {name: asked.own.get(name) for name in _ENDS}
        directory = asked.own.get("directory")
        if directory is not None and _FILE not in places.values():
            raise UsageError("--directory is for storage file, and neither --from nor --to says that")
        if directory is not None and not directory.startswith("/"):
            raise UsageError(f"{directory!r} is not an absolute path")
        return {
            "size_bytes": size,
            "files": files,
            "file_bytes": size // files,
            "moved_bytes": size // files * files,
            "maps": maps,
            "replication": count(conf, "dfs.replication", 3),
            **places,
            "directory": directory,
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # A copy that leaves the run's storage comes back for its verification.
        elsewhere = sum(settings[name] is not None for name in _ENDS)
        return 2 * settings["moved_bytes"] * settings["replication"], elsewhere * settings["moved_bytes"]

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        def make(directory: str) -> Mapping[str, Any]:
            session.run(
                "gen",
                "prepare",
                session.programs.dfsio(
                    *(directory, "-write", "-nrFiles", str(settings["files"])),
                    *("-size", f"{settings['file_bytes']}B"),
                ),
                data_bytes=settings["moved_bytes"],
                one_job=True,
            )
            return {
                "generator": "TestDFSIO",
                "bytes": settings["moved_bytes"],
                "files": settings["files"],
                "replication": settings["replication"],
            }

        identity = {"generator": "testdfsio", "files": settings["files"], "file_bytes": settings["file_bytes"]}
        self._others = {
            name: session.local(settings["directory"]) if name == _FILE else session.other(name)
            for name in {settings[end] for end in _ENDS} - {None}
        }
        self._input = session.dataset(identity, make)
        original, source = self._original(session), self._source(session, settings)
        if source != original:
            self._copy(session, settings, "stage", "prepare", original, source)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        self._copy(session, settings, "copy", "run", self._source(session, settings), self._target(session, settings))

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        original, checked = self._original(session), self._target(session, settings)
        source, copy = (place.files() for place in (self._source(session, settings), self._target(session, settings)))
        whole = {f"test_io_{number}": settings["file_bytes"] for number in range(settings["files"])}
        if checked.storage is not session.storage:
            # Whatever DistCp has compared: within one storage, checksums are of every byte.
            checked = _Place(session.storage, f"{session.directory}/back")
            self._copy(session, settings, "back", "verify", self._target(session, settings), checked)
        same = [
            name
            for name in sorted(original.files().keys() & checked.files().keys())
            if original.checksum(name) == checked.checksum(name)
        ]
        return (
            Check(
                "files",
                source == copy == whole,
                f"{len(whole)} files of {settings['file_bytes']} bytes were to be copied: {len(source)} are there, "
                f"{sum(copy.get(name) == length for name, length in whole.items())} of the same length in the copy",
            ),
            Check("checksums", same == sorted(whole), f"{len(same)} of {len(whole)} files have equal checksums"),
        )

    def _copy(
        self, session: Session, settings: Settings, phase: str, kind: PhaseKind, source: _Place, target: _Place
    ) -> None:
        local = self._others.get(_FILE)
        common = () if source.storage is target.storage or local in (source.storage, target.storage) else (_COMPOSITE,)
        program = session.programs.distcp(*common, "-m", str(settings["maps"]), source.uri, target.uri)
        session.run(phase, kind, program, data_bytes=settings["moved_bytes"], one_job=True)

    def _original(self, session: Session) -> _Place:
        """Return the place of the generated files."""
        assert self._input is not None
        return _Place(session.storage, f"{self._input.directory}/io_data")

    def _source(self, session: Session, settings: Settings) -> _Place:
        """Return the place of the files to copy."""
        storage = self._storage(session, settings["from"])
        return self._original(session) if storage is session.storage else _Place(storage, f"{session.directory}/staged")

    def _target(self, session: Session, settings: Settings) -> _Place:
        """Return the place of their copy."""
        return _Place(self._storage(session, settings["to"]), f"{session.directory}/copy")

    def _storage(self, session: Session, name: str | None) -> Files:
        return session.storage if name is None else self._others[name]


def check_storages(settings: Settings, used: str, there: Collection[str]) -> None:  # noqa: ARG001
    """Raises UsageError if the cluster lacks the storage to copy from or to."""
    for end in _ENDS:
        if (name := settings[end]) not in (None, _FILE, *there):
            raise UsageError(
                f"--{end} {name}: the cluster has no such storage; it has {', '.join(there)}",
                hint="A cluster with both: --storage hdfs,posix:DIR.",
            )


@dataclass(frozen=True, slots=True)
class _Place:
    """A directory of a storage."""

    storage: Files
    directory: str

    @property
    def uri(self) -> str:
        return self.storage.uri(self.directory)

    def files(self) -> Mapping[str, int]:
        """Return length by name."""
        return self.storage.files(self.directory)

    def checksum(self, name: str) -> str:
        return self.storage.checksum(f"{self.directory}/{name}")
