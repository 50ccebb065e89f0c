"""Whose a directory on a host is, through real agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.cluster.ownership import _keep_log, claim_directories, owner_of
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host
from howdah.host.channel import open_local
from tests.plans import plan_of


@pytest.fixture(scope="module")
def hosts() -> Iterator[Mapping[str, Host]]:
    found = {name: open_local(name) for name in "ab"}
    yield found
    for host in found.values():
        host.close()


def planned(directory: Path) -> Plan:
    """A plan on two hosts, each with a disk, that have one directory for containers together."""
    plan = plan_of(2, hosts="ab", root=f"{directory}/root")
    with_disks = {name: replace(one, disks=(f"{directory}/disk-{name}/p",)) for name, one in plan.quarters.items()}
    return replace(plan, quarters=with_disks, shuffle=f"{directory}/together")


def test_every_directory_is_made_and_has_the_name_of_its_owner(hosts: Mapping[str, Host], tmp_path: Path) -> None:
    plan = planned(tmp_path)
    for _ in range(2):  # Again, in the place of what is left of the first.
        claim_directories(hosts.values(), plan)
    for name in hosts:
        for directory in plan.directories(name):
            assert owner_of(plan) in "".join(file.read_text() for file in Path(directory).iterdir() if file.is_file())


def test_what_is_somebody_elses_stays_and_nothing_of_ours_is_left(hosts: Mapping[str, Host], tmp_path: Path) -> None:
    plan = planned(tmp_path)
    theirs = tmp_path / "disk-b" / "p"
    theirs.mkdir(parents=True)
    (theirs / "data").write_text("theirs")
    with pytest.raises(
        UsageError, match=rf"\[b\] {theirs} is there already, and would be emptied: no cluster has made"
    ):
        claim_directories(hosts.values(), plan)
    assert (theirs / "data").read_text() == "theirs"
    left = [one for name in hosts for one in plan.directories(name) if Path(one).exists()]
    assert left == [str(theirs)]


@pytest.mark.parametrize("which", ["root-a", "disk-a"])
def test_a_directory_where_others_may_change_things_is_refused(
    hosts: Mapping[str, Host], tmp_path: Path, which: str
) -> None:
    plan = planned(tmp_path / which)
    above = tmp_path / which if which == "root-a" else tmp_path / which / "disk-a"
    above.mkdir(parents=True)
    above.chmod(0o777)
    with pytest.raises(HostProblem, match="is no place for a cluster: everybody may rename what is in"):
        claim_directories(hosts.values(), plan)
    assert not [one for name in hosts for one in plan.directories(name) if Path(one).exists()]


def test_the_end_of_a_log_is_added_to_a_longer_copy(tmp_path: Path) -> None:
    kept = tmp_path / "datanode.log"
    _keep_log(kept, b"end\n")
    assert kept.read_bytes() == b"end\n"
    whole = b"".join(b"line %d\n" % number for number in range(5000))
    kept.write_bytes(whole)
    _keep_log(kept, whole[-20000:] + b"last\n")
    assert kept.read_bytes() == whole + b"last\n"
    _keep_log(kept, b"of another cluster\n")
    assert kept.read_bytes() == b"of another cluster\n"
    assert kept.stat().st_mode & 0o077 == 0
