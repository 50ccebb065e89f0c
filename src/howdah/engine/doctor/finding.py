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
    """What one rule saw. `fix` is a command, where it is another than the rule's."""

    level: Level
    text: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look at: why it matters, the command that puts it right, and the function that looks.

    `judge` yields nothing where the machine does not show what it needs.
    """

    name: str
    meaning: str
    fix: str | None
    judge: Callable[[Facts], Iterable[Seen]]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found. `meaning` and `fix` (a command, or None where there is none) are for any level but `ok`."""

    name: str
    level: Level
    finding: str
    meaning: str
    fix: str | None


def examine(facts: Facts, rules: Iterable[Rule]) -> tuple[Finding, ...]:
    """Every finding of `rules`, in their order. What could not be looked at is a note that says so."""
    return tuple(finding for rule in rules for finding in _apply(rule, facts))


def failed(findings: Iterable[Finding]) -> bool:
    """Whether there is an error among them: then the doctor's exit code is 1."""
    return any(finding.level == "error" for finding in findings)


def to_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The findings as plain values."""
    return [asdict(finding) for finding in findings]


def _apply(rule: Rule, facts: Facts) -> Iterator[Finding]:
    seen = tuple(rule.judge(facts))
    for one in seen:
        fix = None if one.level == "ok" else one.fix or rule.fix
        yield Finding(rule.name, one.level, one.text, rule.meaning, fix)
    if not seen:
        yield Finding(rule.name, "note", "not checked: this machine does not show it", rule.meaning, None)
