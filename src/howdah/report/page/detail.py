"""Sections about one run in detail: its time, its jobs, its bottlenecks, its counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from statistics import fmean

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Figure, Fold, Legend, Section, Table, Text, columns
from howdah.report.document.drawing import Bars, Strips
from howdah.report.document.theme import STEP_HEIGHTS
from howdah.report.document.wording import MISSING, count, listing, percent, quantity
from howdah.report.phases.bursts import burst_blocks
from howdah.report.phases.jobs import PhaseJob, read_jobs
from howdah.report.phases.limits import RULE, Load, PhaseLimit, find_limits, stolen, window
from howdah.report.phases.nodes import memory_of_hosts, slow_nodes
from howdah.report.phases.series import BUSY, HostSeries, cpu_by_role, read_series
from howdah.report.phases.tasks import memory_asked, memory_used, skews
from howdah.report.phases.timeline import HOSTS, PIXELS, TITLED, build_timeline, names_of, node_names
from howdah.report.phases.times import (
    SUCCEEDED,
    PhaseTime,
    job_name,
    lost_seconds,
    phase_bars,
    phase_times,
    step_bars,
    step_seconds,
)
from howdah.store import StoredRun

TIMELINES = 6
"""The number of jobs that have a timeline; with more jobs, the longest have one."""

STOLEN_LIMIT = 0.02

IMPORTANT = (
    "HDFS_BYTES_READ HDFS_BYTES_WRITTEN POSIXFS_BYTES_READ POSIXFS_BYTES_WRITTEN FILE_BYTES_READ FILE_BYTES_WRITTEN "
    "MAP_INPUT_RECORDS MAP_OUTPUT_RECORDS MAP_OUTPUT_BYTES MAP_OUTPUT_MATERIALIZED_BYTES SPILLED_RECORDS "
    "REDUCE_SHUFFLE_BYTES REDUCE_INPUT_RECORDS REDUCE_OUTPUT_RECORDS CPU_MILLISECONDS GC_TIME_MILLIS "
    "TOTAL_LAUNCHED_MAPS TOTAL_LAUNCHED_REDUCES NUM_FAILED_MAPS NUM_FAILED_REDUCES DATA_LOCAL_MAPS"
).split()
"""MapReduce counters that a reader looks for first, in this order."""


OUT_OF_REACH = "The hosts of a cluster that Howdah did not start are out of reach of its probes"


class Detail:
    """The contents of one run's directory besides its samples. Jobs and series are read on first use."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run

    @cached_property
    def _read(self) -> tuple[tuple[PhaseJob, ...], tuple[str, ...]]:
        return read_jobs(self.run)

    @property
    def jobs(self) -> tuple[PhaseJob, ...]:
        return self._read[0]

    @property
    def problems(self) -> tuple[str, ...]:
        return self._read[1]

    @property
    def in_reach(self) -> bool:
        """Whether probes could read the cluster's hosts. They can only if Howdah started the cluster."""
        return self.run.run.cluster.get("kind") != "conf"

    @cached_property
    def series(self) -> tuple[HostSeries, ...]:
        """The series of the cluster's hosts, without a machine that only submitted jobs to other hosts."""
        return read_series(self.run) if self.in_reach else ()

    @cached_property
    def times(self) -> tuple[PhaseTime, ...]:
        return phase_times(self.run.run.phases, self.jobs)

    @cached_property
    def limits(self) -> tuple[PhaseLimit, ...]:
        return find_limits(self.run, self.series, self.jobs)

    def foreign(self, phase: str) -> float | None:
        """Return the share of a phase's processor time that no process of the run explains; None if it is not known."""
        for entry in self.run.run.phases:
            if entry.name == phase and entry.end is not None:
                roles = cpu_by_role(self.series, entry.start.utc, entry.end.utc)
                growths = [host.cpu(BUSY).growth(entry.start.utc, entry.end.utc) for host in self.series]
                known = [growth for growth in growths if growth is not None]
                if roles and known and len(known) == len(growths) and sum(known) > 0:
                    # The series miss what came and went between two readings, and containers whose NodeManager did
                    # not wait for them; accounting has them.
                    accounted = sum(
                        sample.value
                        for sample in self.run.samples
                        if (sample.phase, sample.metric) == (phase, "cpu_seconds")
                    )
                    return max(0.0, 1 - max(accounted, sum(roles.values())) / sum(known))
        return None

    @cached_property
    def roles(self) -> dict[str, dict[str, float]]:
        """The processor seconds by phase and role."""
        found = {}
        for phase in self.run.run.phases:
            if phase.end is not None:
                found[phase.name] = cpu_by_role(self.series, phase.start.utc, phase.end.utc)
        return {name: roles for name, roles in found.items() if roles}


