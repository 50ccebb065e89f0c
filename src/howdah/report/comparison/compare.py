"""Compare baseline runs with contender runs: check that they are comparable, and build the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from howdah.errors import UsageError
from howdah.model.comparison import Comparison
from howdah.model.environment import Difference, by_rank, differences
from howdah.model.metric import Metric
from howdah.model.run import Caveat
from howdah.report.comparison.answer import NAMES, ComparisonSubject, enough, glance, headline, spoken
from howdah.report.comparison.meters import meters_apart
from howdah.report.document.blocks import Block, Figure, Legend, Report, Section, Table, Text, columns
from howdah.report.document.drawing import Dots, Ratio, Ratios
from howdah.report.document.labels import label_of
from howdah.report.document.results import Measure, Replicates, definition, measures, registered, run_value, values
from howdah.report.document.wording import (
    MISSING,
    centre,
    count,
    interval,
    listing,
    moment,
    percent,
    quantity,
    ratio,
    ratio_interval,
)
from howdah.report.page.build import (
    MOST_CAVEATS,
    dots_group,
    drift_caveats,
    foreign_caveats,
    outcome_words,
    own_caveats,
)
from howdah.report.page.data import makers
from howdah.report.page.provenance import as_text, difference_table, environment_differences, flat
from howdah.stats import compare
from howdah.store import StoredRun

DATA = ("bytes", "rows", "records", "checksum", "generator")
"""The facts that identify a data set.

The other facts are where and how it was stored, and the random draw of a generator without a seed.
"""

METHOD = (
    "The effect is the ratio of the geometric means, contender ÷ baseline. Its 95 % interval is Welch's t on the "
    "logarithms. A difference is declared only where the interval leaves 1 out and the exact two-sided rank test (Mann "
    "and Whitney) has p < 0.05. The numbers of runs and the smallest difference that could have been shown are for a "
    "power of 80 %. They are (t(0.975) + t(0.8)) · s · √((1/n + 1/m) · π/3) · (1.035 + 9.5/h³), after Bloom (1995). "
    "Here s is the spread of the logarithms of these runs, and h the harmonic mean of n and m. The rank test costs π/3 "
    "and the last factor. A spread from few runs is itself uncertain."
)


_OF_SOFTWARE = ("cluster.hadoop", "cluster.jdk", "cluster.settings_sha256")
"""Settings that name the requested software of a side."""

PROPERTIES = "workload.conf."
"""The prefix of job settings with Hadoop's names."""


@dataclass(frozen=True, slots=True)
class ComparisonReport(Report):
    """A report of one comparison. `measure` is the compared phase/metric, of `metric`.

    `names` are the names of the sides; `values` are the values of the runs of each side, in the order made. `enough`
    has sentences on what these numbers of runs can show.
    """

    measure: str
    metric: Metric
    comparison: Comparison
    names: tuple[str, str]
    values: tuple[tuple[float, ...], tuple[float, ...]]
    settings: tuple[Difference, ...]
    caveats: tuple[Caveat, ...]
    enough: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sides:
    """The valid runs of both sides, and the requested comparison."""

    baseline: Replicates
    contender: Replicates
    measure: Measure
    metric: Metric
    names: tuple[str, str]

    @property
    def valid(self) -> tuple[StoredRun, ...]:
        return (*self.baseline.valid, *self.contender.valid)


