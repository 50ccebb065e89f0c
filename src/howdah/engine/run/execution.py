"""One run: prepare → run → verify on a cluster that is up, and a closed run directory in any case."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import howdah
from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.state import DaemonLost, Lost
from howdah.cluster.walltime import end_is_near
from howdah.engine.evidence import metrics
from howdah.engine.evidence.acceleration import no_part, rebuilt, with_plugins
from howdah.engine.evidence.clocks import Clocks
from howdah.engine.evidence.cluster import check_cluster, check_emptied, full_disk, lost_daemons
from howdah.engine.evidence.readback import check_settings, distinguishing, read_back
from howdah.engine.evidence.surroundings import keep_configuration, keep_logs, read_environment
from howdah.engine.observer import Both, Observer
from howdah.engine.run.bounds import Bounds
from howdah.engine.run.client import now
from howdah.engine.run.datasets import digest_of
from howdah.engine.run.faults import Disturber, Fault
from howdah.engine.run.phase import Hooks
from howdah.engine.run.session import JobSession, run_tag
from howdah.engine.run.storages import written
from howdah.errors import HostProblem, HostsTaken, HowdahError, Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.distribution.spark import find_spark
from howdah.host import operations
from howdah.host.over import of_reachable
from howdah.model.accelerator import NONE, accelerator_of
from howdah.model.environment import Environment
from howdah.model.quantity import format_seconds
from howdah.model.run import Caveat, Check, Outcome, OutcomeKind, Run, Trial
from howdah.model.sample import Sample
from howdah.model.storage import HDFS
from howdah.probe import Probe, Subject
from howdah.probe.power import PowerProbe
from howdah.probe.registry import make_probes
from howdah.spec.meters import NO_METERS, Meters
from howdah.storage import Storage
from howdah.store import RunWriter, new_run_id, read_run
from howdah.store.layout import ENERGY
from howdah.workload import Settings, Workload, measured_phases
from howdah.workload.registry import own_jars
from howdah.workload.spark import SPARK

_LOG_BYTES = 1 << 20
_LOCAL = {"kind": "local"}
"""The allocation of clusters on this machine, as one host."""
_NO_WISHES = ("silence", "config", "holder", "payload", "devices")
_NAMES = ("name", "user", "port", "address")
"""The names of a listed host, for ssh and for others."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of runs, whatever they run.

    The run directory goes below `root`; `command` is what to type to repeat the run. `probes` are names, None means
    all. `reuse` allows data of earlier runs. A phase is stopped once the run has taken `limit_seconds`. If `cold`,
    files are out of the page cache when each phase of the workload begins; `fault` happens in the measured phase.
    `meters` are the meters of power.
    """

    root: Path
    command: Sequence[str]
    probes: tuple[str, ...] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    reuse: bool = False
    limit_seconds: float | None = None
    cold: bool = False
    fault: Fault | None = None
    meters: Meters = NO_METERS


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The content of one run: `workload` with its `settings` on `storage`. Jobs have the Hadoop keys `defaults` unless
    the settings have them."""

    workload: Workload
    settings: Settings
    storage: Storage
    defaults: Mapping[str, str]


