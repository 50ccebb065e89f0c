"""A request for a cluster (`howdah up`), resolved far enough that another process can start the cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from howdah.hadoop.configuration.plan import NONE, USUAL_PROTECTION
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.lock import PRIMARY

SILENCE = 15.0
"""Default number of seconds without a message after which the other end of a channel counts as lost."""


@dataclass(frozen=True, slots=True)
class Links:
    """How hosts are reached. After `silence` seconds without a message, either end of a channel counts the other as
    lost. Daemons talk to each other on `network`: an interface, a pattern of its name, or a range of addresses. It is
    None if each host has only one network, or if its address was written down. `site` names the site file; None for the
    usual one."""

    silence: float = SILENCE
    network: str | None = None
    site: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """A cluster to start. `hadoop_home` is the user's own distribution; otherwise `hadoop` is a managed version.
    `settings` are the user's Hadoop keys, which override all others. `without` names tuned defaults to leave out."""

    name: str
    nodes: int = 1
    allocation: str = "local"
    """Source of the hosts, in the syntax of `find_allocation`."""
    silence: float = SILENCE
    """Seconds without a message after which a host counts as lost, and stops everything that was started on it."""
    network: str | None = None
    """Network of the daemons, as in `Links`."""
    site: str | None = None
    """Site file, as in `Links`."""
    protection: str | None = None
    """One of `security.PROTECTIONS`, for the traffic of daemons and clients. None for the default of the allocation:
    see `security`."""
    realm: str | None = None
    """Directory with the site's realm (`hadoop.configuration.site_realm`); None for a realm of the cluster's own."""
    hadoop: str = PRIMARY
    hadoop_home: str | None = None
    stock: bool = False
    without: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    jvm_flags: tuple[str, ...] = ()
    """JVM flags of every daemon, after Howdah's flags."""
    task_flags: tuple[str, ...] = ()
    """JVM flags of tasks and application masters, after Howdah's flags."""
    processors: int | None = None
    """Number of processors of each host that daemons and containers may use; None for all."""
    shuffle_directory: str | None = None
    """Directory of every host in which containers keep their files; None for a place in the cluster's own directory."""
    work_directory: str | None = None
    sizing: Sizing | None = None
    """Memory of containers and size of a block; None to derive both from the resources that are free now."""
    persist: str | None = None
    """Directory of the hosts in which HDFS data stay; None if the data are removed with the cluster."""
    copies: tuple[tuple[str, str], ...] = ()
    """Copies to make before a batch system takes the hosts away: source in HDFS, and target that all hosts see."""
    storage: str = "hdfs"
    """Storages of the cluster (`howdah.model.storage`)."""
    offline: bool = False

    @property
    def security(self) -> str:
        """The protection of the cluster: by default Kerberos if the cluster is on hosts that others can reach."""
        if self.protection is not None:
            return self.protection
        if self.realm is not None:
            return USUAL_PROTECTION
        return USUAL_PROTECTION if self.allocation.partition(":")[0] in ("hosts", "slurm", "pbs") else NONE

    @property
    def links(self) -> Links:
        return Links(self.silence, self.network, self.site)

    def to_json(self) -> str:
        """Return one line that `from_json` can read."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ClusterRequest:
        record = json.loads(text)
        lists = ("without", "jvm_flags", "task_flags")
        sizing = None if record["sizing"] is None else Sizing(**record["sizing"])
        copies = tuple((source, target) for source, target in record["copies"])
        return cls(**{**record, **{name: tuple(record[name]) for name in lists}, "sizing": sizing, "copies": copies})
