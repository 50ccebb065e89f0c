"""Errors travel between processes as their class, message and hint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from howdah import errors
from howdah.errors import HostProblem, HostProblems, HowdahError


def kinds(of: type[HowdahError] = HowdahError) -> Iterator[type[HowdahError]]:
    yield of
    for below in of.__subclasses__():
        yield from kinds(below)


@pytest.mark.parametrize(
    "kind", [kind for kind in kinds() if kind.__module__ == errors.__name__], ids=lambda kind: kind.__name__
)
def test_every_error_is_made_of_a_message_and_a_hint(kind: type[HowdahError]) -> None:
    made = kind("it broke", hint="Mend it.")
    assert (made.message, made.hint) == ("it broke", "Mend it.")
    assert kind("it broke", host="a").message == "[a] it broke"


def test_several_problems_are_one() -> None:
    found = HostProblems.of([HostProblem("no space", host="a", hint="Free some."), HostProblem("no Java", host="b")])
    assert found.message == "2 hosts have a problem:\n[a] no space\n[b] no Java"
    assert found.hint == "Free some."
    assert len(found.problems) == 2
