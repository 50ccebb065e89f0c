from __future__ import annotations

import math

import pytest

from howdah.errors import Untrusted, UsageError
from howdah.workload import Asked
from howdah.workload.pi import Pi, judge, points_inside
from tests.unit.workload.sessions import FakeFiles, FakeSession


def inside_by_fractions(samples: int) -> int:
    """The same by the definition: each index's digits mirrored, one after the other."""

    def mirrored(base: int, index: int) -> float:
        value, weight = 0.0, 1.0
        while index:
            weight /= base
            value += weight * (index % base)
            index //= base
        return value

    points = ((mirrored(2, index), mirrored(3, index)) for index in range(1, samples + 1))
    return sum(math.hypot(x - 0.5, y - 0.5) <= 0.5 for x, y in points)


@pytest.mark.parametrize("samples", [1, 2, 3, 10, 1000, 3000])
def test_points_are_those_of_the_halton_sequence(samples: int) -> None:
    assert points_inside(samples) == inside_by_fractions(samples)


def test_up_to_a_million_points_the_answer_must_be_the_very_number() -> None:
    right = 4 * points_inside(1000) / 1000
    assert judge(f"{right:.20f}", 1000).passed
    wrong = judge(f"{right + 0.004:.20f}", 1000)
    assert not wrong.passed
    assert wrong.detail == "788 of 1000 points counted inside, 787 are"


def test_beyond_it_must_be_close_to_pi() -> None:
    assert judge("3.14160000000000000000", 10**8).passed
    assert not judge("3.14180000000000000000", 10**8).passed


def test_each_map_has_its_share_and_the_printed_estimate_is_judged() -> None:
    workload = Pi()
    settings = workload.resolve(Asked(size=1000, maps=4), {})
    said = "Job Finished in 3 seconds\nEstimated value of Pi is 3.14800000\n"
    session = FakeSession(FakeFiles(), output={"pi": said})
    workload.run(session, settings)
    assert session.ran == [("pi", "run", ("examples.jar", "pi", *session.programs.at_home(), "4", "250"))]
    assert [check.passed for check in workload.verify(session, settings)] == [True]


def test_samples_that_cannot_be_shared_are_refused() -> None:
    with pytest.raises(UsageError, match="3 maps"):
        Pi().resolve(Asked(size=2, maps=3), {})


def test_every_map_has_as_many_samples() -> None:
    assert Pi().resolve(Asked(size=1000, maps=3), {})["samples"] == 999


@pytest.mark.parametrize("said", ["", "Estimated value of Pi is 3.1.4\n", "Estimated value of Pi is .\n"])
def test_no_estimate_is_not_trusted(said: str) -> None:
    workload = Pi()
    settings = workload.resolve(Asked(size=1000), {})
    session = FakeSession(FakeFiles(), output={"pi": said})
    workload.run(session, settings)
    with pytest.raises(Untrusted, match="0 estimates"):
        workload.verify(session, settings)
