"""What one asks for with `howdah up`, resolved far enough to be started elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from howdah.hadoop.configuration.plan import NONE, USUAL_PROTECTION
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.lock import PRIMARY

SILENCE = 15.0
"""Seconds without a word after which the other end of a channel counts as lost, unless one says how many."""


@dataclass(frozen=True, slots=True)
class Links:
    """How hosts are reached: after `silence` seconds without a word, either end of a channel counts the other as lost.
    Daemons talk to each other on `network`: an interface or a pattern of its name, or a range of addresses; None where
    each host has one network only, or its address was written down. `site` names the site file, None for the usual."""

    silence: float = SILENCE
    network: str | None = None
    site: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """A cluster to be made. `hadoop_home` is the user's own distribution; otherwise `hadoop` is a managed version.

    `settings` are the user's Hadoop keys, which win over everything; `without` leaves out tuned defaults by name.
    """

    name: str
    nodes: int = 1
    allocation: str = "local"
    """Where the hosts come from, as `find_allocation` reads it."""
    silence: float = SILENCE
    """Seconds without a word after which a host counts as lost, and ends what was started on it."""
    network: str | None = None
    """The network of the daemons, as in `Links`."""
    site: str | None = None
    """The site file, as in `Links`."""
    protection: str | None = None
    """One of `security.PROTECTIONS`: of what its daemons and clients say to each other. None for what is usual there:
    see `security`."""
    hadoop: str = PRIMARY
    hadoop_home: str | None = None
    stock: bool = False
    without: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    jvm_flags: tuple[str, ...] = ()
    """JVM flags of every daemon, after Howdah's own."""
    task_flags: tuple[str, ...] = ()
    """JVM flags of tasks and application masters, after Howdah's own."""
    processors: int | None = None
    """How many of each host's processors daemons and containers may use; None for all."""
    shuffle_directory: str | None = None
    """Where, on every host, containers keep their files; None for a place in the cluster's own directory."""
    work_directory: str | None = None
    sizing: Sizing | None = None
    """Memory of containers, and the size of a block; None for what this machine has free now."""
    persist: str | None = None
    """The directory of the hosts in which HDFS data stay; None where they go with the cluster."""
    copies: tuple[tuple[str, str], ...] = ()
    """What is copied before a batch system takes the hosts away: from HDFS, to where all hosts see it."""
    storage: str = "hdfs"
    """Its storages (`howdah.model.storage`)."""
    offline: bool = False

    @property
    def security(self) -> str:
        """How the cluster is protected: by Kerberos where it is on hosts that others can reach, if nobody says."""
        if self.protection is not None:
            return self.protection
        return USUAL_PROTECTION if self.allocation.partition(":")[0] in ("hosts", "slurm", "pbs") else NONE

    @property
    def links(self) -> Links:
        return Links(self.silence, self.network, self.site)

    def to_json(self) -> str:
        """One line that `from_json` reads back."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ClusterRequest:
        record = json.loads(text)
        lists = ("without", "jvm_flags", "task_flags")
        sizing = None if record["sizing"] is None else Sizing(**record["sizing"])
        copies = tuple((source, target) for source, target in record["copies"])
        return cls(**{**record, **{name: tuple(record[name]) for name in lists}, "sizing": sizing, "copies": copies})