def build_comparison(
    baseline: Sequence[StoredRun],
    contender: Sequence[StoredRun],
    metric: str | None = None,
    names: tuple[str, str] = NAMES,
    of: int = 1,
) -> ComparisonReport:
    """Return the comparison of `contender` with `baseline` on `metric`.

    `metric` is `phase/metric`, or the name of a metric that only one phase has. The default is the primary metric of
    the runs. `names` are the displayed names of the two. `of` is the number of contenders that are compared with the
    baseline. Runs that are not valid are listed and not used.

    Raises:
        UsageError: no valid run on a side, a run on both sides, another workload or data set on the other side, or a
            metric which they do not have in common, in one unit, with positive values.
    """
    sides = _checked(baseline, contender, metric, names)
    both = values(sides.baseline.valid, sides.measure), values(sides.contender.valid, sides.measure)
    apart, about_meters = meters_apart(sides.baseline.valid, sides.contender.valid, sides.measure)
    found = compare(*both, sides.metric.better, of, apart)
    of_meters = () if about_meters is None else (Caveat(str(sides.measure), about_meters),)
    caveats = (*of_meters, *_caveats(sides, metric is not None))
    sections = (
        Section("result", "Result", tuple(_result(sides, found, caveats))),
        Section("differences", "What else differs", tuple(_differences(sides))),
        Section("metrics", "All metrics", tuple(_all_metrics(sides))),
        Section("runs", "Runs", (*_runs(sides), Text(METHOD, small=True))),
    )
    subject = ComparisonSubject(sides.baseline.first.run.title, str(sides.measure), sides.metric, names)
    label = label_of(*(one.run for side in (sides.baseline, sides.contender) for one in side.runs))
    words = headline(found, subject, label)
    workload = sides.baseline.first.run.trial.workload
    return ComparisonReport(
        title=f"{workload}: {count(len(sides.baseline.valid), 'run')} against {len(sides.contender.valid)}",
        headline=words,
        glance=glance(found, subject, len(caveats), label),
        sections=sections,
        facts=_facts(sides, found, words),
        measure=str(sides.measure),
        metric=sides.metric,
        comparison=found,
        names=names,
        values=(tuple(both[0]), tuple(both[1])),
        settings=tuple(_settings(sides)),
        caveats=caveats,
        enough=tuple(enough(found)),
    )


def _checked(
    baseline: Sequence[StoredRun], contender: Sequence[StoredRun], metric: str | None, names: tuple[str, str]
) -> _Sides:
    left, right = _side("baseline", baseline), _side("contender", contender)
    if both := {run.run.id for run in left.runs} & {run.run.id for run in right.runs}:
        raise UsageError(f"on both sides of the comparison: {listing(sorted(both))}")
    everything = (*left.valid, *right.valid)
    workloads = {run.run.trial.workload for run in everything}
    if len(workloads) > 1:
        raise UsageError(f"different workloads are not comparable: {listing(sorted(workloads))}")
    if len({run.run.simulated for run in everything}) > 1:
        raise UsageError("runs of a synthetic cluster are not comparable with runs of real ones")
    for run in everything[1:]:
        left_data, right_data = (side.run.dataset or {} for side in (everything[0], run))
        for fact in DATA:
            if left_data.get(fact) != right_data.get(fact):
                raise UsageError(
                    f"different data sets are not comparable: {fact} is {as_text(left_data.get(fact))} in "
                    f"{everything[0].run.id} and {as_text(right_data.get(fact))} in {run.run.id}",
                    hint="Compare runs of one size on one data set.",
                )
    measure = _measure(left, right, metric)
    definitions = {(m.unit, m.better) for run in everything for m in run.run.metrics if m.name == measure.metric}
    if len(definitions) > 1:
        raise UsageError(
            f"{measure.metric} does not mean the same in all runs: {listing([str(d) for d in definitions])}"
        )
    if min(*values(left.valid, measure), *values(right.valid, measure)) <= 0:
        raise UsageError(f"{measure} has a value that is not positive, so there is no ratio to compare")
    return _Sides(left, right, measure, registered(everything)[measure.metric], names)


def _side(name: str, runs: Sequence[StoredRun]) -> Replicates:
    by_id = {run.run.id: run for run in sorted(runs, key=lambda run: (run.run.start.utc, run.run.id))}
    side = Replicates(tuple(by_id.values()))
    if not side.runs:
        raise UsageError(f"the {name} has no run")
    if not side.valid:
        reasons = listing([f"{run.run.id} {outcome_words(run.run)}" for run in side.runs])
        raise UsageError(f"the {name} has no valid run: {reasons}")
    return side


