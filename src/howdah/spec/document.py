"""A YAML document whose every value knows its line. Unknown keys are errors."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import yaml

from howdah.errors import UsageError
from howdah.spec.slips import did_you_mean


class Value:
    """One value of a document, with its place."""

    def __init__(self, file: Path | None, node: yaml.Node, name: str) -> None:
        """Create a value. `file` has the document, None if no file does; `name` is the value's name in messages."""
        self._file = file
        self._node = node
        self._name = name

    @property
    def place(self) -> str | None:
        """The place of the value, for people: file and line. None for a document without a file."""
        return None if self._file is None else f"{self._file}, line {self._node.start_mark.line + 1}"

    def problem(self, text: str, *, hint: str | None = None) -> UsageError:
        """Return an error about this value, to be raised."""
        return UsageError(text if self.place is None else f"{self.place}: {text}", hint=hint)

    def text(self) -> str:
        """Return a single value as written, without its quotes. Raises UsageError for a list, a mapping, or nothing."""
        if not isinstance(self._node, yaml.ScalarNode) or not self._node.value.strip():
            raise self.problem(f"{self._name} must be a single value")
        return str(self._node.value)

    def list(self) -> list[Value]:
        """Return the values of a list. Raises UsageError for anything else."""
        if not isinstance(self._node, yaml.SequenceNode):
            raise self.problem(f"{self._name} must be a list: [a, b]")
        return [Value(self._file, node, self._name) for node in self._node.value]

    def is_list(self) -> bool:
        """Return whether the value is a list."""
        return isinstance(self._node, yaml.SequenceNode)

    def is_text(self) -> bool:
        """Return whether the value is a single value."""
        return isinstance(self._node, yaml.ScalarNode)

    def mapping(self, known: Collection[str] | None = None) -> dict[str, Value]:
        """Return values by key, in their order.

        Raises UsageError for anything else, for a repeated key, and for a key that is not in `known`, if that is given.
        """
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
    """Return the one document of `file`, which messages call `name`. Raises UsageError if it cannot be read."""
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    return parse_document(content, name, file)


def parse_document(content: str, name: str, file: Path | None = None) -> Value:
    """Return the one document of `content`, which messages call `name`.

    Its lines are those of `file`, if any. Raises UsageError if it is not YAML.
    """
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
