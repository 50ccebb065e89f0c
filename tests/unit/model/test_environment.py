"""Differences between environments: everything but readings of the moment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.model.environment import Difference, Environment, by_rank, differences

PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=3)
FACTS = st.dictionaries(
    st.sampled_from(["cpu", "kernel", "memory", "disk"]),
    st.recursive(
        PLAIN, lambda inner: st.dictionaries(st.sampled_from(["model", "size", "now", "load"]), inner), max_leaves=8
    ),
)
ENVIRONMENTS = st.builds(Environment, hosts=st.dictionaries(st.sampled_from(["vm", "two"]), FACTS), hadoop=FACTS)


def environment(**facts):
    return Environment(hosts={"vm": facts}, hadoop={"version": "3.4.2"})


@given(ENVIRONMENTS)
def test_an_environment_does_not_differ_from_itself(one):
    assert differences(one, one) == ()


@given(ENVIRONMENTS, ENVIRONMENTS)
def test_the_other_way_round_is_the_same_with_sides_swapped(left, right):
    swapped = tuple(Difference(found.path, found.right, found.left) for found in differences(right, left))
    assert differences(left, right) == swapped


def test_a_difference_has_its_path_and_both_values():
    left, right = environment(cpu={"governor": "performance"}), environment(cpu={"governor": "powersave"})
    assert differences(left, right) == (Difference("hosts.vm.cpu.governor", "performance", "powersave"),)


def test_what_one_side_lacks_is_none():
    assert differences(environment(), environment(swap=0)) == (Difference("hosts.vm.swap", None, 0),)


def test_readings_of_the_moment_are_no_difference():
    left = environment(load=[0.1, 0.2, 0.3], memory={"total": 8, "now": {"available": 5}})
    right = environment(load=[9.0, 9.0, 9.0], memory={"total": 8, "now": {"available": 1}})
    assert differences(left, right) == ()


def hosts(**facts):
    return Environment(hosts={name: {"host": name, "cpu": cpu} for name, cpu in facts.items()}, hadoop={})


@pytest.mark.promise("Allocations of equal hosts are comparable, of unequal ones not", "explanation/comparisons")
def test_hosts_of_other_names_are_compared_by_their_rank():
    assert differences(*by_rank([hosts(a="big", b="small"), hosts(x="big", y="small")])) == ()
    unlike = differences(*by_rank([hosts(a="big", b="small"), hosts(x="big", y="big")]))
    assert unlike == (Difference("hosts.2.cpu", "small", "big"),)
    turned = differences(*by_rank([hosts(a="big", b="small"), hosts(b="small", a="big")]))
    assert [one.path for one in turned] == ["hosts.1.cpu", "hosts.2.cpu"], "the masters are on another kind of host"


def test_hosts_of_the_same_names_keep_them():
    same = [hosts(a="big", b="small"), hosts(a="big", b="big")]
    assert by_rank(same) == same
    fewer = [hosts(a="big", b="small"), hosts(a="big")]
    assert by_rank(fewer) == fewer, "a factor may take hosts away"
    assert by_rank([]) == []
