"""The defaults of Howdah's workloads besides the cluster's configuration. Users' programs have that configuration
alone."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.cluster.live.cluster import LiveCluster
from howdah.hadoop.configuration import tuning
from howdah.hadoop.configuration.cluster import BLOCK_SIZE, POSIX_BLOCK_SIZE
from howdah.hadoop.configuration.sizing import Sizing
from howdah.workload import Workload
from howdah.workload.command import Command


def own_defaults(workload: Workload, cluster: LiveCluster) -> Mapping[str, str]:
    """Return the settings that every job of `workload` has unless the run sets them.

    A command of the user's has none. Neither has a cluster that Howdah did not start. Settings that the cluster was
    started with (`howdah up --conf`) win.
    """
    described = cluster.description
    if isinstance(workload, Command) or "sizing" not in described:
        return {}
    defaults = described["defaults"]
    tuned = tuning.select(stock=defaults["kind"] == "stock", without=defaults["without"])
    found = {
        key: value
        for key, value in tuning.for_workloads(tuned, Sizing(**described["sizing"])).items()
        if key not in defaults["settings"]
    }
    if BLOCK_SIZE in found and POSIX_BLOCK_SIZE in cluster.settings and POSIX_BLOCK_SIZE not in defaults["settings"]:
        found[POSIX_BLOCK_SIZE] = found[BLOCK_SIZE]
    return found
