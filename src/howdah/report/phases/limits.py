"""The bottleneck of a phase: the use of its hosts against the bounds from calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from howdah.model.run import Phase
from howdah.model.sample import DISKS, MACHINE
from howdah.report.document.drawing import Step
from howdah.report.document.results import CALIBRATION
from howdah.report.document.wording import percent
from howdah.report.phases.jobs import PhaseJob
from howdah.report.phases.series import ALL_CPU, BUSY, STOLEN, Counter, HostSeries
from howdah.store import StoredRun

LIMITED = 0.85
NEAR = 0.60
EXCEEDED = 1.1
"""A mean use above this multiple of a bound means that calibration was disturbed. A host cannot surpass itself."""
MUCH = 0.1
"""The minimum share of a host's bytes for which a disk without calibration is shown."""
RULE = (
    "For each phase, the mean use of each resource is divided by its bound from calibration. The phase lasts from the "
    "submission of its first job to the end of its last job, or is taken whole if it has no job. "
    f"At {percent(LIMITED)} or more of its bound, a resource limited the phase. From {percent(NEAR)} it was the "
    "nearest to its bound. Below that no resource limited it, and the time went into waiting, latency or scheduling. "
    "A mean hides bursts: “time at bound” is the share of seconds in which the busiest resource was at "
    f"{percent(LIMITED)} or more. If the bound of the processors is missing or was exceeded, their number counts. "
    "The bounds of disks and of the network are what calibration reached with few streams: one stream of buffered "
    "writes, fsync included; four direct reads at a time of what was just written; one TCP connection. More streams "
    f"may reach more. A disk that calibration did not measure is shown if it has at least {percent(MUCH)} of the "
    "host's bytes."
)


@dataclass(frozen=True, slots=True)
class Load:
    """The mean use of one resource of one host in a phase. `share` is of its bound; None without a bound.

    `disks` names the disks, as in a sample's role, or a network card or simulated host; "" if they are not known apart.
    `at_bound` is the share of the phase's time with a use of at least `LIMITED` of the bound. `exceeded` is the result
    of calibration if the use proves it wrong; it is then not used as a bound.

    `burst` is the number of seconds of the phase in which the use was above `EXCEEDED` times the result of calibration.
    `highest` is the highest use. Processors have neither.
    """

    resource: str
    host: str
    unit: str
    used: float
    bound: float | None
    share: float | None
    at_bound: float | None
    exceeded: float | None = None
    disks: str = ""
    burst: float = 0.0
    highest: float | None = None

    @property
    def name(self) -> str:
        """The resource, with the names of its disks."""
        return f"{self.resource} of {self.disks}" if self.disks else self.resource


@dataclass(frozen=True, slots=True)
class PhaseLimit:
    """The loads of one phase, and the verdict on them in words."""

    phase: str
    loads: tuple[Load, ...]
    verdict: str


@dataclass(frozen=True, slots=True)
class _Resource:
    name: str
    unit: str
    bound: str
    limited: str


_CPU = _Resource("CPU", "cores", "bound_cpu_cores", "the processors limited it")
_NETWORK = _Resource("network", "B/s", "bound_network", "the network limited it")
_RESOURCES = (
    _CPU,
    _Resource("disk write", "B/s", "bound_disk_write", "writing to disk limited it"),
    _Resource("disk read", "B/s", "bound_disk_read", "reading from disk limited it"),
    _Resource("loopback", "B/s", "bound_loopback", "the loopback network limited it"),
    _NETWORK,
)


def window(phase: Phase, jobs: tuple[PhaseJob, ...]) -> tuple[float, float] | None:
    """Return the judged period of a phase (UTC); None if the phase never ended."""
    own = [entry.job for entry in jobs if entry.phase == phase.name]
    if own:
        return min(job.submit for job in own), max(job.finish for job in own)
    return None if phase.end is None else (phase.start.utc, phase.end.utc)


def find_limits(run: StoredRun, series: tuple[HostSeries, ...], jobs: tuple[PhaseJob, ...]) -> tuple[PhaseLimit, ...]:
    """Return the limits of every phase that the series cover."""
    found = []
    for phase in run.run.phases:
        span = window(phase, jobs)
        loads = () if span is None else tuple(load for host in series for load in _loads(run, host, *span))
        if loads:
            found.append(PhaseLimit(phase.name, loads, judge(loads)))
    return tuple(found)


def bounds_of(run: StoredRun, metric: str, host: str) -> dict[str, float]:
    """Return the bounds of a host from calibration, by role: `machine`, or disks."""
    found: dict[str, float] = {}
    for sample in run.samples:
        if sample.phase == CALIBRATION and sample.metric == metric and sample.host == host:
            found.setdefault(sample.role, sample.value)  # The work directory's is the first.
    return found


def bound_of(run: StoredRun, metric: str, host: str) -> float | None:
    """Return the bound of a whole host from calibration, disks added up; None if there is none."""
    found = bounds_of(run, metric, host)
    return found.get(MACHINE, sum(found.values()) or None)


def processors(host: HostSeries, start: float, end: float) -> float | None:
    """Return the number of processors that the host's counters add up to."""
    return host.cpu(ALL_CPU).rate(start, end)


def _processors_of(run: StoredRun, there: float | None) -> float | None:
    """Return how many of the processors `there` the cluster may use."""
    allowed = _allowed(run)
    return there if allowed is None or there is None else min(allowed, there)


