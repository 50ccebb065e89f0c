"""The doctor's rules, and their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from howdah.engine.doctor.facts import Facts

Level = Literal["ok", "note", "warning", "error"]
"""`error`: a cluster will not come up, or not stay up. `warning`: a cluster will come up, but numbers may be doubtful
or somebody is at risk. `note`: a reader of the numbers should know."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One result of a rule. `fix` is a command if it differs from the rule's; `looks` is as in `Rule`."""

    level: Level
    text: str
    fix: str | None = None
    looks: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One check: why it matters, the command that fixes the problem, and the function that judges the facts.

    If the rule `looks`, the command only shows more, and a person decides what to do. `judge` yields nothing if the
    machine does not show the facts that the rule needs.
    """

    name: str
    meaning: str
    fix: str | None
    judge: Callable[[Facts], Iterable[Seen]]
    looks: bool = False


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One finding of a rule. `meaning` and `fix` (a command, or None if there is none) serve any level but `ok`. If the
    finding `looks`, the command only shows more. `host` names the host if there are several."""

    name: str
    level: Level
    finding: str
    meaning: str
    fix: str | None
    looks: bool = False
    host: str | None = None


def examine(facts: Facts, rules: Iterable[Rule]) -> tuple[DoctorFinding, ...]:
    """Return every finding of `rules`, in their order. A check that was not possible gives a `note` that says so."""
    return tuple(finding for rule in rules for finding in _apply(rule, facts))


def failed(findings: Iterable[DoctorFinding]) -> bool:
    """Return whether there is an error among `findings`: then the doctor's exit code is 1."""
    return any(finding.level == "error" for finding in findings)


def judgement(findings: Iterable[DoctorFinding]) -> str:
    """Return the last line: whether clusters will start, and whether numbers made now can be believed."""
    levels = [finding.level for finding in findings]
    errors, warnings = levels.count("error"), levels.count("warning")
    if errors:
        return f"Clusters will not start, or not stay up: {_count(errors, 'error')}."
    if warnings:
        return f"Clusters will start. Numbers made now will be doubtful: {_count(warnings, 'warning')}."
    return "Clusters will start, and nothing was found that makes numbers doubtful."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def to_json(findings: Iterable[DoctorFinding]) -> list[dict[str, Any]]:
    """Return the findings as plain values."""
    return [asdict(finding) for finding in findings]


def _apply(rule: Rule, facts: Facts) -> Iterator[DoctorFinding]:
    seen = tuple(rule.judge(facts))
    for one in seen:
        fix = None if one.level == "ok" else one.fix or rule.fix
        looks = fix is not None and (one.looks if one.fix else rule.looks)
        yield DoctorFinding(rule.name, one.level, one.text, rule.meaning, fix, looks)
    if not seen:
        yield DoctorFinding(rule.name, "note", "not checked: this machine does not show it", rule.meaning, None)