def time_section(detail: Detail, prefix: str) -> Section:
    """Return a section on the use of time: phases, then task-seconds of the jobs."""
    blocks: list[Block] = [Text(problem, small=True) for problem in detail.problems]
    if detail.times:
        blocks.extend(_phase_blocks(detail, prefix))
    bars = step_bars(detail.jobs)
    if bars.bars:
        blocks.extend(_step_blocks(bars, prefix))
    blocks.extend(_skew_table(detail))
    if not blocks:
        blocks.append(Text("No phase of this run ended."))
    return Section(f"{prefix}time", "Where the time went", tuple(blocks))


def timeline_section(detail: Detail, prefix: str) -> Section | None:
    """Return every job's attempts next to the use of the hosts; None if the run has no job to show."""
    jobs = [entry for entry in detail.jobs if entry.job.attempts]
    if not jobs:
        return None
    shown = sorted(sorted(jobs, key=lambda entry: -entry.job.seconds)[:TIMELINES], key=jobs.index)
    blocks: list[Block] = []
    if len(shown) < len(jobs):
        blocks.append(Text(f"The {len(shown)} longest of {len(jobs)} jobs are shown.", small=True))
    for place, entry in enumerate(shown, 1):
        blocks.append(_timeline_figure(detail, entry, f"{prefix}timeline-{place}"))
    if not detail.series:
        why = "This run has no probe series" if detail.in_reach else OUT_OF_REACH
        blocks.append(Caveat("run", f"{why}: what the host did meanwhile is not known."))
    blocks.extend(_lost(jobs))
    return Section(f"{prefix}timeline", "Timeline", tuple(blocks))


def limits_section(detail: Detail, prefix: str) -> Section:
    """Return the bottleneck of each phase, and processor seconds by role."""
    blocks: list[Block] = []
    if detail.limits:
        resources = _resources(detail)
        rows = tuple(_limit_row(limit, resources) for limit in detail.limits)
        names = columns("Phase", "What limited it", *(f"#{name}" for name in resources), "#Time at bound")
        blocks.append(Table("Mean use in each phase, and its share of the calibrated bound", names, rows))
        blocks.append(Text(RULE, small=True))
    else:
        why = "No probe series covers a phase of this run" if detail.in_reach else OUT_OF_REACH
        blocks.append(Text(f"{why}: what limited it is not known."))
    blocks.extend(burst_blocks(detail.limits))
    blocks.extend(_slow_nodes(detail))
    blocks.extend(_exceeded(detail))
    blocks.extend(_stolen(detail))
    blocks.extend(_role_table(detail))
    blocks.extend(_memory_table(detail))
    blocks.extend(_host_memory_table(detail))
    return Section(f"{prefix}limits", "What limited it", tuple(blocks))


def counters_section(detail: Detail, prefix: str) -> Section | None:
    """Return the jobs' counters, important ones first."""
    jobs = [entry for entry in detail.jobs if entry.job.counters]
    if not jobs:
        return None
    several = [jobs[start : start + 5] for start in range(0, len(jobs), 5)]
    tables = tuple(_counter_table(some, jobs) for some in several)
    return Section(f"{prefix}counters", "Counters", (Fold("Job counters as Hadoop kept them", tables),))


def _phase_blocks(detail: Detail, prefix: str) -> Iterator[Block]:
    words = listing([f"{time.phase} {quantity(time.seconds, 's')}" for time in detail.times], most=12)
    keys = (
        Legend("outside", "no job under way"),
        Legend("starting", "job starting, no task yet"),
        Legend("tasks", "tasks"),
        Legend("ending", "job ending"),
    )
    bars = phase_bars(detail.times)
    yield Figure(f"{prefix}phases", "Phases", f"{words}. The table below has their pieces.", keys, bars)
    names = columns("Phase", "#No job under way", "#Job starting", "#Tasks", "#Job ending", "#Whole phase")
    rows = tuple(
        (time.phase, *(quantity(n, "s") for n in (time.outside, time.starting, time.tasks, time.ending, time.seconds)))
        for time in detail.times
    )
    yield Table("Seconds of each phase", names, rows)


