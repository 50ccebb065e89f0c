"""Memory of each daemon and container, and the size of a block, by arithmetic that can be read and checked.

```
budget     = min(80 % of memory, 90 % of what is available now) − Σ daemons (heap + JVM_OVERHEAD_MIB)
slots      = ⌈processors ÷ nodes⌉ per node: as many tasks at once as there are processors
task       = min(4096, (budget ÷ nodes − am) ÷ slots) MiB, in steps of 128
node       = slots × task + am: room for the tasks and one application master, so that
             memory, which is all that YARN's default calculator counts, limits a node to its slots
block      = the largest power of two from 128 to 1024 MiB that is at most free disk ÷ (4 × all slots): a DataNode
             reserves a whole block for every file that is being written, and all nodes share the disk
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.roles import JVM_OVERHEAD_MIB, MASTERS, WORKERS

STEP_MIB = 128
_MIB = 1 << 20
_AM_MIB = 1024
_TASK_MOST_MIB = 4096
_TASK_LEAST_MIB = 512
_BLOCK_LEAST_MIB, _BLOCK_MOST_MIB = 128, 1024
_HEAP_SHARE = 0.8
"""Share of the heap in the container of a task; the stock mapreduce.job.heap.memory-mb.ratio has the same default."""


@dataclass(frozen=True, slots=True)
class Sizing:
    """Sizes of containers and blocks; memory is in MiB. `slots` is tasks at once per node, `total_slots` in the whole
    cluster. `larger` has the slots of nodes that have more, by name; `node_mib` is the memory of the other nodes."""

    nodes: int
    slots: int
    task_mib: int
    am_mib: int
    node_mib: int
    block_mib: int
    larger: Mapping[str, int] = field(default_factory=dict)

    @property
    def total_slots(self) -> int:
        return self.nodes * self.slots + sum(slots - self.slots for slots in self.larger.values())

    @property
    def most_slots(self) -> int:
        return max((self.slots, *self.larger.values()))

    def mib_of(self, slots: int) -> int:
        """Return the memory of a node with this number of slots."""
        return slots * self.task_mib + self.am_mib

    def as_record(self) -> dict[str, Any]:
        """Return plain values, from which `Sizing(**record)` makes the sizes again."""
        record = asdict(self)
        if not self.larger:  # As in records of before there were unequal nodes.
            del record["larger"]
        return record

    @property
    def task_heap_mib(self) -> int:
        return int(self.task_mib * _HEAP_SHARE)

    @property
    def am_heap_mib(self) -> int:
        return int(self.am_mib * _HEAP_SHARE)


def size_cluster(
    nodes: int, processors: int, memory: int, available: int, disk: int, *, masters: bool = True
) -> Sizing:
    """Return the sizes for `nodes` nodes on one host; with `masters`, these are on the host, too. The host has
    `processors` and `memory` bytes, `available` of them free now, and `disk` bytes free where the data will be.

    Raises:
        HostProblem: there is not enough memory for this many nodes.
    """
    usable = int(min(0.8 * memory, 0.9 * available) / _MIB)
    slots, task = _slots(nodes, processors), _task(nodes, processors, usable, masters)
    if task < _TASK_LEAST_MIB:
        left = ((fewer, _task(fewer, processors, usable, masters)) for fewer in range(nodes, 0, -1))
        fit = next((fewer for fewer, each in left if each >= _TASK_LEAST_MIB), 0)
        raise HostProblem(
            f"not enough memory for {nodes} nodes: {usable} MiB usable of {memory // _MIB}, the daemons take "
            f"{_daemons(nodes, masters)}, which leaves {max(task, 0)} MiB per task (at least {_TASK_LEAST_MIB} are "
            "needed)",
            hint=f"--nodes {fit} fits now. Or free memory." if fit else "Free memory: not one node fits now.",
        )
    task = min(task, _TASK_MOST_MIB)
    return Sizing(nodes, slots, task, _AM_MIB, slots * task + _AM_MIB, _block(disk, nodes * slots))


def combine(parts: Sequence[tuple[Sizing, Sequence[str]]]) -> Sizing:
    """Return the sizes of a cluster whose nodes are on several machines. Each part has the sizes for its own nodes
    alone, and their names. Tasks and blocks are those of the smallest machine; every node has as many slots as its
    machine has. A node in several parts has the fewest slots of them; its host is a part of a machine then."""
    task, block = (min(getattr(sizing, name) for sizing, _ in parts) for name in ("task_mib", "block_mib"))
    of_node: dict[str, int] = {}
    for sizing, names in parts:
        of_node |= {name: min(sizing.slots, of_node.get(name, sizing.slots)) for name in names}
    least, am = min(of_node.values()), parts[0][0].am_mib
    larger = {name: slots for name, slots in of_node.items() if slots > least}
    return Sizing(len(of_node), least, task, am, least * task + am, block, larger)


def _slots(nodes: int, processors: int) -> int:
    return -(-processors // nodes)


def _daemons(nodes: int, masters: bool) -> int:
    """Return the MiB that the daemons of `nodes` nodes take; with `masters`, theirs are included."""
    of_masters, workers = (sum(role.heap_mib + JVM_OVERHEAD_MIB for role in roles) for roles in (MASTERS, WORKERS))
    return masters * of_masters + nodes * workers


def _task(nodes: int, processors: int, usable: int, masters: bool) -> int:
    """Return the MiB that are left for each task; below 0 if the daemons do not fit."""
    whole = (usable - _daemons(nodes, masters)) // nodes - _AM_MIB
    return whole // _slots(nodes, processors) // STEP_MIB * STEP_MIB


_MASTER = "yarn.app.mapreduce.am.resource.mb"
_CONTAINER_DEFAULTS = {_MASTER: 1536, "mapreduce.map.memory.mb": 1024, "mapreduce.reduce.memory.mb": 1024}
"""Defaults of mapred-default.xml, in MiB. The tasks' default there is -1, which means this value."""