def _measure(left: Replicates, right: Replicates, metric: str | None) -> Measure:
    common = [m for m in measures(left.valid) if m in measures(right.valid)]
    known = listing([str(measure) for measure in common], most=20) or "none"
    if metric is None:
        primary = {run.run.primary for run in (*left.valid, *right.valid)}
        name = primary.pop() if len(primary) == 1 else None
        if name is None:
            raise UsageError("the runs do not name one primary metric", hint=f"Name one with --metric: {known}.")
        metric = name
    found = [m for m in common if str(m) == metric] or [m for m in common if m.name == metric]
    if len(found) == 1:
        return found[0]
    what = f"several phases have {metric}" if found else f"{metric} was not measured on both sides"
    raise UsageError(what, hint=f"Both sides have: {known}.")


def _result(sides: _Sides, found: Comparison, caveats: Sequence[Caveat]) -> Iterator[Block]:
    yield definition(str(sides.measure), sides.metric)
    for text in enough(found):
        yield Text(text)
    yield from caveats
    unit = sides.metric.unit
    groups = (
        dots_group(sides.baseline, sides.measure, sides.names[0], "baseline", unit),
        dots_group(sides.contender, sides.measure, sides.names[1], "contender", unit),
    )
    words = (
        f"{sides.names[0]}: {quantity(found.baseline.minimum, unit)} to {quantity(found.baseline.maximum, unit)}; "
        f"{sides.names[1]}: {quantity(found.contender.minimum, unit)} to {quantity(found.contender.maximum, unit)}."
    )
    keys = (
        Legend("baseline", f"{sides.names[0]} (dots)"),
        Legend(
            "contender",
            f"{sides.names[1]} (diamonds); top to bottom in the order made; line and band: mean, 95 % interval",
        ),
    )
    yield Figure("dots", "Every run", words, keys, Dots(str(sides.measure), unit, groups))
    heads = columns("Side", "#Runs", "#Geometric mean", "#95 % interval", "#Lowest", "#Median", "#Highest", "#CV")
    rows = tuple(
        (
            name,
            str(side.n),
            quantity(centre(side), unit),
            interval(side.interval, unit),
            quantity(side.minimum, unit),
            quantity(side.median, unit),
            quantity(side.maximum, unit),
            percent(side.cv),
        )
        for name, side in zip(sides.names, (found.baseline, found.contender), strict=True)
    )
    yield Table(str(sides.measure), heads, rows)


def _caveats(sides: _Sides, chosen: bool) -> Iterator[Caveat]:
    """Yield the reasons to doubt the verdict."""
    primary = sides.baseline.valid[0].run.primary
    if chosen and primary is not None and str(sides.measure) != primary:
        yield Caveat(str(sides.measure), f"This is not the primary metric that was stated before the runs: {primary}.")
    for name, side in (("baseline", sides.baseline), ("contender", sides.contender)):
        unused = [run for run in side.runs if run not in side.valid]
        if unused:
            listed = listing([f"{run.run.id} {outcome_words(run.run)}" for run in unused])
            yield Caveat("run", f"Not used of the {name}: {listed}.")
        lacking = [run.run.id for run in side.valid if run_value(run, sides.measure) is None]
        if lacking:
            yield Caveat(str(sides.measure), f"Runs of the {name} without this metric: {listing(lacking)}.")
        trials = {run.run.trial.identity for run in side.valid}
        if len(trials) > 1:
            yield Caveat("run", f"The {name} mixes {len(trials)} different trials.")
        within = environment_differences(side.valid)
        if within:
            paths = listing([entry.path for entry in within])
            yield Caveat("run", f"The runs of the {name} did not all have the same environment: {paths}.")
    yield from own_caveats(sides.valid, most=MOST_CAVEATS)
    yield from foreign_caveats(sides.valid, sides.measure)
    unread = [run.run.id for run in sides.valid if "before" not in run.environment]
    if unread:
        yield Caveat("run", f"The environment was not recorded, so it cannot be compared: {listing(unread)}.")
    yield from drift_caveats([sides.baseline.valid, sides.contender.valid], sides.measure)
    between = _between(sides)
    hardware = [entry.path for entry in between if entry.path.startswith("hosts.")]
    if hardware:
        yield Caveat(
            "run",
            f"The hosts differ ({listing(hardware)}), so the effect cannot be put down to the settings alone.",
        )
    settings = _settings(sides)
    # What one side alone has, such as a plugin or Spark, comes with a setting.
    software = [
        entry.path for entry in between if entry.path.startswith("hadoop.") and None not in (entry.left, entry.right)
    ]
    if settings and software and not any(entry.path.startswith(_OF_SOFTWARE) for entry in settings):
        yield Caveat(
            "run",
            f"The software differs, besides the settings ({listing(software)}): the effect may be that of either.",
        )
    asked = _asked(settings)
    if len(asked) > 1:
        yield Caveat("run", f"{len(asked)} settings differ, so the effect belongs to all of them together.")
    elif not settings and (held := _held(sides)):
        paths = listing([entry.path for entry in held])
        yield Caveat("run", f"The same was asked of both sides, and yet daemons or jobs held something else: {paths}.")
    yield from _draws(sides)
    first = _one_after_the_other(sides)
    if first is not None:
        one, other = (spoken(name) for name in first)
        text = f"All runs of {one} came before all of {other}: a machine that became slower would look the same."
        yield Caveat("run", f"{text} `howdah ab` runs the two in turn.")


