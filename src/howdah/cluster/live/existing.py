"""A cluster that Howdah did not start, as the configuration directory of its clients describes it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from howdah.errors import UsageError
from howdah.hadoop.configuration.mounts import MountTable, mount_table
from howdah.hadoop.configuration.security import POLICIES, PROTECTIONS
from howdah.hadoop.configuration.site import expand, read_conf_dir
from howdah.hadoop.configuration.site_warnings import PLACEHOLDER, site_warnings
from howdah.hadoop.history.job_files import done_directory, intermediate_directory
from howdah.model.storage import POSIX_SCHEME
from howdah.spec.slips import did_you_mean

_PREFIX = "conf:"
_ROOT = "/howdah"
"""The directory of Howdah's data on every cluster."""
_MANAGER = "yarn.resourcemanager"
_ALL_INTERFACES = "0.0.0.0"  # noqa: S104, nothing is bound to it here


@dataclass(frozen=True, slots=True)
class WebAddresses:
    """`host:port` of the daemons' HTTP servers. With high availability, there are several of one kind. Without HDFS,
    there is no NameNode.

    With a mount table (`viewfs:`), `namenode` is of the HDFS with Howdah's own directory; `services` has the NameNodes
    of each HDFS that is used.
    """

    namenode: tuple[str, ...]
    resourcemanager: tuple[str, ...]
    history: tuple[str, ...]
    hdfs: str = "http"
    """Scheme of the NameNode's pages; `yarn` and `jobhistory` are the schemes of the others."""
    yarn: str = "http"
    jobhistory: str = "http"
    mounts: MountTable | None = None
    services: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def locate(self, path: str) -> tuple[tuple[str, ...], str]:
        """Return the NameNodes of the HDFS on which a client sees `path`, and the path there. Raises UsageError."""
        if self.mounts is None:
            return self.namenode, path
        service, there = self.mounts.target(path)
        if service not in self.services:
            raise UsageError(f"{path} is on hdfs://{service} by the mount table, on which Howdah has nothing")
        return self.services[service], there


@dataclass(frozen=True, slots=True)
class ExistingCluster:
    """A configuration that Howdah can measure with. `settings` have references `${KEY}` replaced by values; `warnings`
    come from `site_warnings`."""

    directory: Path
    settings: Mapping[str, str]
    addresses: WebAddresses
    warnings: tuple[str, ...] = ()

    @property
    def secured(self) -> bool:
        """Whether users have to log in."""
        return self.settings.get("hadoop.security.authentication", "").strip().lower() == "kerberos"


def conf_directory(cluster: str | None) -> Path | None:
    """Return the directory of a cluster that is named as `conf:DIR`; None for a cluster of another kind."""
    if cluster is None or not cluster.startswith(_PREFIX):
        return None
    return Path(cluster.removeprefix(_PREFIX)).absolute()


def read_existing(directory: Path, given: Collection[str] = ()) -> ExistingCluster:
    """Read and judge the configuration in `directory`, to which jobs add the keys `given`. Nothing else is needed or
    touched: no Hadoop, no host.

    Raises UsageError if there is no configuration, or if Howdah cannot measure the cluster.
    """
    settings = expand(read_conf_dir(directory))
    _check_supported(settings)
    return ExistingCluster(directory, settings, web_addresses(settings), site_warnings(directory, given))


def web_addresses(settings: Mapping[str, str]) -> WebAddresses:
    """Return the addresses of the daemons' HTTP servers from a client's configuration, with Hadoop's default ports if
    it has none.

    Raises UsageError if the configuration names no NameNode, unless its storage is `posixfs:`, or no ResourceManager;
    or if a mount table leads a directory that is needed to no HDFS.
    """
    default = settings.get("fs.defaultFS", "")
    mounts = mount_table(settings)
    hdfs, yarn, jobhistory = (_scheme(settings, key) for key in POLICIES)
    needed = () if mounts is None else [mounts.target(path)[0] for path in _needed(settings)]
    services = {one: _namenodes(settings, one, hdfs) for one in needed}
    namenodes = services[needed[0]] if needed else _namenodes(settings, default.removeprefix("hdfs://"), hdfs)
    pages, port = ("webapp.https.address", 8090) if yarn == "https" else ("webapp.address", 8088)
    managers = [
        _address(settings, f"{_MANAGER}.{pages}{one}", port, f"{_MANAGER}.hostname{one}", f"{_MANAGER}.address{one}")
        for one in _ids(settings, f"{_MANAGER}.ha.rm-ids", ".") or [""]
    ]
    pages, port = ("webapp.https.address", 19890) if jobhistory == "https" else ("webapp.address", 19888)
    history = _address(settings, f"mapreduce.jobhistory.{pages}", port, "mapreduce.jobhistory.address")
    history = history or f"{(managers[0] or '').partition(':')[0]}:{port}"
    if default.startswith(f"{POSIX_SCHEME}:"):
        namenodes = []
    for what, key, found in (
        ("NameNode", "fs.defaultFS", [*namenodes, *itertools.chain.from_iterable(services.values())]),
        ("ResourceManager", "yarn.resourcemanager.hostname", managers),
        ("history server", "mapreduce.jobhistory.webapp.address", [history]),
    ):
        for address in found:
            if address is None:
                raise UsageError(f"the configuration names no {what} ({key})")
            if "${" in address or PLACEHOLDER.search(address):
                raise UsageError(f"the address of the {what} is {address}, and nothing says what that stands for")
    servers = (tuple(filter(None, namenodes)), tuple(filter(None, managers)), (history,))
    known = {service: tuple(filter(None, found)) for service, found in services.items()}
    return WebAddresses(*servers, hdfs, yarn, jobhistory, mounts, known)


