"""A YAML document whose every value knows its line. Keys that nobody asked for are errors."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import yaml

from howdah.errors import UsageError
from howdah.spec.slips import did_you_mean


class Value:
    """One value of a document, in the place where it stands."""

    def __init__(self, file: Path | None, node: yaml.Node, name: str) -> None:
        """`file` is where people find the document, if they do; `name` is what messages call the value."""
        self._file = file
        self._node = node
        self._name = name

    @property
    def place(self) -> str | None:
        """Where it stands, for people: file and line. None in a document that is in no file."""
        return None if self._file is None else f"{self._file}, line {self._node.start_mark.line + 1}"

    def problem(self, text: str, *, hint: str | None = None) -> UsageError:
        """An error about this value, to be raised."""
        return UsageError(text if self.place is None else f"{self.place}: {text}", hint=hint)

    def text(self) -> str:
        """A single value as it is written, without its quotes. Raises UsageError for a list, a mapping, or nothing."""
        if not isinstance(self._node, yaml.ScalarNode) or not self._node.value.strip():
            raise self.problem(f"{self._name} must be a single value")
        return str(self._node.value)

    def list(self) -> list[Value]:
        """The values of a list. Raises UsageError for anything else."""
        if not isinstance(self._node, yaml.SequenceNode):
            raise self.problem(f"{self._name} must be a list: [a, b]")
        return [Value(self._file, node, self._name) for node in self._node.value]

    def is_list(self) -> bool:
        """Whether it is a list."""
        return isinstance(self._node, yaml.SequenceNode)

    def is_text(self) -> bool:
        """Whether it is a single value."""
        return isinstance(self._node, yaml.ScalarNode)

    def mapping(self, known: Collection[str] | None = None) -> dict[str, Value]:
        """Values by key, in their order. Raises UsageError for anything else, for a key that stands twice, and for one
        that is not in `known`, where that is given."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.problem(f"{self._name} must be a mapping: {{key: value}}")
        found: dict[str, Value] = {}
        for key_node, node in self._node.value:
            key = Value(self._file, key_node, "a key")
            name = key.text()
            if name in found:
                raise key.problem(f"{name} is there twice")
            if known is not None and name not in known:
                raise key.problem(f"unknown key {name!r} in {self._name}", hint=did_you_mean(name, known))
            found[name] = Value(self._file, node, name)
        return found


def read_document(file: Path, name: str) -> Value:
    """The one document of `file`, which messages call `name`. Raises UsageError where it cannot be read."""
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    return parse_document(content, name, file)


def parse_document(content: str, name: str, file: Path | None = None) -> Value:
    """The one document of `content`, which messages call `name`, and whose lines are those of `file`, if any. Raises
    UsageError where it is not YAML."""
    source = name if file is None else str(file)
    try:
        node = yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f", line {mark.line + 1}"
        raise UsageError(f"{source}{where}: not YAML: {getattr(error, 'problem', None) or error}") from error
    if node is None:
        raise UsageError(f"{source} is empty")
    return Value(file, node, name)