def _draws(sides: _Sides) -> Iterator[Caveat]:
    """Yield a caveat if a side has fewer data sets than runs, unless both sides share their data sets.

    The placement of files is then part of the difference, and no part of the spread.
    """
    both = [(len(side.valid), makers(side.valid)) for side in (sides.baseline, sides.contender)]
    (_, left), (_, right) = both
    if left and right and left != right and any(len(made) < runs for runs, made in both):
        baseline, contender = (
            f"{count(runs, 'run')} had data that was made {_times(len(made))}" for runs, made in both
        )
        yield Caveat(
            "run",
            f"Baseline: {baseline}. Contender: {contender}. The placement of a data set's files is one "
            "random draw: its effect is part of the difference, and the interval does not cover it. Use --data fresh, "
            "or the same data on both sides.",
        )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _one_after_the_other(sides: _Sides) -> tuple[str, str] | None:
    """Return the names of the side that ran first and of the other; None if they took turns."""
    left, right = ([run.run.start.utc for run in side.valid] for side in (sides.baseline, sides.contender))
    if max(left) < min(right):
        return sides.names
    return sides.names[::-1] if max(right) < min(left) else None


def _between(sides: _Sides) -> tuple[Difference, ...]:
    left, right = (side.valid[0].environment.get("before") for side in (sides.baseline, sides.contender))
    return () if left is None or right is None else differences(*by_rank((left, right)))


def _settings(sides: _Sides) -> list[Difference]:
    return _unlike(*(side.valid[0].run.trial.settings for side in (sides.baseline, sides.contender)))


def _asked(settings: Sequence[Difference]) -> list[Difference]:
    """Return `settings` without the workload's options that repeat one of Hadoop's properties."""
    properties = {(str(one.left), str(one.right)) for one in settings if one.path.startswith(PROPERTIES)}
    return [
        one
        for one in settings
        if one.path.startswith(PROPERTIES)
        or not one.path.startswith("workload.")
        or (str(one.left), str(one.right)) not in properties
    ]


def _held(sides: _Sides) -> list[Difference]:
    """Return the settings that the daemons and jobs of the first runs held differently, if both were read back."""
    left, right = (side.valid[0].readback() for side in (sides.baseline, sides.contender))
    return _unlike(left, right) if left and right else []


