"""DistCp: many maps copy files from one place to another; Gordon's tables measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, Asked, Dataset, Option, Session, Settings
from howdah.workload.counts import count

MIB = 1 << 20


class DistCp:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "distcp"
    title: ClassVar[str] = "DistCp"
    summary: ClassVar[str] = "copies files within the storage: disks and network, no sorting; Hadoop's own tool"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 16 * MIB, "small": 1024 * MIB, "large": 16 * 1024 * MIB}
    options: ClassVar[tuple[Option, ...]] = (MAPS,)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "copy/throughput"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        size = asked.size_of(self)
        conf = {**cluster, **asked.conf}
        maps = asked.maps or count(conf, "mapreduce.job.maps", 2)
        # DistCp gives whole files to maps: several each, so that no map waits for the slowest.
        files = 4 * maps
        if size < files:
            raise UsageError(f"{size} bytes are too few for {files} files, which {maps} maps copy")
        return {
            "size_bytes": size,
            "files": files,
            "file_bytes": size // files,
            "moved_bytes": size // files * files,
            "maps": maps,
            "replication": count(conf, "dfs.replication", 3),
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        return 2 * settings["moved_bytes"] * settings["replication"], 0

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        def make(directory: str) -> Mapping[str, Any]:
            session.job(
                "gen",
                "prepare",
                session.tests(
                    *("TestDFSIO", f"-Dtest.build.data={session.storage.uri(directory)}", "-write"),
                    *("-nrFiles", str(settings["files"]), "-size", f"{settings['file_bytes']}B"),
                    *("-resFile", "/dev/null"),
                ),
                data_bytes=settings["moved_bytes"],
            )
            return {
                "generator": "TestDFSIO",
                "bytes": settings["moved_bytes"],
                "files": settings["files"],
                "replication": settings["replication"],
            }

        identity = {"generator": "testdfsio", "files": settings["files"], "file_bytes": settings["file_bytes"]}
        self._input = session.dataset(identity, make)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        source, target = (session.storage.uri(directory) for directory in self._places(session))
        session.job(
            "copy",
            "run",
            session.distcp("-m", str(settings["maps"]), source, target),
            data_bytes=settings["moved_bytes"],
        )

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        places = self._places(session)
        source, copy = (session.storage.files(place) for place in places)
        whole = {f"test_io_{number}": settings["file_bytes"] for number in range(settings["files"])}
        same = [
            name
            for name in sorted(source.keys() & copy.keys())
            if len({session.storage.checksum(f"{place}/{name}") for place in places}) == 1
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

    def _places(self, session: Session) -> tuple[str, str]:
        """The directory that is copied, and its copy."""
        assert self._input is not None
        return f"{self._input.directory}/io_data", f"{session.directory}/copy"