def _needed(settings: Mapping[str, str]) -> Sequence[str]:
    """Return the directories that Howdah reads or writes, its own first."""
    history, done, staging = (
        settings.get(key)
        for key in (
            "mapreduce.jobhistory.intermediate-done-dir",
            "mapreduce.jobhistory.done-dir",
            "yarn.app.mapreduce.am.staging-dir",
        )
    )
    return (_ROOT, intermediate_directory(history, staging), done_directory(done, staging))


def _namenodes(settings: Mapping[str, str], service: str, scheme: str) -> list[str | None]:
    """Return the addresses of the pages of an HDFS's NameNodes; `service` is the authority of its URI."""
    service = service.rstrip("/")
    pages, port = ("https-address", 9871) if scheme == "https" else ("http-address", 9870)
    found = [
        _address(settings, f"dfs.namenode.{pages}.{one}", port, f"dfs.namenode.rpc-address.{one}")
        for one in _ids(settings, f"dfs.ha.namenodes.{service}", f"{service}.")
    ]
    if found or settings.get("fs.defaultFS", "").removeprefix("hdfs://").rstrip("/") == service:
        return found or [_address(settings, f"dfs.namenode.{pages}", port, "fs.defaultFS")]
    # One of several without high availability: its keys end with its name, or its host is all that is known.
    named = _address(settings, f"dfs.namenode.{pages}.{service}", port, f"dfs.namenode.rpc-address.{service}")
    return [named or f"{service.partition(':')[0]}:{port}"]


def _scheme(settings: Mapping[str, str], key: str) -> str:
    return "https" if settings.get(key, "").strip().upper() == "HTTPS_ONLY" else "http"


def _ids(settings: Mapping[str, str], key: str, before: str) -> list[str]:
    """Return the names that `key` lists, each with the prefix `before` that it has in other keys."""
    return [f"{before}{one.strip()}" for one in settings.get(key, "").split(",") if one.strip()]


def _address(settings: Mapping[str, str], key: str, port: int, *hosts: str) -> str | None:
    """Return the address that `key` names, or None if nothing names a host. The address of all interfaces stands for
    the host that one of the keys `hosts` names. If there is no address, this host is used, with the default port."""
    named = (settings.get(one, "").removeprefix("hdfs://").rstrip("/").partition(":")[0] for one in hosts)
    host = next((one for one in named if one not in ("", _ALL_INTERFACES)), None)
    address = settings.get(key) or (f"{host}:{port}" if host else None)
    if host and address and address.startswith(f"{_ALL_INTERFACES}:"):
        return f"{host}:{address.partition(':')[2]}"
    return address


def _check_supported(settings: Mapping[str, str]) -> None:
    """Raise UsageError for a cluster that needs a kind of request that Howdah does not know."""
    for key, known in (
        ("hadoop.security.authentication", ("simple", "kerberos")),
        *((key, ("HTTP_ONLY", "HTTP_AND_HTTPS", "HTTPS_ONLY")) for key in POLICIES),
    ):
        value = settings.get(key, "").strip()
        if value and value.lower() not in map(str.lower, known):
            raise UsageError(f"{key} of this cluster is {value}, which is not supported yet: {' or '.join(known)} is")
    for key in ("hadoop.rpc.protection", "dfs.data.transfer.protection"):
        for word in filter(None, map(str.strip, settings.get(key, "").split(","))):
            if word.lower() not in PROTECTIONS[1:]:
                raise UsageError(
                    f"{key} of this cluster is {settings[key]}, and there is no protection {word!r}",
                    hint=did_you_mean(word, PROTECTIONS[1:]),
                )
