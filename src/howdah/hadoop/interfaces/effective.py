"""The configuration that a live daemon or a job holds: every key with its value and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from howdah.errors import Untrusted
from howdah.hadoop.interfaces.http import PLAIN, Garbled, Http, field


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its source: the file or the program that set the value; None if Hadoop does not say."""

    value: str
    source: str | None


def effective_configuration(address: str, http: Http = PLAIN) -> Mapping[str, Setting]:
    """Return the settings that the daemon with the web server `address` (host:port) reports at `/conf`.

    Hadoop looks at the Accept header only: `?format=json` alone gives XML (ConfServlet, 3.4.2).

    Raises Unreachable, Rejected, Garbled.
    """
    url = f"{http.scheme}://{address}/conf"
    settings: dict[str, Setting] = {}
    for row in field(http.get_json(url), "properties", list, url):
        value = row.get("value") if isinstance(row, Mapping) else None
        source = row.get("resource") if isinstance(row, Mapping) else None
        if value is not None:
            settings[field(row, "key", str, url)] = Setting(str(value), None if source is None else str(source))
    if not settings:
        raise Garbled(url, "it has no keys")
    return settings


def parse_conf(content: bytes) -> Mapping[str, Setting]:
    """Return the keys of a `JOB_ID_conf.xml`, or of any file in Hadoop's configuration format.

    Each key of a job has all its sources. The last two are the one that set the key, and `job.xml`, which only carries
    it.

    Raises:
        Untrusted: the file is not in this format, or was cut off.
    """
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 (written by this cluster; expat limits expansion)
    except ElementTree.ParseError as error:
        raise Untrusted(f"a configuration file of {len(content)} bytes cannot be read: {error}") from error
    if root.tag != "configuration":
        raise Untrusted(f"a configuration file starts with <{root.tag}>, not <configuration>")
    settings: dict[str, Setting] = {}
    for row in root.iter("property"):
        name, value = row.findtext("name"), row.findtext("value")
        sources = [source.text for source in row.findall("source") if source.text != "job.xml"]
        if name is not None and value is not None:
            settings[name.strip()] = Setting(value, sources[-1] if sources else None)
    return settings