class Execution:
    """Executes one run. Use once."""

    refused: UsageError | None = None
    """The error in the request, if only the run itself could find it."""

    def __init__(
        self, cluster: LiveCluster, plan: RunPlan, options: RunOptions, observer: Observer, bounds: Bounds
    ) -> None:
        """`bounds` are the rates that the machines reached in the calibration of this session."""
        workload, settings = plan.workload, plan.settings
        self._cluster = cluster
        self._workload = workload
        self._settings = settings
        self._options = options
        self._probes = make_probes(options.probes, options.meters)
        self._observer = observer
        self._bounds = bounds
        self._measured = measured_phases(workload)
        self._disturber = None if options.fault is None else Disturber(cluster, options.fault, self._measured)
        self._run = Run(
            id=new_run_id(workload.name, time.time()),
            title=workload.title,
            trial=Trial(workload.name, _asked(cluster, plan, self._probes, options)),
            outcome=Outcome("running"),
            start=now(),
            end=None,
            howdah=howdah.__version__,
            command=tuple(options.command),
            cluster=cluster.description,
            primary=workload.primary,
            metrics=tuple(metrics.metrics_of(workload).values()),
            labels=options.labels,
        )
        self._writer = RunWriter(options.root, self._run)
        self._environment, self._emptied = dict[str, Environment](), dict[str, Check]()
        self._warned = False
        self._session = JobSession(
            cluster,
            plan.storage,
            self._writer,
            observer if self._disturber is None else Both(observer, self._disturber),
            Hooks(self._check, self._update, self._empty_cache, self._undo_fault),
            run_id=self._run.id,
            settings=with_plugins(cluster, settings["conf"]),
            defaults=plan.defaults,
            reuse=options.reuse,
        )
        self._record = self._session.record

    @property
    def path(self) -> Path:
        """The run directory."""
        return self._writer.path

    def execute(self) -> Run:
        """Return the closed run, whose outcome says how it went.

        An interruption (KeyboardInterrupt) makes the run `aborted`, and so does a batch system that takes the hosts
        away (HostsTaken). Both, and errors that are not HowdahError, are raised again after the directory was closed.
        """
        raised: BaseException | None = None
        outcome = Outcome("aborted", "unfinished")
        try:
            self._cluster.lease(run_tag(self._run.id))
            self._before()
            outcome = self._attempt()
        except HowdahError as error:
            raised = _taken(self._cluster, error, self.path)
            outcome = self._failed(error) if raised is None else Outcome("aborted", raised.message)
        except KeyboardInterrupt as error:
            phase = self._record.phases[-1].name if self._record.phases else "preparation"
            outcome, raised = Outcome("aborted", f"interrupted in {phase}"), error
            error.add_note(f"The run is kept, as aborted: {self.path}")
        except Exception as error:
            outcome, raised = Outcome("failed", f"a fault in Howdah: {error!r}"), error
        self._close(outcome)
        if raised is not None:
            raise raised
        return self._run

    def _failed(self, error: HowdahError) -> Outcome:
        message = self._told(error.lost) if isinstance(error, DaemonLost) else error.message
        lost = (*self._lost(), *full_disk(self._cluster))
        also = (sentence for sentence in lost if sentence not in message)
        kind: OutcomeKind = "invalid" if isinstance(error, Untrusted) else "failed"
        self.refused = error if isinstance(error, UsageError) else None
        return Outcome(kind, "\n".join(filter(None, (message, *also, error.hint))))

    def _check(self) -> None:
        left = self._cluster.check_hosts()
        if not self._warned and (warning := end_is_near(left)) is not None:
            self._warned = True
            self._observer.step(warning)
        self._cluster.check_masters()
        limit = self._options.limit_seconds
        if limit is not None and time.monotonic() - self._run.start.monotonic > limit:
            raise WorkloadFailed(f"the run has taken longer than {format_seconds(limit)}, which is its limit")

    def _before(self) -> None:
        self._observer.step("reading the environment")
        self._clocks = Clocks(self._cluster.machines)
        self._clocks.compare()
        self._record.ahead = self._clocks.ahead
        self._environment["before"] = self._fingerprint()
        self._writer.environment(self._environment)
        self._record.caveats += [*keep_configuration(self._cluster, self._writer), *rebuilt(self._cluster)]
        if not self._cluster.observed:
            text = "environment and series are of the submitting machine; the cluster's hosts were out of reach"
            self._record.caveats.append(Caveat("run", text))
        texts = (*self._cluster.warnings, *self._bounds.caveats())
        self._record.caveats += [Caveat("run", text) for text in texts]
        cluster = self._cluster
        subjects = [
            Subject(one.machine, one.pid, one.daemon.role, None if place == "master" else place, one.host)
            for one in cluster.seen_daemons()
            for place in (one.daemon.place,)
        ]
        # What the run itself starts through its channel.
        subjects.append(Subject(cluster.client.name, 0, "client", None))
        for probe in self._probes:
            probe.start(cluster.machines, subjects, self._writer.series)
        self._idle = self._measure_idle(self._options.meters.idle) if self._metered else None

    @property
    def _metered(self) -> bool:
        return any(isinstance(probe, PowerProbe) for probe in self._probes)

    def _measure_idle(self, seconds: float) -> tuple[float, float] | None:
        """Let nothing run for `seconds`, and return the start and the end of that time; None for 0."""
        if not seconds:
            return None
        self._observer.step(f"measuring idle power for {format_seconds(seconds)}")
        first = 2 * max(source.interval for source in self._options.meters.sources)
        begun, began = time.time(), time.monotonic()
        while (left := began + first + seconds - time.monotonic()) > 0:
            self._check()
            time.sleep(min(1.0, left))
        return begun + first, begun + first + seconds

    def _attempt(self) -> Outcome:
        dataset = self._workload.prepare(self._session, self._settings)
        self._update(dataset=dataset)
        self._workload.run(self._session, self._settings)
        self._record.caveats += no_part(self._run.trial.accelerator, self._measured, self._record.with_map_output)
        self._update()
        verified = tuple(self._workload.verify(self._session, self._settings))
        checks = (*verified, *self._read_back())
        self._update(checks=checks)
        self._observer.checked(checks)
        wrong = [check for check in checks if not check.passed]
        if wrong or not verified:
            reason = "; ".join(f"{check.name}: {check.detail}" for check in wrong) or "nothing was verified"
            return Outcome("invalid", reason)
        return Outcome("valid")

    def _empty_cache(self) -> None:
        """Empty the page cache before each phase of the workload, if it is to be cold: a phase may read what the one
        before wrote."""
        if self._options.cold:
            self._observer.step("emptying the page cache")
            for name, host in self._cluster.machines.items():
                found = of_reachable(host, operations.empty_page_cache)
                emptied = None if found is None else check_emptied(*found)
                if emptied is not None and self._emptied.get(name, emptied).passed:  # One that failed stays.
                    self._emptied[name] = emptied

    def _read_back(self) -> tuple[Check, ...]:
        held = read_back(self.path)
        self._writer.readback(distinguishing(held, {self._run.id: "RUN", **self._cluster.own_names}))
        found = (
            check_settings(self._settings["conf"], held, self._measured),
            self._clocks.check(),
            *check_cluster(self._cluster, held),
            *self._emptied.values(),
            self._check_fault(),
        )
        return tuple(one for one in found if one is not None)

    def _undo_fault(self) -> None:
        if self._disturber is not None:
            self._disturber.undo()

    def _check_fault(self) -> Check | None:
        if self._disturber is None:
            return None
        happened = self._disturber.happened
        return Check("fault", happened, "it happened" if happened else "the job ended before it")

    def _close(self, outcome: Outcome) -> None:
        """Write what is left to write. Each step stands alone: a step that fails becomes a caveat, not a failure."""
        self._tidy("the fault lasts", self._undo_fault)
        if outcome.kind == "valid":
            self._tidy("cpu_seconds is missing", self._session.account)
        self._tidy("the probes did not end well", partial(self._stop_probes, whole=outcome.kind == "valid"))
        if outcome.kind != "valid":
            self._tidy("applications may still run", self._kill_applications)
        self._tidy("the environment after the run is missing", self._read_after)
        lost = self._lost()
        if outcome.kind != "valid" or lost:
            self._tidy("logs are missing", self._keep_logs)
        self._tidy("its data is still in the storage", self._remove_data)
        self._tidy("the lease was not released", self._cluster.release)
        for sentence in lost:
            self._record.caveats.append(Caveat("run", sentence))
        if outcome.kind == "valid":
            if self._metered:
                self._tidy("there is no energy", self._add_energy)
            self._writer.samples((*self._bounds.samples(self._cluster, self._run.start), *self._record.samples))
        self._update(outcome=outcome, end=now())
        self._writer.close()
        self._observer.run_ended(self._run)

    def _stop_probes(self, *, whole: bool) -> None:
        spent: dict[str, float] = {}
        for probe in self._probes:
            for host, seconds in probe.stop(whole=whole).items():
                if isinstance(seconds, HostProblem):
                    text = f"{probe.name}: the series of {host} ends early: {seconds.message}"
                    self._record.caveats.append(Caveat("run", text))
                else:
                    spent[host] = spent.get(host, 0.0) + seconds
        metric = metrics.PROBE_CPU_SECONDS
        for host, seconds in spent.items():
            sample = Sample(metric.name, seconds, metric.unit, "measured", "agent", host, "probe", None, now())
            self._record.samples.append(sample)

    def _add_energy(self) -> None:
        from howdah.engine.energy.record import measure_energy  # It brings SciPy, for which no other run should wait.

        self._update()
        try:
            found = measure_energy(
                read_run(self.path),
                self._record.samples,
                list(self._cluster.machines),
                absent=[sentence for probe in self._probes for sentence in probe.absent],
                idle=self._idle,
                others=self._options.meters.others,
            )
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            # What meters may send is more than anybody has seen, and no reason to lose a run.
            raise HostProblem(f"a fault in Howdah: {error!r}") from error
        self._writer.keep_json(ENERGY, found.record)
        self._record.samples += found.samples
        self._record.caveats += [Caveat(metrics.ENERGY.name, text) for text in found.caveats]

    def _kill_applications(self) -> None:
        manager = self._cluster.resourcemanager
        for application in manager.applications(tag=run_tag(self._run.id)):
            if not application.ended:
                manager.kill(application.id)

    def _remove_data(self) -> None:
        for storage in self._session.storages:
            storage.remove(self._session.directory)

    def _keep_logs(self) -> None:
        own: set[str] | None = None
        with suppress(HowdahError):  # A ResourceManager that is gone says nothing: then the logs of all are kept.
            found = self._cluster.resourcemanager.applications(tag=run_tag(self._run.id))
            own = {application.id for application in found}
        keep_logs(self._cluster, self._writer, own, _LOG_BYTES)

    def _read_after(self) -> None:
        self._environment["after"] = self._fingerprint()
        self._writer.environment(self._environment)

    def _fingerprint(self) -> Environment:
        spark = find_spark() if SPARK in self._settings else None
        return read_environment(self._cluster, own_jars(self._workload), spark)

    def _lost(self) -> tuple[str, ...]:
        return tuple(map(self._told, lost_daemons(self._cluster)))

    def _told(self, lost: Lost) -> str:
        """Return a sentence about a loss that names the run's copy of the daemon's log: the cluster may be gone when
        somebody reads it."""
        return lost.logged_in(self.path / "logs" / "daemons").sentence

    def _tidy(self, consequence: str, step: Callable[[], None]) -> None:
        try:
            step()
        except (HowdahError, OSError) as error:
            said = error.message if isinstance(error, HowdahError) else str(error)
            self._record.caveats.append(Caveat("run", f"{consequence}: {said}"))

    def _update(self, **changes: Any) -> None:
        self._run = replace(
            self._run, phases=tuple(self._record.phases), caveats=tuple(self._record.caveats), **changes
        )
        self._writer.save(self._run)


