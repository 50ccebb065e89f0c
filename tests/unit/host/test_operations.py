"""The typed operations are those of the agent: same names, same arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from howdah.host import Host, operations
from howdah.host.agent.main import _OPERATIONS

TYPED = [
    function
    for name, function in inspect.getmembers(operations, inspect.isfunction)
    if function.__module__ == operations.__name__ and not name.startswith("_")
]
NOT_IN_THE_TABLE: dict[str, set[str]] = {
    "process.end_all": set(),
    "process.call_in": {"program", "invitation"},
    "process.leave_none": {"path", "owner"},
}
"""What the agent does with its own children, and the arguments of it."""


class Asked(Exception):
    """Ends a call."""


class Recorder:
    """A host that keeps what it is asked, and answers nothing."""

    name = "here"

    def call(self, operation: str, /, **arguments: Any) -> Any:
        raise Asked(operation, arguments)


def asked(function: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """The operation that `function` calls, and its arguments."""
    values: dict[str, Any] = {
        "int": 1,
        "str": "x",
        "bytes": b"x",
        "bool": True,
        str(Sequence[str]): ["x"],
        "Mapping[str, str]": {"x": "x"},
    }
    wanted = list(inspect.signature(function).parameters.values())[1:]
    given = {one.name: values.get(str(one.annotation), ["x"]) for one in wanted}
    host: Host = Recorder()  # type: ignore[assignment]
    with pytest.raises(Asked) as caught:
        function(host, **given)
    return caught.value.args[0], caught.value.args[1]


@pytest.mark.parametrize("function", TYPED, ids=lambda one: one.__name__)
def test_the_agent_has_it_with_these_arguments(function: Callable[..., Any]) -> None:
    name, arguments = asked(function)
    if name in NOT_IN_THE_TABLE:
        assert set(arguments) == NOT_IN_THE_TABLE[name]
        return
    inspect.signature(_OPERATIONS[name]).bind(**arguments)


def test_no_layer_above_calls_the_agent_by_the_name_of_an_operation() -> None:
    package = Path(operations.__file__).parents[1]
    others = (file for file in package.rglob("*.py") if "host" not in file.relative_to(package).parts)
    assert [str(file) for file in others if ".call(" in file.read_text(encoding="utf-8")] == []


def test_every_operation_of_the_agent_is_here_or_only_for_tests() -> None:
    typed = {asked(function)[0] for function in TYPED}
    assert set(_OPERATIONS) - typed == {"network.listening"}, "tests look for open ports with it"
