"""Hadoop's `*-site.xml` files: writing and reading them, and reading a whole configuration directory."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat
from xml.sax.saxutils import escape

from howdah.errors import UsageError
from howdah.model.redaction import REDACTED, is_sensitive, redacted_script

# The order in which Hadoop's clients load them: of a key that two files have, the later file's value holds.
SITES = ("core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml")

_BESIDE = (
    "ssl-client.xml",
    "capacity-scheduler.xml",
    "fair-scheduler.xml",
    "resource-types.xml",
    "log4j.properties",
    "hadoop-metrics2.properties",
    "hadoop-env.sh",
    "yarn-env.sh",
    "mapred-env.sh",
    "task-false.args",
    "task-true.args",
)

_VARIABLE = re.compile(r"[$][{]([^}$\s]+)[}]")
_MOST_SUBSTITUTIONS = 20

_XINCLUDE = "{http://www.w3.org/2001/XInclude}include"
# What XML 1.0 has no way to say, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Property:
    """One property as a file has it; the same key may follow again. `line` is the line of its value, from 1."""

    key: str
    value: str
    final: bool
    line: int


@dataclass(frozen=True, slots=True)
class SiteFile:
    """The content of one file. `${…}` in a value is kept unchanged; keys in `final` cannot be overridden."""

    properties: Mapping[str, str]
    final: frozenset[str] = frozenset()


def render_site(properties: Mapping[str, str], *, final: Collection[str] = ()) -> str:
    """Return the file for `properties`, sorted by key: equal properties give equal bytes.

    Raises:
        UsageError: a key is empty or has blanks around it, or XML cannot hold a character.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<configuration>"]
    for key, value in sorted(properties.items()):
        if not key or key != key.strip():
            raise UsageError(f"not a configuration key: {key!r}")
        if _NOT_XML.search(key + value):
            raise UsageError(f"the value of {key} cannot stand in an XML file: {value!r}")
        mark = "<final>true</final>" if key in final else ""
        lines.append(f"  <property><name>{_text(key)}</name><value>{_text(value)}</value>{mark}</property>")
    return "\n".join([*lines, "</configuration>", ""])


def parse_site(content: str | bytes, source: str) -> SiteFile:
    """Return the content of a file as Hadoop reads it: the later of two equal keys wins, unless the earlier is final.

    Raises the errors of `parse_properties`.
    """
    return _site(parse_properties(content, source))


def parse_properties(content: str | bytes, source: str) -> list[Property]:
    """Return every property of a file, in order. Keys are trimmed, and a property without a name or value is left out.
    `source` names the file in messages.

    Raises:
        UsageError: the file is not XML, is not a Hadoop configuration, or includes other files.
    """
    try:
        root = ElementTree.fromstring(content)  # noqa: S314, a configuration that Hadoop itself would obey
    except ElementTree.ParseError as error:
        raise UsageError(f"{source} is not XML: {error}") from error
    if root.tag != "configuration":
        raise UsageError(
            f"{source} is not a Hadoop configuration: its first element is <{root.tag}>, not <configuration>"
        )
    if next(root.iter(_XINCLUDE), None) is not None:
        raise UsageError(
            f"{source} includes other files (xi:include), which is not supported",
            hint="Put the included properties into the file itself.",
        )
    found = []
    for element, line in zip(root.iter("property"), _lines(content), strict=True):
        # Both forms are Hadoop's: <property><name>k</name>… and <property name="k" value="v"/>.
        said = {**element.attrib, **{child.tag: child.text or "" for child in element}}
        key = said.get("name", "").strip()
        if key and "value" in said:
            found.append(Property(key, said["value"], said.get("final", "").strip() == "true", line))
    return found


def _site(written: Sequence[Property]) -> SiteFile:
    properties: dict[str, str] = {}
    final: set[str] = set()
    for one in written:
        if one.key not in final:
            properties[one.key] = one.value
            if one.final:
                final.add(one.key)
    return SiteFile(properties, frozenset(final))