def _allowed(run: StoredRun) -> float | None:
    """Return the number of processors that the cluster was confined to; None if it was not confined."""
    allowed = run.run.cluster.get("defaults", {}).get("processors")
    return None if allowed is None else float(allowed)


def cpu_bound(run: StoredRun, host: HostSeries, start: float, end: float) -> float | None:
    """Return a host's processors by calibration, or by count if calibration has none or was exceeded."""
    cpu = [load for load in _loads(run, host, start, end) if load.resource == _CPU.name]
    return cpu[0].bound if cpu else None


def stolen(series: tuple[HostSeries, ...], start: float, end: float) -> float | None:
    """Return the largest share of a host's processor time that its hypervisor gave to others."""
    shares = []
    for host in series:
        taken, everything = host.cpu(STOLEN).rate(start, end), processors(host, start, end)
        if taken is not None and everything:
            shares.append(taken / everything)
    return max(shares, default=None)


def _loads(run: StoredRun, host: HostSeries, start: float, end: float) -> list[Load]:
    loads = []
    for resource in _RESOURCES:
        for disks, counter, calibrated in _uses(run, host, resource, start, end):
            used = counter.rate(start, end)
            if used is None:
                continue
            # Of a cluster that has some of the processors, the others are at work for whoever.
            shared = resource is _CPU and _allowed(run) is not None
            exceeded = calibrated is not None and used > EXCEEDED * calibrated and not shared
            bound = None if exceeded else calibrated
            if bound is None and resource is _CPU and not disks:
                bound = _processors_of(run, processors(host, start, end))
            share = at_bound = None
            steps = counter.steps(start, end)
            if bound:
                # A processor does no more than all of its time: calibration met a little more of other work, or steal.
                share = min(1.0, used / bound) if resource is _CPU else used / bound
                at_bound = _seconds(steps, LIMITED * bound) / (end - start)
            burst = 0.0 if calibrated is None or resource is _CPU else _seconds(steps, EXCEEDED * calibrated)
            loads.append(
                Load(
                    *(resource.name, host.host, resource.unit, used, bound, share, at_bound),
                    exceeded=calibrated if exceeded else None,
                    disks=disks,
                    burst=burst,
                    highest=max(step.value for step in steps) if burst else None,
                )
            )
    return loads


def _seconds(steps: Sequence[Step], least: float) -> float:
    """Return for how many seconds a rate was `least` or more."""
    return sum((step.end - step.start for step in steps if step.value >= least), 0.0)


def _uses(
    run: StoredRun, host: HostSeries, resource: _Resource, start: float, end: float
) -> Iterator[tuple[str, Counter, float | None]]:
    """Yield the parts of a resource, each with its counter and its bound.

    A part is a disk or a network card, or "" for the whole resource. The counter of a card is that of the direction
    with more traffic.
    """
    bounds = bounds_of(run, resource.bound, host.host)
    if resource is _CPU:
        yield "", host.cpu(BUSY), bounds.get(MACHINE)
        for simulated in sorted(bounds.keys() - {MACHINE}):
            yield simulated, host.cpu_of(simulated), bounds[simulated]
    elif resource.name == "loopback":
        # Hosts with a network between them hardly use it, and nobody reads that of simulated ones.
        if not bounds_of(run, _NETWORK.bound, host.host):
            yield "", host.network("receive_bytes", loopback=True), bounds.get(MACHINE)
    elif resource is _NETWORK:
        for card, bound in bounds.items():
            ways = [
                host.network(column, loopback=False) if card == MACHINE else host.card(column, {card})
                for column in ("receive_bytes", "send_bytes")
            ]
            yield "" if card == MACHINE else card, max(ways, key=lambda way: way.rate(start, end) or 0.0), bound
    else:
        column = "write_bytes" if resource.name == "disk write" else "read_bytes"
        if not bounds or MACHINE in bounds:
            yield "", host.disk(column), bounds.get(MACHINE)
            return
        for disks, bound in bounds.items():
            yield disks, host.disk(column, disks.split(DISKS)), bound
        others = host.disks.difference(*(disks.split(DISKS) for disks in bounds))
        counter, whole = host.disk(column, others), host.disk(column).rate(start, end)
        if others and whole and (counter.rate(start, end) or 0) >= MUCH * whole:
            yield DISKS.join(sorted(others)), counter, None


def judge(loads: tuple[Load, ...]) -> str:
    """Return the verdict on a phase with these loads, by `RULE`."""
    bounded = [(load.share, load) for load in loads if load.share is not None]
    if not bounded:
        return "no bound is known to judge it by"
    share, highest = max(bounded, key=lambda pair: pair[0])
    words = f"{highest.name} {percent(share)} {'busy' if highest.resource == _CPU.name else 'of its bound'}"
    if len({load.host for load in loads}) > 1:
        words += f" on {highest.host}"
    if share >= LIMITED:
        return f"{words}: {next(r.limited for r in _RESOURCES if r.name == highest.resource)}"
    if share >= NEAR:
        return f"{words}: the nearest to its bound, but not at it"
    unbounded = sorted({load.resource for load in loads if load.share is None})
    unknown = f" (no bound is known for {' and '.join(unbounded)})" if unbounded else ""
    return f"nothing above {percent(NEAR)} of its bound: waiting, latency or scheduling{unknown}"