def _taken(cluster: LiveCluster, error: HowdahError, path: Path) -> HostsTaken | None:
    """Return HostsTaken if the cluster's hosts are taken away, and None otherwise. Any other error then follows from
    it, and the run in `path` is aborted."""
    try:
        cluster.check_hosts()
    except HowdahError as found:
        error = found if isinstance(found, HostsTaken) else error
    if not isinstance(error, HostsTaken):
        return None
    return HostsTaken(error.message, hint=f"The run is kept, as aborted: {path}")


def _hosts_asked(allocation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was requested of hosts, whatever their names: equal hosts are compared by rank, and what they are is
    in the environment."""
    if "job" in allocation:  # Each has other hosts.
        return {"kind": allocation["kind"]}
    # How long an end may be silent, who may be told of what and by which process hosts are held change nothing that is
    # measured; a payload is no wish.
    asked = {key: value for key, value in allocation.items() if key not in _NO_WISHES}
    if "listed" in allocation:
        listed = allocation["listed"]
        asked["listed"] = [{key: value for key, value in one.items() if key not in _NAMES} for one in listed]
    return asked


def _asked(cluster: LiveCluster, plan: RunPlan, probes: Sequence[Probe], options: RunOptions) -> dict[str, Any]:
    """Return everything that was requested and resolved: replicates of one trial agree in all of it."""
    description = cluster.description
    asked = {
        key: description[key] for key in ("kind", "nodes", "hadoop", "jdk", "sizing", "defaults") if key in description
    }
    if description.get("allocation", _LOCAL)["kind"] != _LOCAL["kind"]:
        asked["allocation"] = _hosts_asked(description["allocation"])
    if "conf" in description:  # Of a cluster that is not ours, its files are all that tells it from another.
        asked["settings_sha256"] = digest_of(dict(cluster.settings))
    accelerator = accelerator_of({**cluster.settings, **plan.settings["conf"]})
    return {
        "workload": dict(plan.settings),
        "cluster": asked,
        "probes": [probe.name for probe in probes],
        "data": "reuse" if options.reuse else "fresh",
        **({"cache": "dropped"} if options.cold else {}),
        **({} if options.fault is None else {"fault": options.fault.record()}),
        **({} if plan.storage.name == HDFS else {"storage": written(cluster, plan.storage)}),
        **({} if accelerator == NONE else {"accelerator": accelerator}),
    }
