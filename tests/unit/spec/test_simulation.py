from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.spec.simulation import Simulation, parse_rate, parse_simulation, with_key


def test_a_number_of_hosts_and_the_rate_of_their_cards() -> None:
    assert parse_simulation("3") == Simulation(3)
    assert parse_simulation("16, network=2.5gbit") == Simulation(16, 2_500_000_000)


def test_what_each_host_has_of_the_machine() -> None:
    found = parse_simulation("2,cpus=0.5,memory=4G,disks=2,disk_rate=50MB/s")
    assert found == Simulation(2, None, 0.5, 4_000_000_000 >> 20 << 20, 2, 50_000_000)


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
        ("3,cpus=0", "cpus is '0', which is no share"),
        ("3,cpus=half", "cpus is 'half', which is no share"),
        ("3,memory=100M", "needs 1G or more"),
        ("3,disks=9", "no number from 1 to 8"),
        ("3,disk_rate=50MB", "these hosts have none of their own"),
        ("3,disks=1,disk_rate=10", "which is no rate"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_simulation(text)
    assert message in caught.value.message


def test_the_rate_of_simulated_hosts_can_be_another() -> None:
    for before in ("sim:3", "sim:3,network=100mbit"):
        assert with_key(before, "network", "1gbit") == "sim:3,network=1gbit"
    for other in ("local", "channels:3", "hosts:a,b"):
        with pytest.raises(UsageError, match=f"network is '1gbit', and that of {other} is what it is"):
            with_key(other, "network", "1gbit")
    both = with_key(with_key("sim:3", "disk_rate", "50MB"), "disks", "2")
    assert parse_simulation(both.removeprefix("sim:")) == Simulation(3, disks=2, disk_rate=50_000_000)
    with pytest.raises(UsageError, match="disks is '0'"):
        with_key("sim:3", "disks", "0")