def _lines(content: str | bytes) -> list[int]:
    """Return the line of the value of every <property>, in order: ElementTree does not keep lines."""
    lines: list[int] = []
    parser = expat.ParserCreate(namespace_separator="}")  # Names are as ElementTree has them.

    def start(name: str, _: object) -> None:
        if name == "property":
            lines.append(parser.CurrentLineNumber)
        elif name == "value" and lines:
            lines[-1] = parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.Parse(content, True)
    return lines


def read_sites(directory: Path) -> dict[str, SiteFile]:
    """Return the files of `SITES` in a configuration directory, by file name. Raises the errors of
    `read_properties`."""
    return {name: _site(written) for name, written in read_properties(directory).items()}


def read_properties(directory: Path) -> dict[str, list[Property]]:
    """Return every property of the files of `SITES` in a configuration directory, by file name in the order of `SITES`.

    Raises:
        UsageError: there is no such directory, it has no `core-site.xml`, or a file cannot be read.
    """
    if not directory.is_dir():
        raise UsageError(f"no configuration directory {directory}")
    files = [file for file in map(directory.joinpath, SITES) if file.is_file()]
    if "core-site.xml" not in [file.name for file in files]:
        raise UsageError(
            f"{directory} is not a Hadoop configuration directory: it has no core-site.xml",
            hint="Give the directory that clients of the cluster use as HADOOP_CONF_DIR.",
        )
    return {file.name: parse_properties(_read(file), str(file)) for file in files}


def read_conf_dir(directory: Path) -> dict[str, str]:
    """Return the settings of a client with this directory, without Hadoop's defaults: the files of `SITES` over each
    other.

    Raises the errors of `read_properties`.
    """
    sites = read_sites(directory)
    properties: dict[str, str] = {}
    final: set[str] = set()
    for site in (sites[name] for name in SITES if name in sites):
        properties |= {key: value for key, value in site.properties.items() if key not in final}
        final |= site.final
    return properties


def expand(settings: Mapping[str, str]) -> dict[str, str]:
    """Return `settings` with `${KEY}` replaced by the value of that key, as Hadoop does it
    (`Configuration.substituteVars`, 3.4.2). Names that are no keys of `settings`, such as system properties, are kept
    unchanged."""
    expanded = {}
    for key, value in settings.items():
        for _ in range(_MOST_SUBSTITUTIONS):
            found = next((one for one in _VARIABLE.finditer(value) if one[1] in settings), None)
            if found is None:
                break
            value = value[: found.start()] + settings[found[1]] + value[found.end() :]
        expanded[key] = value
    return expanded


def read_client_files(directory: Path) -> dict[str, bytes]:
    """Return the files that clients read in this directory, and the settings of the scheduler, by name. Missing files
    are left out. Other files are not read, because daemons' files may hold passwords or be private.

    Raises UsageError if one of `SITES` cannot be read. Other unreadable files are left out.
    """
    files = {file.name: _read(file) for file in map(directory.joinpath, SITES) if file.is_file()}
    for file in map(directory.joinpath, _BESIDE):
        with suppress(OSError):
            files[file.name] = file.read_bytes()
    return files


def redacted_file(name: str, content: bytes) -> bytes:
    """Return a file of Hadoop's configuration, with `<redacted>` for the values of sensitive settings. Returns the same
    bytes if the file has no such settings, or is of a kind without them."""
    if name.endswith(".xml"):
        return _redacted_xml(content)
    if not name.endswith(".sh"):
        return content
    text = content.decode("utf-8", "replace")
    return content if (clean := redacted_script(text)) == text else clean.encode()


def _redacted_xml(content: bytes) -> bytes:
    try:
        root = ElementTree.fromstring(content)  # noqa: S314, it is the cluster's own
    except ElementTree.ParseError:
        return content
    found = False
    for element in root.iter("property"):
        value = element.find("value")
        if value is not None and value.text and is_sensitive(element.findtext("name", "").strip()):
            value.text, found = REDACTED, True
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) if found else content


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error


def _text(value: str) -> str:
    # A parser turns a bare carriage return into a line feed.
    return escape(value, {"\r": "&#13;"})
