"""The timeline of one job: its attempts in lanes, and the use of the hosts meanwhile."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from howdah.model.job import Attempt
from howdah.report.document.drawing import Panel, Step, Stretch, Strips, Timeline, Track
from howdah.report.document.theme import STEP_HEIGHTS, step_colour
from howdah.report.document.wording import quantity
from howdah.report.phases.jobs import PhaseJob, steps_of
from howdah.report.phases.limits import bound_of, cpu_bound
from howdah.report.phases.power import power_of
from howdah.report.phases.series import BUSY, WAITING, Counter, HostSeries
from howdah.report.phases.times import SUCCEEDED
from howdah.store import StoredRun

LABELLED = 60
"""The number of attempts up to which each is labelled. More labels would not fit."""
TITLED = 300
"""The number of attempts up to which each has a tooltip. With more, the page would grow by megabytes."""
NAMED = 12
"""The number of letters of a node's name that fit next to its lanes."""
HOSTS = 12
"""The number of hosts up to which each has a strip. If there are more, those that used most and least have one."""
NODEMANAGER = "nodemanager"
CELLS = 90
"""The number of cells of a strip."""
PIXELS = 900
"""The approximate width of a timeline. Attempts less than a pixel apart are joined; rates are means over a pixel."""


def build_timeline(run: StoredRun, entry: PhaseJob, series: Sequence[HostSeries]) -> Timeline:
    """Return the timeline of a job. Lanes are container slots: an attempt takes the first free lane of its node."""
    job = entry.job
    placed = place(job.attempts)
    nodes = [node for node, lanes in placed for _ in lanes]
    shown = node_names(nodes, names_of(run.run.cluster))
    names = tuple(shown[node] if index == 0 or nodes[index - 1] != node else "" for index, node in enumerate(nodes))
    lanes = [lane for _, lanes in placed for lane in lanes]
    many = len(job.attempts)
    stretches = [
        stretch
        for index, lane in enumerate(lanes)
        for stretch in _joined(
            [
                piece
                for attempt in lane
                for piece in _pieces(attempt, index, job.submit, labelled=many <= LABELLED, titled=many <= TITLED)
            ],
            job.seconds / PIXELS if many > TITLED else 0.0,
        )
    ]
    panels, strips = _panels(run, series, job.submit, job.finish), _strips(series, job.submit, job.finish)
    return Timeline(job.seconds, names, tuple(stretches), panels, strips)


def place(attempts: Sequence[Attempt]) -> list[tuple[str, list[list[Attempt]]]]:
    """Return attempts by node and lane, without overlaps in a lane; nodes are sorted by name."""
    nodes: dict[str, list[list[Attempt]]] = {}
    for attempt in sorted(attempts, key=lambda attempt: (attempt.whole.start, attempt.id)):
        lanes = nodes.setdefault(attempt.node or "no node", [])
        free = next((lane for lane in lanes if lane[-1].whole.end <= attempt.whole.start), None)
        if free is None:
            lanes.append([attempt])
        else:
            free.append(attempt)
    return sorted(nodes.items())


