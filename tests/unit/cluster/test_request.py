"""Requests for clusters: whether they are closed."""

from __future__ import annotations

import pytest

from howdah.cluster.request import ClusterRequest


@pytest.mark.promise("A cluster on hosts that others can reach is secured, unless one says otherwise", "how-to/secure")
@pytest.mark.parametrize(
    ("allocation", "usual"),
    [
        ("local", "none"),
        ("channels:3", "none"),
        ("sim:3,network=1gbit", "none"),
        ("hosts:a,b", "authentication"),
        ("hosts:hosts.yaml", "authentication"),
        ("slurm", "authentication"),
        ("slurm:nodes=2,time=1h", "authentication"),
        ("pbs:nodes=2,time=1h", "authentication"),
    ],
)
def test_a_cluster_that_others_can_reach_is_secured(allocation: str, usual: str) -> None:
    assert ClusterRequest("c", allocation=allocation).security == usual
    assert ClusterRequest("c", allocation=allocation, protection="none").security == "none"
    assert ClusterRequest("c", allocation=allocation, protection="privacy").security == "privacy"
    assert ClusterRequest("c", allocation=allocation, realm="/realm").security == "authentication"
