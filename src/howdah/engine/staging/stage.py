"""One stage: DistCp between a directory that all hosts see and HDFS, resumed, verified and recorded."""

from __future__ import annotations

import hashlib
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.walltime import STAGE, remember_copy
from howdah.engine.observer import JobProgress
from howdah.engine.run.client import Client, submit
from howdah.engine.staging import ledger
from howdah.engine.staging.listing import TEMPORARY, Listing, hdfs_files, moving, shared_files
from howdah.errors import HostProblem, Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.distribution.jars import own_jar
from howdah.host import Host, operations
from howdah.model.quantity import format_bytes
from howdah.model.storage import FILESYSTEM_JAR, POSIX_SCHEME

_LOG_LINES = 6
_COMPARED = 16
"""The files whose checksums are compared once more at the end: DistCp takes a missing checksum for an equal one."""
_COMPARED_BYTES = 8 * 10**9
_AUTHORITY = "stage"
_VIEW = f"{POSIX_SCHEME}://{_AUTHORITY}"
_COMMAND_SECONDS = 600.0
_SLOWEST = 20e6
"""The least speed of reading, in bytes per second."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A stage to make: `way` is `in` to HDFS or `out` of it. One of `source` and `target` is a path of the hosts, the
    other one of HDFS. `maps` copy at a time."""

    way: str
    source: str
    target: str
    maps: int
    replication: int | None = None

    @property
    def from_hdfs(self) -> bool:
        """Whether the source is in HDFS; otherwise the target is."""
        return self.way == "out"

    def root(self, files: Listing) -> str:
        """Return the directory of the hosts that is the root of Hadoop's view of them. It is the source if that is a
        directory, otherwise the parent of source or target. A mount at this directory is checked."""
        path = self.target if self.from_hdfs else self.source
        return str(PurePosixPath(path).parent) if self.from_hdfs or "" in files else path

    def uris(self, default: str, files: Listing) -> tuple[str, str]:
        """Return source and target as URIs for Hadoop, whose HDFS is `default`."""
        if self.from_hdfs:
            return f"{default}{self.source}", f"{_VIEW}/{PurePosixPath(self.target).name}"
        name = PurePosixPath(self.source).name if "" in files else ""
        return f"{_VIEW}/{name}", f"{default}{self.target}"


