"""Compare several contenders with one baseline: one table, one picture."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from howdah.model.run import Caveat
from howdah.report.comparison.answer import span_words
from howdah.report.comparison.compare import ComparisonReport, build_comparison
from howdah.report.document.blocks import (
    KINDS,
    Badge,
    Block,
    Figure,
    Glance,
    Legend,
    Report,
    Section,
    Table,
    Text,
    Tile,
    columns,
)
from howdah.report.document.drawing import Ratio, Ratios
from howdah.report.document.labels import Label, label_of
from howdah.report.document.theme import VERDICTS
from howdah.report.document.wording import (
    centre,
    change,
    count,
    interval,
    listing,
    more_or_less,
    percent,
    probability_words,
    quantity,
    times,
)
from howdah.report.page.provenance import difference_table
from howdah.stats.power import LEVEL
from howdah.store import StoredRun

METHOD = (
    "Each contender is compared with the baseline, as in a comparison of two: Welch's t on the logarithms and the "
    "exact rank test must agree. Each of {n} contenders has an equal part of the 5 % (Bonferroni): all intervals "
    "together hold in 95 % of cases at least. Contenders are not compared with each other."
)


@dataclass(frozen=True, slots=True)
class ManyReport(Report):
    """A report of several comparisons: each contender against the same baseline, in the given order."""

    comparisons: tuple[ComparisonReport, ...]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """A row for each side, the baseline first: name, runs, value, ÷ baseline, interval, verdict."""
        return _rows(self.comparisons)


def build_many(
    baseline: Sequence[StoredRun],
    contenders: Sequence[Sequence[StoredRun]],
    names: Sequence[str],
    metric: str | None = None,
) -> ManyReport:
    """Return the comparison of `contenders` with `baseline`.

    `names` has the baseline's name, then the contenders' names. Raises UsageError as `build_comparison` does.
    """
    pairs = zip(contenders, names[1:], strict=True)
    found = tuple(
        build_comparison(baseline, runs, metric, (names[0], name), of=len(contenders)) for runs, name in pairs
    )
    first = found[0]
    label = label_of(*(one.run for one in (*baseline, *itertools.chain.from_iterable(contenders))))
    words = _headline(found, label)
    caveats = _caveats(found)
    sections = (
        Section("result", "Result", tuple(_result(found, caveats))),
        *(Section(f"differences-{place}", f"What {one.names[1]} changes", tuple(_changes(one)))
          for place, one in enumerate(found, 1)),
    )  # fmt: skip
    facts = {
        "schema": 1,
        "kind": "comparisons",
        "headline": words,
        "baseline": first.facts["baseline"],
        "contenders": [
            {
                "name": one.names[1],
                "runs": one.facts["contender"],
                "comparison": asdict(one.comparison),
                "settings_differences": one.facts["settings_differences"],
            }
            for one in found
        ],
    }
    title = f"{baseline[0].run.trial.workload}: {count(len(found), 'contender')} against {names[0]}"
    return ManyReport(title, words, _glance(found, len(caveats), label), sections, facts, found)


def _rows(found: Sequence[ComparisonReport]) -> tuple[tuple[str, ...], ...]:
    first = found[0]
    base, unit = first.comparison.baseline, first.metric.unit
    rows = [(first.names[0], str(base.n), quantity(centre(base), unit), "", "", "baseline")]
    for one in found:
        result = one.comparison
        value = quantity(centre(result.contender), unit)
        size = (change(result.ratio), span_words(result.interval))
        rows.append((one.names[1], str(result.contender.n), value, *size, result.verdict))
    return tuple(rows)


def _best(found: Sequence[ComparisonReport]) -> ComparisonReport | None:
    """Return the contender that is faster than the baseline by most; None if none is faster."""
    faster = [one for one in found if one.comparison.verdict == "faster"]
    return max(faster, key=lambda one: abs(one.comparison.ratio - 1), default=None)


def _verdicts(found: Sequence[ComparisonReport]) -> str:
    counts = Counter(one.comparison.verdict for one in found)
    return listing(
        [f"{number} {'with ' if verdict[:2] == 'no' else ''}{verdict}" for verdict, number in counts.items()]
    )


def _headline(found: Sequence[ComparisonReport], label: Label) -> str:
    base, best = found[0].names[0], _best(found)
    told = _verdicts(found)
    prefix = label.prefix
    if best is None:
        return f"{prefix}None of {count(len(found), 'contender')} is shown to be faster than {base}: {told}."
    ratio, told = best.comparison.ratio, f"of {count(len(found), 'contender')}: {told}"
    if best.metric.is_time:
        return f"{prefix}{best.names[1]} is {times(1 / ratio)} as fast as {base}; {told}."
    size = more_or_less(ratio, is_time=False)
    return f"{prefix}{best.measure} is {size} with {best.names[1]} than with {base}; {told}."


def _glance(found: Sequence[ComparisonReport], caveats: int, label: Label) -> Glance:
    verdicts = [one.comparison.verdict for one in found]
    best = _best(found)
    word, kind = "none faster", KINDS["no difference shown"]
    if best is not None or len(set(verdicts)) == 1:
        verdict = verdicts[0] if best is None else best.comparison.verdict
        word, kind = verdict, KINDS[verdict]
    badge = label.on(Badge(kind, word))
    first = found[0]
    side, unit = first.comparison.baseline, first.metric.unit
    span = f"95 %: {interval(side.interval, unit)}" if side.interval else ""
    tiles = [Tile(first.names[0], quantity(centre(side), unit), span)]
    if best is not None:
        value = quantity(centre(best.comparison.contender), unit)
        tiles.append(Tile(best.names[1], value, f"÷ {first.names[0]}: {change(best.comparison.ratio)}"))
    tiles.append(Tile("contenders", str(len(found)), _verdicts(found)))
    return Glance(badge, tuple(tiles), caveats)


def _caveats(found: Sequence[ComparisonReport]) -> tuple[Caveat, ...]:
    """Return the caveats of all comparisons, each once. One that does not hold for all has the contenders' names."""
    of: dict[tuple[str, str], list[str]] = {}
    for one in found:
        for caveat in one.caveats:
            of.setdefault((caveat.about, caveat.text), []).append(one.names[1])
    return tuple(
        Caveat(about, text if len(names) == len(found) else f"{listing(names)}: {text}")
        for (about, text), names in of.items()
    )