def _step_blocks(bars: Bars, prefix: str) -> Iterator[Block]:
    words = listing([f"{bar.name} {quantity(sum(p.value for p in bar.parts), 's')}" for bar in bars.bars], most=12)
    title = "Inside the jobs: task-seconds by step"
    order = [*STEP_HEIGHTS, *(part.name for bar in bars.bars for part in bar.parts)]
    steps = sorted({part.name for bar in bars.bars for part in bar.parts}, key=order.index)
    colours = {part.name: part.colour for bar in bars.bars for part in bar.parts}
    keys = tuple(Legend(colours[step], step) for step in steps)
    yield Figure(f"{prefix}steps", title, f"{words}. The table below has the steps.", keys, bars)
    rows = []
    for bar in bars.bars:
        found = {part.name: part.value for part in bar.parts}
        rows.append((bar.name, *(quantity(found.get(step), "s") for step in steps)))
    yield Table("Task-seconds of each job", columns("Job", *(f"#{step}" for step in steps)), tuple(rows))


def _skew_table(detail: Detail) -> Iterator[Block]:
    rows = tuple(
        (one.job, one.kind, str(one.tasks), quantity(one.middle, "s"), quantity(one.longest, "s"),
         f"{one.longest / one.middle:.1f}" if one.middle else MISSING, one.task)
        for one in skews(detail.jobs)
    )  # fmt: skip
    if rows:
        heads = columns("Job", "Kind", "#Tasks", "#Median", "#Longest", "#Longest ÷ median", "The longest")
        yield Table("How even the tasks were; of reduces, without the shuffle", heads, rows)


def _memory_table(detail: Detail) -> Iterator[Block]:
    rows = []
    for phase in detail.run.run.phases:
        own = [entry for entry in detail.jobs if entry.phase == phase.name]
        span = window(phase, detail.jobs)
        asked, used = memory_asked(own), None if span is None else memory_used(detail.series, *span)
        if span is not None and asked and used is not None:
            seconds = span[1] - span[0]
            rows.append(
                (phase.name, quantity(asked / seconds, "B"), quantity(used / seconds, "B"), percent(used / asked))
            )
    if rows:
        heads = columns("Phase", "#Asked for", "#Used", "#Share")
        yield Table("Memory of containers, mean over each phase", heads, tuple(rows))
        yield Text(
            "Asked for: by YARN's account. Used: what the processes of containers had resident, read once a second. "
            "Memory that is asked for and not used keeps other tasks from running.",
            small=True,
        )


def _host_memory_table(detail: Detail) -> Iterator[Block]:
    """Yield the highest use of memory of each host in each phase; nothing of a single host."""
    hosts = memory_of_hosts(detail.series)
    highest: dict[str, dict[str, float]] = {}
    for phase in detail.run.run.phases:
        span = window(phase, detail.jobs) or (0.0, 0.0)
        for name, readings in hosts.items():
            within = [used for moment, used in readings if span[0] <= moment <= span[1]]
            if within:
                highest.setdefault(name, {})[phase.name] = max(within)
    if len(highest) > 1:
        phases = list(dict.fromkeys(phase for found in highest.values() for phase in found))
        shown = sorted(sorted(highest, key=lambda name: -max(highest[name].values()))[:HOSTS])
        rows = tuple((name, *(quantity(highest[name].get(phase), "B") for phase in phases)) for name in shown)
        more = f", the {len(shown)} of {len(highest)} that used most" if len(shown) < len(highest) else ""
        limit = detail.run.run.cluster.get("allocation", {}).get("memory")
        have = "" if limit is None else f" Each host has {quantity(limit, 'B')}."
        heads = columns("Host", *(f"#{phase}" for phase in phases))
        yield Table(f"Memory of each host, the highest reading of each phase{more}", heads, rows)
        yield Text(f"Without what a host keeps of files, which it gives to whoever asks.{have}", small=True)


def _timeline_figure(detail: Detail, entry: PhaseJob, figure: str) -> Figure:
    job, drawing = entry.job, build_timeline(detail.run, entry, detail.series)
    lost = sum(attempt.state != SUCCEEDED for attempt in job.attempts)
    nodes = len({attempt.node for attempt in job.attempts})
    words = (
        f"{job.id}, {job.state.lower()} in {quantity(job.seconds, 's')}: {count(len(job.attempts), 'attempt')} "
        f"({count(job.maps, 'map')}, {count(job.reduces, 'reduce')}) in {count(len(drawing.lanes), 'lane')} "
        f"on {count(nodes, 'node')}" + (f", {lost} of them failed or killed" if lost else "")
    )
    if len(job.attempts) > TITLED:
        words += f"; attempts that follow each other within {quantity(job.seconds / PIXELS, 's')} are joined"
    words = ". ".join((words, *map(_most_and_least, drawing.strips)))
    used = {stretch.colour for stretch in drawing.stretches}
    keys = tuple(key for key in _TIMELINE_KEYS if key.colour in used)
    name = job_name(entry, detail.jobs)
    return Figure(figure, f"{name}: one lane per container slot", words + ".", keys, drawing, note=words + ".")