def names_of(cluster: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the name of each node of a cluster by its address: that of its host, if there are several hosts and it is
    alone there, and otherwise that of its place."""
    addresses: Mapping[str, str] = cluster.get("addresses", {})
    hosts = {one["place"]: one["host"] for one in cluster.get("daemons", ()) if one["role"] == NODEMANAGER}
    nodes = Tally(hosts.values())
    if len(nodes) < 2:
        return addresses
    alone = {place: host for place, host in hosts.items() if nodes[host] == 1}
    return {address: alone.get(place, place) for address, place in addresses.items()}


def node_names(nodes: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return a name for each node that distinguishes it from the others.

    The name is that of a node whose address is `known`, or the host. It is without its domain unless two nodes would
    share it. The last resort is host and port.
    """
    hosts = {node: known.get(host := node.partition(":")[0], host) for node in nodes}
    bare = {node: host if host[:1].isdigit() else host.partition(".")[0] for node, host in hosts.items()}
    best = next(
        names for names in (bare, hosts, {node: node for node in nodes}) if len(set(names.values())) == len(names)
    )
    return {node: name if len(name) <= NAMED else "…" + name[1 - NAMED :] for node, name in best.items()}


def short_name(attempt: Attempt) -> str:
    """Return m 3 or r 0, with the attempt's number unless it is the first: m 3.1."""
    task, _, attempt_number = attempt.id.rpartition("_")
    number = task.rpartition("_")[2]
    again = "" if attempt_number in ("0", "") else f".{attempt_number}"
    return f"{attempt.kind[0]} {int(number)}{again}" if number.isdigit() else attempt.id


def _pieces(attempt: Attempt, lane: int, zero: float, *, labelled: bool, titled: bool) -> list[Stretch]:
    """Return the attempt's steps, or one hollow piece if it did not succeed."""
    name = short_name(attempt)
    if attempt.state != SUCCEEDED:
        start, end = attempt.whole.start - zero, attempt.whole.end - zero
        title = f"{attempt.id}: {attempt.state.lower()} after {quantity(attempt.whole.seconds, 's')}"
        return [Stretch(lane, start, end, "lost", 1.0, title, f"✕ {name}" if labelled else "", broken=True)]
    pieces = []
    longest = max(steps_of(attempt).values(), key=lambda span: span.seconds)
    for step, span in steps_of(attempt).items():
        title = f"{attempt.id}: {step} {quantity(span.seconds, 's')}" if titled else ""
        label = name if labelled and span == longest and STEP_HEIGHTS.get(step, 1.0) == 1.0 else ""
        colour, height = step_colour(step), STEP_HEIGHTS.get(step, 1.0)
        pieces.append(Stretch(lane, span.start - zero, span.end - zero, colour, height, title, label))
    return pieces


def _joined(stretches: list[Stretch], shortest: float) -> list[Stretch]:
    """Return `stretches` of one lane; those of one colour with a gap below `shortest` become one."""
    if not shortest:
        return stretches
    joined: list[Stretch] = []
    for stretch in stretches:
        last = joined[-1] if joined else None
        if (
            last is not None
            and (last.colour, last.broken) == (stretch.colour, stretch.broken)
            and stretch.start - last.end < shortest
        ):
            end = max(last.end, stretch.end)
            joined[-1] = Stretch(last.lane, last.start, end, last.colour, last.height, "", "", last.broken)
        else:
            joined.append(stretch)
    return joined


def _panels(run: StoredRun, series: Sequence[HostSeries], start: float, end: float) -> tuple[Panel, ...]:
    """Return processors, disks, network and power between two moments, all hosts added up; nothing without readings."""

    width = max(1.0, (end - start) / PIXELS)

    def track(name: str, colour: str, counters: list[Counter], bound: float | None = None, by: str = "bound") -> Track:
        return Track(name, colour, _added(counters, start, end, width) if counters else (), bound, by)

    def bound(metric: str) -> float | None:
        return _total([bound_of(run, metric, host.host) for host in series])

    cores = _total([cpu_bound(run, host, start, end) for host in series])
    disk = (
        track("write", "write", [host.disk("write_bytes") for host in series], bound("bound_disk_write"), "one stream"),
        track("read", "read", [host.disk("read_bytes") for host in series], bound("bound_disk_read"), "four at a time"),
    )
    between = bound("bound_network")
    loopback = [] if between is not None else [host.network("receive_bytes", loopback=True) for host in series]
    cards = [host.network("receive_bytes", loopback=False) for host in series]
    processor = (
        track("busy", "busy", [host.cpu(BUSY) for host in series], cores),
        track("waiting for disk", "waiting", [host.cpu(WAITING) for host in series]),
    )
    network = (
        track("loopback", "loopback", loopback, bound("bound_loopback"), "one stream"),
        track("cards", "cards", cards, between, "one stream each"),
    )
    drawn, meters = power_of(run)
    power = (track(drawn, "power", list(meters)),)
    panels = (
        Panel("processors", "cores", _seen(processor), stacked=True),
        Panel("disks", "B/s", _seen(disk), stacked=False),
        Panel("received", "B/s", _seen(network), stacked=False),
        Panel("power", "W", _seen(power), stacked=False),
    )
    return tuple(panel for panel in panels if panel.tracks)


_STRIPS = (("processors", "cores", "busy"), ("disks", "B/s", "write"), ("network", "B/s", "cards"))
"""The resources of a host that have strips: name, unit, colour."""


def _strips(series: Sequence[HostSeries], start: float, end: float) -> tuple[Strips, ...]:
    """Return the use of each resource by each host; nothing of a single host, or of a resource that nobody used."""
    hosts = {name: counters for one in series for name, counters in _counters(one)}
    found = []
    for place, (title, unit, colour) in enumerate(_STRIPS):
        rows = {name: steps for name, of in sorted(hosts.items()) if (steps := _cells(of[place], start, end))}
        peak = max((step.value for steps in rows.values() for step in steps), default=0.0)
        if len(rows) > 1 and peak > 0:
            shown = _extremes({name: fmean(step.value for step in steps) for name, steps in rows.items()})
            more = f", the {len(shown)} highest and lowest of {len(rows)}" if len(shown) < len(rows) else ""
            strips = tuple((name, rows[name]) for name in shown)
            found.append(Strips(f"{title} of each host{more}", unit, colour, peak, strips))
    return tuple(found)


def _counters(series: HostSeries) -> Iterator[tuple[str, tuple[Sequence[Counter], ...]]]:
    """Yield the counters of each of `_STRIPS` of a host, or of all the hosts that are simulated on it."""
    bytes_moved = ("read_bytes", "write_bytes"), ("receive_bytes", "send_bytes")
    for name in series.simulated:
        disks, cards = ({one for one in of if one.startswith(f"{name}/")} for of in (series.disks, series.interfaces))
        moved = [series.disk(column, disks) for column in bytes_moved[0]] if disks else []
        sent = [series.card(column, cards) for column in bytes_moved[1]] if cards else []
        yield name, ([series.cpu_of(name)], moved, sent)
    if not series.simulated:
        moved = [series.disk(column) for column in bytes_moved[0]]
        sent = [series.network(column, loopback=False) for column in bytes_moved[1]]
        yield series.host, ([series.cpu(BUSY)], moved, sent)


def _cells(counters: Sequence[Counter], start: float, end: float) -> tuple[Step, ...]:
    return _added(counters, start, end, max(1.0, (end - start) / CELLS)) if counters else ()


def _extremes(means: Mapping[str, float]) -> list[str]:
    """Return the names of all, or of those with the highest and with the lowest mean."""
    if len(means) <= HOSTS:
        return list(means)
    ordered = sorted(means, key=lambda name: -means[name])
    return [*ordered[: HOSTS // 2], *ordered[-HOSTS // 2 :]]


def _seen(tracks: tuple[Track, ...]) -> tuple[Track, ...]:
    return tuple(track for track in tracks if track.steps)


def _total(numbers: Sequence[float | None]) -> float | None:
    """Return the sum; None if a host has no number."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None


def _added(counters: Sequence[Counter], start: float, end: float, width: float) -> tuple[Step, ...]:
    """Return the sum of rates in steps of `width` seconds, because the points of hosts fall on different moments."""
    if len(counters) == 1 and width == 1.0:
        return counters[0].steps(start, end)
    added = []
    time = start
    while time < end:
        after = min(time + width, end)
        rates = [counter.rate(time, after) for counter in counters]
        known = [rate for rate in rates if rate is not None]
        if len(known) == len(rates):
            added.append(Step(time - start, after - start, sum(known)))
        time = after
    return tuple(added)