def _unlike(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    left, right = dict(flat(first)), dict(flat(second))
    paths = sorted(left.keys() | right.keys())
    return [Difference(path, left.get(path), right.get(path)) for path in paths if left.get(path) != right.get(path)]


def _differences(sides: _Sides) -> Iterator[Block]:
    settings = _settings(sides)
    if settings:
        yield difference_table("Settings that differ", settings, "Baseline", "Contender")
    else:
        yield Text("Both sides have the same settings: what differs is not a setting, or nothing does.")
    data = _unlike(*(side.valid[0].run.dataset or {} for side in (sides.baseline, sides.contender)))
    if data:
        yield difference_table("Facts of the data set that differ", data, "Baseline", "Contender")
    held = _held(sides)
    if held:
        yield difference_table("What daemons and jobs held that differs", held, "Baseline", "Contender")
    between = _between(sides)
    if between:
        yield difference_table("Environment facts that differ", between, "Baseline", "Contender")
    else:
        yield Text("No difference between the recorded environments.")


def _all_metrics(sides: _Sides) -> Iterator[Block]:
    known = registered(sides.valid)
    ratios, rows, without = [], [], []
    for measure in measures(sides.valid):
        left, right = values(sides.baseline.valid, measure), values(sides.contender.valid, measure)
        if not left or not right or min(*left, *right) <= 0:
            without.append(str(measure))
            continue
        metric = known[measure.metric]
        apart, _ = meters_apart(sides.baseline.valid, sides.contender.valid, measure)
        found = compare(left, right, metric.better, systematic=apart)
        chosen = measure == sides.measure
        title = f"{measure}: {ratio(found.ratio)} ({ratio_interval(found.interval)}), {metric.better} is better"
        if measure.phase == sides.measure.phase:
            ratios.append(Ratio(str(measure), found.ratio, found.interval, title, "contender" if chosen else "other"))
        rows.append(
            (
                str(measure),
                quantity(centre(found.baseline), metric.unit),
                quantity(centre(found.contender), metric.unit),
                ratio(found.ratio),
                ratio_interval(found.interval),
                metric.better,
            )
        )
    words = "; ".join(entry.title for entry in ratios) + "."
    keys = (
        Legend("contender", f"{sides.measure}, which was asked for"),
        Legend("other", "other metrics of the phase, for orientation"),
    )
    yield Figure("ratios", "Contender ÷ baseline", words, keys, Ratios("contender ÷ baseline", tuple(ratios)))
    heads = columns("Metric", "#Baseline", "#Contender", "#Ratio", "#95 % interval", "Better")
    yield Table("Geometric means", heads, tuple(rows))
    if without:
        text = f"Without a ratio, as one side has no value or one that is not above 0: {', '.join(without)}."
        yield Text(text, small=True)
    yield Text(
        f"Only {sides.measure} has a verdict: of many such intervals, one in twenty leaves 1 out by chance alone.",
        small=True,
    )


def _runs(sides: _Sides) -> Iterator[Block]:
    rows, places = [], dict[str, list[str]]()
    for name, side in zip(sides.names, (sides.baseline, sides.contender), strict=True):
        for run in side.runs:
            value = run_value(run, sides.measure) if run in side.valid else None
            shown = MISSING if value is None else quantity(value, sides.metric.unit)
            words = outcome_words(run.run)
            rows.append((run.run.start.utc, (name, run.run.id, moment(run.run.start.utc), shown, words)))
            places.setdefault(str(run.path.parent), []).append(run.run.id)
    heads = columns("Side", "Run", "Start", f"#{sides.measure}", "Outcome")
    yield Table("Runs in order", heads, tuple(row for _, row in sorted(rows)))
    for place, ids in places.items():
        which = "They" if len(places) == 1 else listing(ids, most=len(ids))
        yield Text(f"{which} are in {place}.", small=True)


def _facts(sides: _Sides, found: Comparison, words: str) -> Mapping[str, Any]:
    def side(members: Replicates) -> list[dict[str, Any]]:
        return [
            {
                "id": run.run.id,
                "path": str(run.path),
                "trial": run.run.trial.identity,
                "outcome": run.run.outcome.kind,
                "reason": run.run.outcome.reason,
                "value": run_value(run, sides.measure) if run in members.valid else None,
            }
            for run in members.runs
        ]

    def listed(found: Sequence[Difference]) -> list[dict[str, Any]]:
        return [{"path": entry.path, "baseline": entry.left, "contender": entry.right} for entry in found]

    return {
        "schema": 1,
        "kind": "comparison",
        "headline": words,
        "names": list(sides.names),
        "workload": sides.baseline.first.run.trial.workload,
        "metric": {"measure": str(sides.measure), **asdict(sides.metric)},
        "comparison": asdict(found),
        "baseline": side(sides.baseline),
        "contender": side(sides.contender),
        "settings_differences": listed(_settings(sides)),
        "environment_differences": listed(_between(sides)),
    }
