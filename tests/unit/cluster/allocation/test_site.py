"""Whether a host is as a site file says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.cluster.allocation.site import check_site
from howdah.host import Host
from howdah.host.channel import open_local
from howdah.spec.site import Site


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    opened = open_local("h")
    yield opened
    opened.close()


def wrong(site: Site, host: Host) -> dict[str, str]:
    """What is wrong with the host."""
    return {one.what.partition(":")[0]: one.problem for one in check_site(site, host) if one.problem is not None}


def test_a_host_that_is_as_the_file_says(tmp_path: Path, host: Host) -> None:
    place = str(tmp_path)
    site = Site(network="lo", scratch=place, disks=(place,), python=sys.executable, shared=(place,))
    assert len(check_site(site, host)) == 5
    assert wrong(site, host) == {}


def test_a_host_that_is_not(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (tmp_path / "squeue").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "mine").mkdir()
    site = Site(
        batch="slurm",
        network="ib9",
        scratch=f"{tmp_path}/${{JOB_ID}}",
        disks=(f"{tmp_path}/open/mine",),
        java=f"{tmp_path}/jdk",
        python="/no/such/python",
        modules=("nothing/1.0",),
        shared=(f"{tmp_path}/none",),
    )
    found = wrong(site, host)
    assert set(found) == {"batch", "network", "scratch", "disks", "shared", "java", "python", "modules"}
    assert found["batch"].startswith("`squeue ")
    assert found["network"].startswith("0 of its interfaces are on it")
    assert found["scratch"] == "this is in no job; type it inside one"
    assert found["disks"] == f"everybody may rename what is in {tmp_path}/open"
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert wrong(site, host)["scratch"] == f"no directory {tmp_path}/17 that one can write to"