def _most_and_least(strips: Strips) -> str:
    means = {name: fmean(step.value for step in steps) for name, steps in strips.rows}
    least, most = sorted(means, key=lambda name: means[name])[:: len(means) - 1]
    return (
        f"Mean {strips.title.partition(' of ')[0]}: most on {most} ({quantity(means[most], strips.unit)}), "
        f"least on {least} ({quantity(means[least], strips.unit)})"
    )


_TIMELINE_KEYS = (
    Legend("map", "map"),
    Legend("shuffle", "shuffle (thin)"),
    Legend("merge", "merge (half height)"),
    Legend("reduce", "reduce"),
    Legend("other", "other step"),
    Legend("lost", "failed or killed (hollow, ✕)"),
)


def _lost(jobs: Sequence[PhaseJob]) -> Iterator[Block]:
    rows = [
        (
            entry.phase,
            attempt.id,
            attempt.state.lower(),
            attempt.node or MISSING,
            quantity(attempt.whole.seconds, "s"),
            (attempt.error or MISSING).strip().partition("\n")[0][:200],
        )
        for entry in jobs
        for attempt in entry.job.attempts
        if attempt.state != SUCCEEDED
    ]
    if rows:
        names = columns("Phase", "Attempt", "State", "Node", "#After", "What Hadoop said")
        more = f"; the first 50 of {len(rows)}" if len(rows) > 50 else ""
        yield Table(f"Attempts that failed or were killed{more}", names, tuple(rows[:50]))


def _resources(detail: Detail) -> list[str]:
    return list(dict.fromkeys(load.resource for limit in detail.limits for load in limit.loads))


def _limit_row(limit: PhaseLimit, resources: Sequence[str]) -> tuple[str, ...]:
    busiest: dict[str, Load] = {}
    for load in limit.loads:
        known = busiest.get(load.resource)
        if known is None or (load.share or 0) > (known.share or 0):
            busiest[load.resource] = load
    cells = [_use(busiest[resource]) if resource in busiest else MISSING for resource in resources]
    highest = max(busiest.values(), key=lambda load: load.share or 0)
    return (limit.phase, limit.verdict, *cells, percent(highest.at_bound))


def _use(load: Load) -> str:
    used = quantity(load.used, load.unit)
    return used if load.share is None else f"{used} ({percent(load.share)})"


def _slow_nodes(detail: Detail) -> Iterator[Block]:
    found = list(slow_nodes(detail.jobs))
    nodes = sorted({attempt.node for entry in detail.jobs for attempt in entry.job.attempts if attempt.node})
    shown = node_names(nodes, names_of(detail.run.run.cluster))
    for one in found:
        yield Caveat(
            one.phase,
            f"{count(one.tasks, one.kind)} on {shown[one.node]} took {one.seconds / one.others:.1f} times as long as "
            f"those on the other nodes (medians {quantity(one.seconds, 's')} and {quantity(one.others, 's')}).",
        )


def _exceeded(detail: Detail) -> Iterator[Block]:
    found: dict[tuple[str, str, float], list[str]] = {}
    for limit in detail.limits:
        for load in limit.loads:
            if load.exceeded is not None:
                key = (f"{load.name} on {load.host}", load.unit, load.exceeded)
                found.setdefault(key, []).append(f"{quantity(load.used, load.unit)} in {limit.phase}")
    for (what, unit, bound), uses in [*found.items()][:HOSTS]:
        text = f"{what}: calibration found {quantity(bound, unit)}, but {listing(uses)} were used."
        why = "It was disturbed" if unit == "cores" else "It was disturbed, or more streams reach more"
        yield Caveat("run", f"{text} {why}. The number of the calibration is not taken as a bound.")
    if len(found) > HOSTS:
        yield Caveat("run", f"Calibration was exceeded as well by {len(found) - HOSTS} other resources of hosts.")


def _stolen(detail: Detail) -> Iterator[Block]:
    for phase in detail.run.run.phases:
        if phase.end is None:
            continue
        share = stolen(detail.series, phase.start.utc, phase.end.utc)
        if share is not None and share > STOLEN_LIMIT:
            yield Caveat(phase.name, f"The hypervisor gave {percent(share)} of the processor time to others.")


