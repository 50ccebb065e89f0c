"""The settings that `howdah tune` tries, the sources of the ideas, and the experiment with these settings.

The first level of each setting is that of the tuned defaults, so that the search begins there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howdah.cluster.deployment.assembly import Assembly
from howdah.cluster.request import ClusterRequest
from howdah.cluster.state import cluster_directory
from howdah.engine.experiment.factors import conditions
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.jars import place_of
from howdah.model.accelerator import ACCELERATOR_JAR, ACCELERATORS
from howdah.model.experiment import Experiment, Factor, StopRule
from howdah.model.truth import Truth

_TUTORIAL = "Apache Hadoop, MapReduce Tutorial"
_WHITE = "T. White, Hadoop: The Definitive Guide, 4th edition, 2015, chapter 7"
_LIPCON = "T. Lipcon, 7 Tips for Improving MapReduce Performance, Cloudera, 2009"
_OWN = "Howdah, docs/performance.md"
_OSU = "Ohio State University, RDMA for Apache Hadoop, performance results"


@dataclass(frozen=True, slots=True)
class Tunable:
    """A setting whose best level depends on the job. `why` and `source` say why it matters and who found that."""

    name: str
    levels: tuple[str, ...]
    why: str
    source: str


def tunables(sizing: Sizing, *, accelerators: bool) -> tuple[Tunable, ...]:
    """Return the tunables of a MapReduce job on a cluster of this size. `accelerators` says whether Howdah's sort and
    shuffle are built; then they are included."""
    slots, block = sizing.total_slots, sizing.block_mib
    blocks = (str(mib << 20) for mib in (1024, 512, 256, 128) if mib <= block)
    # A map of Hadoop's own takes all of it from its heap at once; what is left has to hold the mapper.
    buffers = (str(mib) for mib in (32, 100, 256, 512) if mib <= sizing.task_heap_mib // 2)
    reduces = (str(count) for count in (slots, max(1, slots // 2), 2 * slots, 4 * slots))
    return (
        Tunable("dfs.blocksize", tuple(blocks), "a split per block, and so the number of maps", f"{_LIPCON}; {_OSU}"),
        Tunable("mapreduce.job.reduces", tuple(dict.fromkeys(reduces)), "one wave of reduces or several", _TUTORIAL),
        Tunable("mapreduce.task.io.sort.mb", tuple(buffers), "how often a map spills", _WHITE),
        Tunable("mapreduce.task.io.sort.factor", ("100", "10"), "how many files are merged at once", _WHITE),
        Tunable("mapreduce.map.output.compress", ("false", "true"), "less to write and to fetch", _LIPCON),
        Tunable(
            "mapreduce.job.reduce.slowstart.completedmaps",
            ("1.0", "0.5", "0.05"),
            "fetching while maps run, or a slot for another map",
            _TUTORIAL,
        ),
        Tunable("mapreduce.reduce.shuffle.parallelcopies", ("5", "20"), "map outputs fetched at once", _WHITE),
        Tunable("mapreduce.reduce.input.buffer.percent", ("0.9", "0.0"), "map outputs kept in memory", _WHITE),
        *(
            (Tunable("accelerator", tuple(ACCELERATORS), "records sorted and merged by our own plugins", _OWN),)
            if accelerators
            else ()
        ),
    )


def tuning_experiment(
    workload: str, options: Mapping[str, str], cluster: Mapping[str, str], stop: StopRule, seed: int
) -> Experiment:
    """Return the search for the fastest configuration of `workload`. `cluster` has the cluster's factors by name; its
    hosts are asked for their sizes. Raises HowdahError."""
    made = conditions(cluster, ClusterRequest("tune")).made
    sizes = Assembly(made, cluster_directory(made.name)).offered_sizes()
    found = tunables(sizes, accelerators=place_of(ACCELERATOR_JAR).is_file())
    return _experiment(
        workload,
        options,
        {**cluster, "nodes": str(made.nodes)},
        tuple(Factor(one.name, one.levels) for one in found if len(one.levels) > 1),
        stop,
        seed,
        {"tuned": {}, "stock": {"defaults": "stock"}},
    )


def simulated_tuning(workload: str, options: Mapping[str, str], truth: Truth, stop: StopRule, seed: int) -> Experiment:
    """Return the same search on a synthetic cluster. Every factor of its file with more than one level is varied; the
    first level is the state before the search."""
    factors = tuple(Factor(name, tuple(levels)) for name, levels in truth.effects.items() if len(levels) > 1)
    return _experiment(workload, options, {}, factors, stop, seed, {})


def _experiment(
    workload: str,
    options: Mapping[str, str],
    cluster: Mapping[str, str],
    factors: tuple[Factor, ...],
    stop: StopRule,
    seed: int,
    configurations: Mapping[str, Mapping[str, str]],
) -> Experiment:
    return Experiment(
        question=f"Which settings make {workload} fastest?",
        workload=workload,
        options=options,
        cluster=cluster,
        baseline={},
        factors=factors,
        design="search",
        primary=None,
        stop=stop,
        seed=seed,
        configurations=configurations,
    )
