"""The session in which a workload works: every program becomes a phase with its history, its numbers and its logs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.observer import Observer
from howdah.engine.run.client import now
from howdah.engine.run.commands import Commands
from howdah.engine.run.datasets import Datasets, Make, shaping
from howdah.engine.run.judge import Judge, bytes_written
from howdah.engine.run.phase import Hooks, PhaseRunner
from howdah.engine.run.record import Record
from howdah.engine.run.sampling import PhaseSampler
from howdah.engine.run.storages import storages_of
from howdah.errors import UsageError
from howdah.hadoop.configuration.keys import replacements, under_current_names
from howdah.model.metric import Metric
from howdah.model.run import PhaseKind
from howdah.model.sample import Quality
from howdah.storage import Storage
from howdah.storage.registry import files_at
from howdah.store import RunWriter
from howdah.workload import Dataset, Files, Ran
from howdah.workload.programs import Program, Programs


class JobSession:
    """See `howdah.workload.Session`. `record` has the results so far, `storages` the storages that the run has used."""

    def __init__(
        self,
        cluster: LiveCluster,
        storage: Storage,
        writer: RunWriter,
        observer: Observer,
        hooks: Hooks,
        *,
        run_id: str,
        settings: Mapping[str, str],
        defaults: Mapping[str, str],
        reuse: bool,
    ) -> None:
        """`settings` are Hadoop keys for every job; `defaults` are those that jobs have unless `settings` has them.
        `reuse` allows data of earlier runs."""
        self.storage = storage
        self.storages = [storage]
        self.directory = f"/howdah/{run_id}"
        self.record = Record(cluster.client.name)
        self._cluster = cluster
        self._settings = settings
        self._defaults = defaults
        self._reuse = reuse
        self._commands = Commands(cluster, storage, self.directory, settings)
        self._sampler = PhaseSampler(cluster, self.record)
        judge = Judge(cluster, storage, self.directory, settings, writer, self.record)
        given = {**defaults, **settings}
        self._runner = PhaseRunner(
            *(cluster, writer, observer, judge, self._sampler, self.record, hooks), tag=run_tag(run_id), settings=given
        )

    @cached_property
    def programs(self) -> Programs:
        return self._commands.programs()

    def dataset(self, identity: Mapping[str, Any], make: Make) -> Dataset:
        version = self._cluster.distribution.version
        replaced = replacements(version)
        held, asked = (under_current_names(one, replaced) for one in (self._cluster.settings, self._settings))
        shaped = shaping({**held, **self._defaults, **asked})
        surroundings = {"hadoop": version, "nodes": self._nodes(), "settings": shaped}
        datasets = Datasets(self.storage, self.directory, reuse=self._reuse, surroundings=surroundings, asked=asked)
        dataset, problem = datasets.obtain(identity, make)
        if problem is not None:
            self.caveat(problem)
        return dataset

    def _nodes(self) -> int:
        """Return the number of nodes. For a cluster that Howdah did not start, it is the number that run now."""
        known: int | None = self._cluster.description.get("nodes")
        if known is not None:
            return known
        return sum(one.state == "RUNNING" for one in self._cluster.resourcemanager.nodes())

    def other(self, name: str) -> Files:
        if name == self.storage.name:
            return self.storage
        there = storages_of(self._cluster)
        if name not in there:
            raise UsageError(f"the cluster has no storage {name}; it has {', '.join(there)}")
        self.storages.append(there[name])
        return there[name]

    def local(self, directory: str | None) -> Files:
        directory = directory or self._cluster.common_directory
        if directory is None:
            raise UsageError(
                "no directory is known that every node of this cluster sees", hint="Name one: --directory DIR."
            )
        storage = files_at(self._cluster.client, directory)
        self.storages.append(storage)
        return storage

    def run(
        self,
        phase: str,
        kind: PhaseKind,
        program: Program,
        *,
        data_bytes: int | None = None,
        one_job: bool = False,
    ) -> Ran:
        launch = self._commands.launch(program, phase, self._runner.tags(phase))
        submission, found, log = self._runner.run(phase, kind, launch, data_bytes=data_bytes, one_job=one_job)
        printed = log.read_text(encoding="utf-8", errors="replace")
        start, end = submission.start.monotonic, submission.end.monotonic
        return Ran(found, printed, submission.code, start, end, bytes_written(self.storage, found))

    def caveat(self, text: str) -> None:
        self.record.caveat("run", text)

    def moved(self, phase: str, data_bytes: int) -> None:
        self._sampler.moved(phase, data_bytes)

    def sample(
        self, metric: Metric, value: float, *, phase: str, quality: Quality = "measured", source: str | None = None
    ) -> None:
        given = metric.source if source is None else source
        self.record.at(phase, now())(metric, value, quality, given, "client")

    def account(self) -> None:
        """See `PhaseSampler.account`."""
        self._sampler.account()


def run_tag(run_id: str) -> str:
    """Return the YARN application tag of everything that a run submits. YARN folds tags to lower case."""
    return f"howdah-{run_id}".lower()