def _role_table(detail: Detail) -> Iterator[Block]:
    """Yield processor seconds: a row per role, a column per phase, and the use of the whole host."""
    if not detail.roles:
        return
    phases = list(detail.roles)
    roles = sorted({role for found in detail.roles.values() for role in found})
    sums = {role: sum(found.get(role, 0.0) for found in detail.roles.values()) for role in roles}
    rows = []
    for role in sorted(roles, key=lambda role: (-sums[role], role)):
        cells = (detail.roles[phase].get(role) for phase in phases)
        rows.append((role, *(quantity(value, "s") for value in cells), quantity(sums[role], "s")))
    rows.extend(_host_rows(detail, phases))
    yield Table("Processor seconds by role", columns("Role", *(f"#{phase}" for phase in phases), "#Sum"), tuple(rows))
    yield Text(
        "Growth of each process's own processor time, read once a second. Containers: what the NodeManagers say their "
        "finished containers used, plus what running ones have used. “Not attributed” is what else the host did: the "
        "kernel, other programs, processes that came and went between two readings, and containers for which no "
        "NodeManager waited, such as those that are killed.",
        small=True,
    )


def _host_rows(detail: Detail, phases: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the whole host's use, and the part that no role explains; nothing if the host's own counters have a gap."""
    whole = []
    for phase in detail.run.run.phases:
        if phase.name in phases and phase.end is not None:
            growths = [host.cpu(BUSY).growth(phase.start.utc, phase.end.utc) for host in detail.series]
            known = [growth for growth in growths if growth is not None]
            if len(known) < len(growths):
                return
            whole.append(sum(known))
    rest = [max(0.0, total - sum(detail.roles[phase].values())) for total, phase in zip(whole, phases, strict=True)]
    for name, numbers in (("not attributed", rest), ("whole host", whole)):
        yield (name, *(quantity(number, "s") for number in (*numbers, sum(numbers))))


def _counter_table(some: Sequence[PhaseJob], jobs: Sequence[PhaseJob]) -> Table:
    names = {(group, name) for entry in some for group, counters in entry.job.counters.items() for name in counters}

    def place(key: tuple[str, str]) -> tuple[int, str, str]:
        return (IMPORTANT.index(key[1]) if key[1] in IMPORTANT else len(IMPORTANT), *key)

    rows = []
    for group, name in sorted(names, key=place):
        found = (entry.job.counter(group, name) for entry in some)
        cells = (MISSING if value is None else f"{value:,}" for value in found)
        rows.append((name, *cells, group.strip().rpartition(".")[2]))
    heads = columns("Counter", *(f"#{job_name(entry, jobs)}" for entry in some), "Group")
    return Table("Totals of each job", heads, tuple(rows))


def detail_facts(detail: Detail) -> dict[str, object]:
    """Return the run's times, limits and processor seconds as JSON values."""
    return {
        "run": detail.run.run.id,
        "phases": [
            {
                "phase": time.phase,
                "seconds": time.seconds,
                "outside_jobs_seconds": time.outside,
                "job_starting_seconds": time.starting,
                "tasks_seconds": time.tasks,
                "job_ending_seconds": time.ending,
            }
            for time in detail.times
        ],
        "jobs": [
            {
                "id": entry.job.id,
                "phase": entry.phase,
                "state": entry.job.state,
                "seconds": entry.job.seconds,
                "step_task_seconds": step_seconds(entry.job),
                "lost_task_seconds": lost_seconds(entry.job),
                "counters": {group: dict(values) for group, values in entry.job.counters.items()},
                "lost_attempts": [
                    {"id": attempt.id, "state": attempt.state, "error": attempt.error}
                    for attempt in entry.job.attempts
                    if attempt.state != SUCCEEDED
                ],
            }
            for entry in detail.jobs
        ],
        "limits": [
            {
                "phase": limit.phase,
                "verdict": limit.verdict,
                "loads": [
                    {
                        "resource": load.resource,
                        "host": load.host,
                        "disks": load.disks or None,
                        "unit": load.unit,
                        "used": load.used,
                        "bound": load.bound,
                        "share": load.share,
                        "share_of_time_at_bound": load.at_bound,
                        "seconds_above_calibration": load.burst,
                        "highest_above_calibration": load.highest,
                    }
                    for load in limit.loads
                ],
            }
            for limit in detail.limits
        ],
        "cpu_seconds_by_role": detail.roles,
    }
