"""Factors that a person changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from howdah.engine.experiment.by_hand import ByHand, Person
from howdah.errors import HostProblem
from howdah.host import Host
from howdah.host.protocol import Completed
from howdah.model.experiment import Factor


class Nobody:
    """A host of which no more is used than `run`, and a person who is not there."""

    def __init__(self, name: str) -> None:
        self.name = name

    def asked_to_change(self, factor: Factor, level: str, found: str | None, *, anew: bool) -> bool:
        return False

    def by_hand(self, person: Person | None = None) -> ByHand:
        """With this host, and this person unless there is another."""
        return ByHand(cast(Host, self), person or self, "resume")


class Machine(Nobody):
    """A host with a switch that its person turns, at the second request if `forgetful`."""

    def __init__(self, switch: str, *, forgetful: bool = False) -> None:
        super().__init__("vm")
        self.switch = switch
        self.asked: list[tuple[str, str | None]] = []
        self.turned = 0
        self._forgetful = forgetful

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        code = 0 if argv[-1] == "cat switch" else 127
        return Completed(code, f"{self.switch}\n".encode(), b"no such thing", 0.0, 0.0)

    def asked_to_change(self, factor: Factor, level: str, found: str | None, *, anew: bool) -> bool:
        self.asked.append((level, found))
        self.turned += 2 if anew else 1
        if not self._forgetful or len(self.asked) > 1:
            self.switch = level
        return True


def smt(check: str | None) -> Factor:
    return Factor("smt", ("on", "off"), True, "Turn it in the firmware", check)


@pytest.mark.promise("A person is asked for each change by hand until the check agrees", "reference/experiment")
@pytest.mark.parametrize("forgetful", [False, True])
def test_it_is_asked_for_until_the_check_says_so(forgetful: bool) -> None:
    machine = Machine("on", forgetful=forgetful)
    by_hand = machine.by_hand()
    by_hand.bring(smt("cat switch"), "on")
    assert not machine.asked
    by_hand.bring(smt("cat switch"), "off")
    assert machine.asked == [("off", "on")] * (2 if forgetful else 1)
    machine.switch = "on"  # Somebody turned it back meanwhile.
    by_hand.bring(smt("cat switch"), "off")
    assert machine.asked[-1] == ("off", "on")


def test_without_a_check_what_was_said_holds() -> None:
    machine = Machine("on")
    by_hand = machine.by_hand()
    for level in ("on", "on", "off", "off"):
        by_hand.bring(smt(None), level)
    assert machine.asked == [("on", None), ("off", "on")]


@pytest.mark.parametrize("check", ["cat switch", None])
def test_what_is_there_already_is_set_up_anew(check: str | None) -> None:
    machine = Machine("on")
    by_hand = machine.by_hand()
    by_hand.bring(smt(check), "off")
    for _ in range(2):
        by_hand.bring(smt(check), "off", anew=True)
    assert machine.asked[1:] == [("off", "off")] * 2
    assert machine.turned == 5, "there, and back and there again twice"
    with pytest.raises(HostProblem, match="the next run needs smt off, set up again; nobody is at this terminal"):
        machine.by_hand(Nobody("vm")).bring(smt("cat switch"), "off", anew=True)


def test_nobody_is_there() -> None:
    machine = Machine("on")
    with pytest.raises(HostProblem, match=r"\[vm\] the next run needs smt off, and it is on; nobody") as caught:
        machine.by_hand(Nobody("vm")).bring(smt("cat switch"), "off")
    assert caught.value.hint == "Turn it in the firmware; then resume"


def test_a_check_that_does_not_work() -> None:
    machine = Machine("on")
    with pytest.raises(HostProblem, match=r"the check of smt failed \(exit code 127\): cat swich\nno such thing"):
        machine.by_hand().bring(smt("cat swich"), "on")
