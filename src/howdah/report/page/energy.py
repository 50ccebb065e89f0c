"""The section about energy: the energy of the hosts, its uncertainty, and its meters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Fold, Glance, Report, Section, Table, Text, columns
from howdah.report.document.results import Measure, Replicates, summary
from howdah.report.document.wording import MISSING, centre, count, listing, percent, plain, sentence
from howdah.report.page.detail import Detail
from howdah.report.page.glance import badge_of
from howdah.report.phases.power import total_of
from howdah.store import StoredRun

ENERGY = "energy"
"""The subject of caveats about energy, and the name of its metric."""
_SOURCES = {
    "meter": "the meter's accuracy",
    "sampling": "between readings",
    "resolution": "rounding",
    "offset": "the clocks",
}
_DOMAINS = {
    "package": "processors and memory",
    "node": "hosts",
    "psu": "power supplies",
    "pdu": "distribution units",
    "rack": "racks",
}


def energy_section(members: Replicates, detail: Detail, prefix: str, caveats: Sequence[Caveat]) -> Section | None:
    """Return the section; None if nothing measured power in the shown run."""
    record = detail.run.energy()
    if record is None:
        return None
    blocks: list[Block] = [*caveats, *_answer(members, record)]
    if record["meters"]:
        blocks += [*_stretches(record), *_budget(record), *_idle(record), _level(record)]
    blocks += _meters(record)
    return Section(f"{prefix}energy", "Energy", tuple(blocks))


def energy_report(run: StoredRun) -> Report | None:
    """Return the energy of one run alone, for a terminal; None if nothing measured power."""
    members = Replicates((run,))
    own = [one for one in run.run.caveats if one.about == ENERGY]
    section = energy_section(members, Detail(run), "", [replace(one, text=sentence(one.text)) for one in own])
    if section is None:
        return None
    facts = {"schema": 1, "kind": "energy", "run": run.run.id, "energy": run.energy()}
    words = f"{run.run.title}, {run.run.id}"
    return Report(run.run.id, words, Glance(badge_of([members]), (), len(own)), (section,), facts)


def _answer(members: Replicates, record: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the energy of the primary metric's phase, or of the whole run."""
    stretches = {one["phase"]: one for one in record["stretches"]}
    primary = members.primary
    shown = stretches.get(primary.phase if primary else None)
    shown = shown if shown and shown["totals"] else stretches.get(None)
    total = None if shown is None else total_of(shown)
    if shown is None or total is None:
        yield Text("There is no energy of this run: nothing that was asked for measured it.")
        return
    where = f"In {shown['phase']}" if shown["phase"] else "From the first phase to the last"
    simulated = "Simulated, measured by nothing: " if total["quality"] == "simulated" else ""
    hosts = count(len(total["hosts"]), "host")
    of = (
        hosts
        if len(total["hosts"]) == len(record["hosts"])
        else f"{len(total['hosts'])} of {len(record['hosts'])} hosts"
    )
    seconds = shown["end"] - shown["start"]
    yield Text(
        f"{simulated}{where[0].lower() + where[1:] if simulated else where}, {of} drew {energy(total['joules'])} "
        f"(95 %: ± {energy(total['half_width'])} by what is known of the meters), {plain(total['joules'] / seconds)} W "
        f"on average, {plain(total['peak_watts'])} W at most; by meters of {_DOMAINS[total['domain']]} "
        f"({total['side'].upper() if total['side'] != 'chip' else 'on the chip'})."
    )
    measure = Measure(shown["phase"] or "", ENERGY, total["domain"])
    found = summary(members.valid, measure)
    if found is not None and found.n > 1:
        ends = None if found.interval is None else (found.interval.low, found.interval.high)
        span = "too few for an interval" if ends is None else f"95 %: {' to '.join(map(energy, ends))}"
        yield Text(
            f"Over {found.n} runs: {energy(centre(found))} ({span}). More runs narrow that; they do not narrow "
            "what the meter is off by, which is the same in all of them."
        )