def _result(found: Sequence[ComparisonReport], caveats: Sequence[Caveat]) -> Iterator[Block]:
    yield from caveats
    base = found[0].names[0]
    rows = tuple(
        Ratio(
            one.names[1],
            one.comparison.ratio,
            one.comparison.interval,
            f"{one.names[1]}: {change(one.comparison.ratio)} ({span_words(one.comparison.interval)}), "
            f"{one.comparison.verdict}",
            VERDICTS.get(one.comparison.verdict, "other"),
        )
        for one in found
    )
    keys = (
        Legend("reduce", "faster"),
        Legend("failed", "slower"),
        Legend("contender", "different"),
        Legend("other", "no difference shown"),
    )
    used = {row.colour for row in rows}
    told = "; ".join(row.title for row in rows) + "."
    shown = tuple(key for key in keys if key.colour in used)
    yield Figure("ratios", f"{found[0].measure} ÷ {base}", told, shown, Ratios(f"÷ {base}", rows))
    heads = columns("Contender", "#Runs", "#Value", f"#÷ {base}", "#95 % interval", "Verdict", "#Rank test p")
    tests = ("", *(probability_words(one.comparison.p) for one in found))
    yield Table(found[0].measure, heads, tuple((*row, p) for row, p in zip(_rows(found), tests, strict=True)))
    for one in found:
        for text in one.enough:
            yield Text(f"{one.names[1]}: {text}", small=True)
    yield Text(METHOD.format(n=len(found)) + f" Each is tested at {percent(LEVEL / len(found))}.", small=True)


def _changes(one: ComparisonReport) -> Iterator[Block]:
    if one.settings:
        yield difference_table(f"Settings of {one.names[1]} that differ", one.settings, "Baseline", "Contender")
    else:
        yield Text("It has the settings of the baseline.")


def render_csv(report: ManyReport) -> str:
    """Return the table as CSV, a line for each side, with plain numbers in the unit of the metric."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    first = report.comparisons[0]
    names = ("contender", "runs", f"{first.measure} ({first.metric.unit})", "ratio", "low", "high", "verdict", "p")
    lines.writerow(names)
    base = first.comparison.baseline
    lines.writerow((first.names[0], base.n, centre(base), 1, "", "", "baseline", ""))
    for one in report.comparisons:
        found = one.comparison
        span = ("", "") if found.interval is None else (found.interval.low, found.interval.high)
        side = found.contender
        lines.writerow((one.names[1], side.n, centre(side), found.ratio, *span, found.verdict, found.p))
    return out.getvalue()
