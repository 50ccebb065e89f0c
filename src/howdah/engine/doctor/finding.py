"""What the doctor says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from howdah.engine.doctor.facts import Facts

Level = Literal["ok", "note", "warning", "error"]
"""`error`: a cluster will not come up, or not stay up. `warning`: it will, but numbers may be doubtful or somebody is
at risk. `note`: a reader of the numbers should know."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one rule saw. `fix` is a command, where it is another than the rule's; `looks` as there."""

    level: Level
    text: str
    fix: str | None = None
    looks: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look at: why it matters, the command that puts it right, and the function that looks. Where it
    `looks`, the command only shows more: what is to be done is up to a person.

    `judge` yields nothing where the machine does not show what it needs.
    """

    name: str
    meaning: str
    fix: str | None
    judge: Callable[[Facts], Iterable[Seen]]
    looks: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found. `meaning` and `fix` (a command, or None where there is none) are for any level but `ok`; it
    `looks` where the command only shows more. `host` is where, of several."""

    name: str
    level: Level
    finding: str
    meaning: str
    fix: str | None
    looks: bool = False
    host: str | None = None


def examine(facts: Facts, rules: Iterable[Rule]) -> tuple[Finding, ...]:
    """Every finding of `rules`, in their order. What could not be looked at is a note that says so."""
    return tuple(finding for rule in rules for finding in _apply(rule, facts))


def failed(findings: Iterable[Finding]) -> bool:
    """Whether there is an error among them: then the doctor's exit code is 1."""
    return any(finding.level == "error" for finding in findings)


def judgement(findings: Iterable[Finding]) -> str:
    """The last word: whether clusters will start, and whether one may believe numbers that are made now."""
    levels = [finding.level for finding in findings]
    errors, warnings = levels.count("error"), levels.count("warning")
    if errors:
        return f"Clusters will not start, or not stay up: {_count(errors, 'error')}."
    if warnings:
        return f"Clusters will start. Numbers made now will be doubtful: {_count(warnings, 'warning')}."
    return "Clusters will start, and nothing was found that makes numbers doubtful."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def to_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The findings as plain values."""
    return [asdict(finding) for finding in findings]


def _apply(rule: Rule, facts: Facts) -> Iterator[Finding]:
    seen = tuple(rule.judge(facts))
    for one in seen:
        fix = None if one.level == "ok" else one.fix or rule.fix
        looks = fix is not None and (one.looks if one.fix else rule.looks)
        yield Finding(rule.name, one.level, one.text, rule.meaning, fix, looks)
    if not seen:
        yield Finding(rule.name, "note", "not checked: this machine does not show it", rule.meaning, None)
