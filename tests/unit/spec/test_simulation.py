from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.spec.simulation import Simulation, parse_rate, parse_simulation, with_rate


def test_a_number_of_hosts_and_the_rate_of_their_cards() -> None:
    assert parse_simulation("3") == Simulation(3)
    assert parse_simulation("16, network=2.5gbit") == Simulation(16, 2_500_000_000)


@given(st.integers(1, 10_000))
def test_rates_have_units(rate: int) -> None:
    assert (
        parse_rate(f"{rate}mbit") == parse_rate(f"{rate} Mbit") == parse_rate(f"{rate / 1000:.3f}gbit") == rate * 10**6
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "takes a number of hosts from 1 to 16"),
        ("0", "takes a number of hosts from 1 to 16"),
        ("17", "takes a number of hosts from 1 to 16"),
        ("999999999999", "takes a number of hosts from 1 to 16"),
        ("three", "takes a number of hosts from 1 to 16"),
        ("3,100mbit", "'100mbit' is no KEY=VALUE"),
        ("3,network=1gbit,network=1gbit", "is there twice"),
        ("3,netwrok=1gbit", "simulated hosts have no 'netwrok'"),
        ("3,network=100", "network is '100', which is no rate"),
        ("3,network=100MB", "which is no rate"),
        ("3,network=0.1mbit", "which is no rate"),
        ("3,network=11gbit", "which is no rate"),
        ("3,network=-1gbit", "which is no rate"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_simulation(text)
    assert message in caught.value.message


def test_the_rate_of_simulated_hosts_can_be_another() -> None:
    assert with_rate("sim:3", "1gbit") == with_rate("sim:3,network=100mbit", "1gbit") == "sim:3,network=1gbit"
    for other in ("local", "channels:3", "hosts:a,b"):
        with pytest.raises(UsageError, match=f"the rate of {other} is what it is"):
            with_rate(other, "1gbit")