class Stage:
    """Copies once. `cluster` has HDFS, and hosts that see the shared path."""

    def __init__(self, cluster: LiveCluster, wish: Wish, hdfs: str) -> None:
        """`hdfs` tells this HDFS from every other one."""
        self._cluster = cluster
        self._wish = wish
        self._hdfs = hdfs
        self._tag = f"{STAGE}-{secrets.token_hex(4)}"
        self._files: Listing = {}
        self._file = ledger.place_of(wish.way, wish.source, wish.target, hdfs)

    def run(self, progress: Callable[[JobProgress, int], None]) -> ledger.Entry:
        """Copy what is missing at the target, and return the entry in the ledger. `progress` receives the progress of
        the copy and its bytes in all.

        Raises:
            UsageError: there is nothing to copy, or something else is at the target.
            HostProblem: hosts see different files, or there is no room.
            WorkloadFailed: DistCp failed; a second try goes on.
            Untrusted: the source was changed meanwhile, or the copy is not equal to it.
        """
        wish = self._wish
        files = self._files = self._source()
        before = ledger.read(self._file)
        resumed = before is not None and before.state == "copying"
        if not resumed:
            self._refuse_target()
        there = self._target()
        self._check_room(files, there)
        settings = {"maps": wish.maps, "replication": wish.replication, "hosts": list(self._cluster.hosts)}
        entry = ledger.Entry(
            wish.way,
            wish.source,
            wish.target,
            self._hdfs,
            "copying",
            time.time(),
            ledger.sizes(files),
            copied=_missing(files, there),
            settings=settings,
        )
        ledger.write(self._file, entry)
        self._cluster.lease(self._tag)
        began = time.monotonic()
        # A lease that is not released ends what still runs of it.
        self._copy(lambda seen: progress(seen, entry.copied))
        self._cluster.release()
        seconds = time.monotonic() - began
        self._tidy()
        if self._source() != files:
            raise Untrusted(f"{wish.source} was changed while it was copied", hint="Stage it again once it is quiet.")
        now = self._target()
        moved = moving(there, now) if self._wish.way == "in" else None
        rate = None if moved is None else moved[0] / moved[1]
        verified = self._verify(files, now)
        if self._wish.from_hdfs and not resumed:
            remember_copy(entry.bytes, seconds)
        done = replace(entry, state="done", seconds=seconds, rate=rate, verified=verified)
        ledger.write(self._file, done)
        return done

    @property
    def file(self) -> Path:
        """The file of this stage in the ledger."""
        return self._file

    def _source(self) -> Listing:
        if self._wish.way == "in":
            return shared_files(self._cluster.hosts, self._wish.source)
        return hdfs_files(self._cluster.webhdfs, self._wish.source)

    def _target(self) -> Listing:
        """Return the files at the target; empty if there are none."""
        try:
            if self._wish.way == "in":
                found = hdfs_files(self._cluster.webhdfs, self._wish.target)
            else:
                found = shared_files(self._cluster.hosts, self._wish.target)
        except (UsageError, HostProblem):
            return {}
        return {name: one for name, one in found.items() if not PurePosixPath(name).name.startswith(TEMPORARY)}

    def _refuse_target(self) -> None:
        wish = self._wish
        if wish.way == "in":
            there = self._cluster.webhdfs.exists(wish.target)
        else:
            there = operations.resolve_path(self._host, wish.target) is not None
        if there:
            raise UsageError(
                f"{wish.target} is there already",
                hint="Howdah goes on with a stage of its own that was interrupted, and writes over nothing else.",
            )

    @property
    def _host(self) -> Host:
        return next(iter(self._cluster.hosts.values()))

    def _check_room(self, files: Listing, there: Listing) -> None:
        needed = sum(file.bytes for file in files.values()) - sum(file.bytes for file in there.values())
        if self._wish.way == "in":
            copies = self._wish.replication or int(self._cluster.settings.get("dfs.replication", "3"))
            needed, free = needed * copies, self._cluster.namenode.status().remaining
        else:
            free = operations.space(self._host, self._wish.root(files)).free
        if needed > free:
            raise HostProblem(
                f"{format_bytes(needed)} do not fit into {self._wish.target}: {format_bytes(free)} are free"
            )

    def _copy(self, progress: Callable[[JobProgress], None]) -> None:
        """Run DistCp. Raises WorkloadFailed."""
        # With -update, what is there and equal is left as it is: so a stage that was interrupted goes on.
        options = ("-libjars", str(self._jar), "-update", "-m", str(self._wish.maps))
        with tempfile.TemporaryDirectory(prefix="howdah-stage-") as place:
            argv, environment = self._command(Path(place), "distcp", *options, *self._uris)
            client = Client(argv, environment, self._tag, f"{place}/client.log")
            # It goes on when the hosts are about to be taken away: what is copied by then is not lost.
            done = submit(self._cluster, client, progress=progress, check=self._cluster.check_masters)
        if done.code != 0:
            self._cluster.check_hosts()
            said = "\n".join(done.said[-_LOG_LINES:])
            hint = "The same command goes on with what is left to copy."
            raise WorkloadFailed(f"DistCp failed with code {done.code}:\n{said}", hint=hint)

    def _tidy(self) -> None:
        """Remove the unfinished files of maps that were killed."""
        wish = self._wish
        if wish.way == "in":
            for name in hdfs_files(self._cluster.webhdfs, wish.target):
                if PurePosixPath(name).name.startswith(TEMPORARY):
                    self._cluster.webhdfs.delete(f"{wish.target}/{name}")
        else:
            for name in operations.walk(self._host, wish.target):
                if PurePosixPath(name).name.startswith(TEMPORARY):
                    operations.remove(self._host, f"{wish.target}/{name}")

    def _verify(self, files: Listing, copied: Listing) -> str | None:
        """Return the evidence that every file is equal: `length`, or a kind of checksum. None if HDFS has no checksum
        that can be compared. Raises Untrusted."""
        wanted, there, target = ledger.sizes(files), ledger.sizes(copied), self._wish.target
        if there != wanted:
            wrong = [name for name in {**wanted, **there} if there.get(name) != wanted.get(name)]
            raise Untrusted(f"{len(wrong)} files of {target} are not as in the source: {', '.join(wrong[:3])}")
        # Those without content are equal by their length.
        filled = [name for name, size in wanted.items() if size]
        if not filled:
            return "length"
        chosen = _chosen(filled, wanted)
        first, second = (self._checksums(chosen, uri, sum(wanted[name] for name in chosen)) for uri in self._uris)
        kinds = {kind for found in (first, second) for kind, _ in found.values()}
        if len(kinds) != 1 or not next(iter(kinds)).startswith("COMPOSITE-CRC"):
            return None
        if wrong := [name for name in chosen if first[name] != second[name]]:
            raise Untrusted(f"checksums of {', '.join(wrong[:3])} in {target} are not those of the source")
        return next(iter(kinds))

    def _checksums(self, names: Sequence[str], uri: str, size: int) -> Mapping[str, tuple[str, str]]:
        """Return kind and value of the checksums of files below `uri`, by name. `size` is their bytes in all."""
        uris = {f"{uri.rstrip('/')}/{name}" if name else uri: name for name in names}
        with tempfile.TemporaryDirectory(prefix="howdah-stage-") as place:
            argv, environment = self._command(Path(place), "fs", "-checksum", *uris)
            run = self._cluster.client.run(argv, timeout=_COMMAND_SECONDS + size / _SLOWEST, env=environment)
        found = {}
        for line in run.stdout.decode(errors="replace").splitlines():
            words = line.split("\t")
            if len(words) == 3 and words[0] in uris:
                found[uris[words[0]]] = (words[1], words[2])
        return {name: found.get(name, ("none", "")) for name in names}

    @property
    def _uris(self) -> tuple[str, str]:
        return self._wish.uris(self._cluster.settings["fs.defaultFS"].rstrip("/"), self._files)

    @property
    def _jar(self) -> Path:
        return own_jar(FILESYSTEM_JAR)

    def _command(self, place: Path, *words: str) -> tuple[list[str], Mapping[str, str]]:
        """Return a command of Hadoop, whose configuration is in `place`, and its environment."""
        root = self._wish.root(self._files)
        mounted = operations.mounted_type(self._host, root)
        settings = {
            f"fs.{POSIX_SCHEME}.impl": "org.howdah.filesystem.PosixFileSystem",
            f"fs.AbstractFileSystem.{POSIX_SCHEME}.impl": "org.howdah.filesystem.PosixFs",
            f"fs.{POSIX_SCHEME}.mount.{_AUTHORITY}": root,
            # A mount that is lost is noticed: nothing is read from, or written to, the disk below it.
            f"fs.{POSIX_SCHEME}.mount.required": "false" if mounted is None else "true",
            f"fs.{POSIX_SCHEME}.mount.type": mounted or "",
            "dfs.checksum.combine.mode": "COMPOSITE_CRC",
            "mapreduce.job.tags": self._tag,
            **({} if self._wish.replication is None else {"dfs.replication": str(self._wish.replication)}),
        }
        conf = place / "conf"
        conf.mkdir(exist_ok=True)
        for name, content in self._cluster.client_files(settings).items():
            (conf / name).write_bytes(content)
        environment = dict(self._cluster.shell_environment(conf))
        environment["HADOOP_CLASSPATH"] = ":".join(filter(None, (environment.get("HADOOP_CLASSPATH"), str(self._jar))))
        return ["hadoop", *words], environment


def _missing(files: Listing, there: Listing) -> int:
    """Return the bytes of the files that are not `there` with the same length: DistCp copies them."""
    wanted, found = ledger.sizes(files), ledger.sizes(there)
    return sum(size for name, size in wanted.items() if found.get(name) != size)


def _chosen(names: Sequence[str], sizes: Mapping[str, int]) -> Sequence[str]:
    """Return some files, spread over all, and the same ones each time; few, if files are large."""
    found: list[str] = []
    for name in sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest()):
        if len(found) < _COMPARED and sum(sizes[one] for one in (*found, name)) <= _COMPARED_BYTES:
            found.append(name)
    return found or [min(names, key=lambda name: sizes[name])]


@contextmanager
def claimed(cluster: LiveCluster) -> Iterator[None]:
    """Claim the cluster for one stage alone: nothing is measured on it meanwhile."""
    cluster.claim()
    try:
        yield
    finally:
        cluster.close()