def _block(disk: int, slots: int) -> int:
    block = _BLOCK_MOST_MIB
    while block > _BLOCK_LEAST_MIB and block * _MIB > disk / (4 * slots):
        block //= 2
    return block


def check_schedulable(
    settings: Mapping[str, str], *, nodes_mib: Sequence[int], node_vcores: int, most_mib: int
) -> None:
    """Refuse a MapReduce job whose containers no node could ever hold, alone or next to its application master. YARN
    itself would wait for ever.

    `settings` is the job's effective configuration, `nodes_mib` the memory of the live nodes. `node_vcores` is the
    number of virtual cores of the largest node, `most_mib` the scheduler's maximum allocation. Raises UsageError, which
    names the key.
    """
    most = min(max(nodes_mib), most_mib)
    master = _container(settings, _MASTER, most)
    for key in ("mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb"):
        task = _container(settings, key, most)
        if not _fit_together(master, task, nodes_mib):
            raise UsageError(
                f"{key} is {task} MiB and {_MASTER} {master} MiB: no task can run while the application master does, "
                f"on {len(nodes_mib)} node{'s' if len(nodes_mib) > 1 else ''} with at most {max(nodes_mib)} MiB",
                hint=f"Ask for at most {max(nodes_mib) - master}, or give the nodes more memory.",
            )
    for key in ("yarn.app.mapreduce.am.resource.cpu-vcores", "mapreduce.map.cpu.vcores", "mapreduce.reduce.cpu.vcores"):
        asked = _number(settings, key, 1)
        if asked > node_vcores:
            raise UsageError(f"{key} is {asked}, but the largest node has {node_vcores} vcores")


def _container(settings: Mapping[str, str], key: str, most: int) -> int:
    """Return how much memory the container has that `key` asks for, in MiB."""
    default = _CONTAINER_DEFAULTS[key]
    asked = _number(settings, key, default)
    asked = asked if asked > 0 else default
    if asked > most:
        raise UsageError(
            f"{key} is {asked} MiB, but the largest container this cluster can ever give has {most} MiB",
            hint=f"Ask for at most {most}, or give the nodes more memory.",
        )
    return asked


def _fit_together(master: int, task: int, nodes: Sequence[int]) -> bool:
    """Return whether some node has room for the master while one, the same or another, has room for a task."""
    largest = sorted(nodes, reverse=True)
    return largest[0] >= master + task or (
        len(largest) > 1 and largest[0] >= max(master, task) and largest[1] >= min(master, task)
    )


def _number(settings: Mapping[str, str], key: str, default: int) -> int:
    text = settings.get(key, str(default)).strip()
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{key} is {text!r}, which is not a whole number") from None
