"""Factors that a person changes: the requests, and the checks."""

from __future__ import annotations

from typing import Protocol

from howdah.errors import HostProblem
from howdah.host import Host
from howdah.model.experiment import Factor

_CHECK_SECONDS = 60.0


class Person(Protocol):
    """The person at the terminal."""

    def asked_to_change(self, factor: Factor, level: str, found: str | None, *, anew: bool) -> bool:
        """Ask for `level` of `factor`, which is `found` now as far as known. With `anew`, ask to change it and to
        change it back. Return once the person confirms; return False if nobody can be asked."""


class ByHand:
    """Brings external factors to the level that the next run needs."""

    def __init__(self, host: Host, person: Person, resume: str) -> None:
        """`resume` is the command to type to continue after nobody could be asked."""
        self._host = host
        self._person = person
        self._resume = resume
        self._said: dict[str, str] = {}

    def bring(self, factor: Factor, level: str, *, anew: bool = False) -> None:
        """Return once the factor has the level, by its check or, without a check, by the person's answer. With `anew`,
        a level that is there already is set up again: two runs after one change would not show the effect of another
        change.

        Raises HostProblem if nobody can be asked, or if the check does not work.
        """
        while (found := self._level(factor)) != level or anew:
            if not self._person.asked_to_change(factor, level, found, anew=anew and found == level):
                raise HostProblem(
                    f"the next run needs {factor.name} {level}"
                    + (", set up again" if found == level else "" if found is None else f", and it is {found}")
                    + "; nobody is at this terminal to change it",
                    host=self._host.name,
                    hint=f"{factor.change or 'Change it'}; then {self._resume}"
                    + ("" if factor.check else ", in a terminal, where it is asked for"),
                )
            self._said[factor.name] = level
            anew = False

    def _level(self, factor: Factor) -> str | None:
        if factor.check is None:
            return self._said.get(factor.name)
        done = self._host.run(["sh", "-c", factor.check], timeout=_CHECK_SECONDS)
        if done.code != 0:
            said = done.stderr.decode(errors="replace").strip()
            raise HostProblem(
                f"the check of {factor.name} failed (exit code {done.code}): {factor.check}\n{said}",
                host=self._host.name,
            )
        return done.stdout.decode(errors="replace").strip()