def _stretches(record: Mapping[str, Any]) -> Iterator[Block]:
    rows = list[tuple[str, ...]]()
    for one in record["stretches"]:
        seconds = one["end"] - one["start"]
        name = one["phase"] or "whole run"
        for total in one["totals"]:
            rows.append(
                (
                    name,
                    _DOMAINS[total["domain"]],
                    f"{len(total['hosts'])} of {len(record['hosts'])}",
                    energy(total["joules"]),
                    f"± {energy(total['half_width'])}",
                    f"{plain(total['joules'] / seconds)} W",
                    f"{plain(total['peak_watts'])} W",
                    str(total["readings"]),
                )
            )
        if not one["totals"]:
            why = listing([f"{meter}: {words}" for meter, words in one["missing"].items()], most=3)
            rows.append((name, why or MISSING, *[MISSING] * 6))
    heads = columns("Phase", "Measured", "#Hosts", "#Energy", "#95 %", "#Mean power", "#Peak", "#Readings")
    if rows:
        yield Table(
            "Energy of each phase, from its first job's submission to its last job's finish", heads, tuple(rows)
        )


def _budget(record: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the sources of the uncertainty."""
    rows = []
    for one in record["stretches"]:
        total = total_of(one)
        if total is not None:
            shares = (total["budget"].get(name) for name in _SOURCES)
            cells = (MISSING if share is None else percent(share / total["joules"]) for share in shares)
            rows.append((one["phase"] or "whole run", *cells, percent(total["half_width"] / total["joules"])))
    if rows:
        heads = columns("Phase", *(f"#{name}" for name in _SOURCES.values()), "#Together, 95 %")
        words = "Standard uncertainties as shares of the energy; a dash: not known, and not in the sum"
        yield Fold("Where the uncertainty comes from", (Table(words, heads, tuple(rows)),))


def _idle(record: Mapping[str, Any]) -> Iterator[Block]:
    idle = record["idle"]
    if idle is None:
        return
    watts = ", ".join(f"{plain(value)} W ({_DOMAINS[domain]})" for domain, value in idle["watts"].items())
    words = f"Idle power, measured for {plain(idle['seconds'])} s before the run: {watts or 'too few readings'}."
    if not idle["subtracted"]:
        words += " It was not steady enough to be subtracted (a coefficient of variation above 2 %): no net energy."
    elif not idle["claim"]:
        words += " Ten minutes are needed for a claim about net energy."
    yield Text(words)


def _level(record: Mapping[str, Any]) -> Block:
    level, limit = record["level"]["level"], record["level"]["limit"]
    name = f"Level {level}" if level else "Below level 1"
    words = f"{name} of the EE HPC WG's power measurement methodology, which the Green500 uses"
    return Text(f"{words}." if limit is None else f"{words}; what limits it: {limit}.")


def _meters(record: Mapping[str, Any]) -> Iterator[Block]:
    rows = []
    for one in record["meters"]:
        ahead = one["ahead"]
        clock = MISSING if one["offset_error"] is None else f"± {plain(one['offset_error'])} s"
        if ahead is not None:
            clock = f"{ahead['seconds']:+.1f} ± {ahead['error']:.1f} s (correlation {ahead['correlation']:.2f})"
        rows.append(
            (
                one["name"],
                one["source"],
                f"{one['reading']}, {_DOMAINS.get(one['domain'], one['domain'])}, {one['side'].upper()}",
                listing(one["covers"], most=4),
                MISSING if one["interval"] is None else f"{plain(one['interval'])} s",
                f"{one['readings']}" + (f", {one['faults']} faults" if one["faults"] else ""),
                MISSING if one["accuracy"] is None else f"± {percent(one['accuracy'])}",
                clock,
                one["problem"] or one["quality"],
            )
        )
    heads = columns(
        *(
            "Meter",
            "Source",
            "Its readings",
            "Covers",
            "#Interval",
            "#Readings",
            "#Accuracy",
            "Clock ahead by",
            "Quality",
        )
    )
    if rows:
        yield Fold("Meters", (Table("Meters and their readings", heads, tuple(rows)),))
    if record["absent"]:
        yield Text(f"Asked for, and not there: {listing(record['absent'], most=5)}.", small=True)


def energy(joules: float) -> str:
    """Return an energy in J, kJ or MJ with its significant digits."""
    size = abs(joules)
    if size >= 1e6:
        return f"{plain(joules / 1e6)} MJ"
    return f"{plain(joules / 1e3)} kJ" if size >= 1e3 else f"{plain(joules)} J"
