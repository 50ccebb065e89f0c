"""What `howdah tune` refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.main import howdah
from howdah.errors import UsageError


def typed(home: Path, *arguments: str) -> Result:
    return CliRunner(env={"HOWDAH_HOME": str(home)}).invoke(howdah, ["tune", *arguments])


@pytest.mark.promise("`howdah tune` suggests only names that are close", "CHANGELOG")
@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("foo",), "unknown workload: 'foo'", "Known: command, "),
        (("terasrt",), "unknown workload: 'terasrt'", "Did you mean terasort? "),
        (("terasort", "--option", "size="), "size must be a single value", ""),
    ],
)
def test_what_was_typed_wrong_is_named_by_itself(
    tmp_path: Path, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    said = typed(tmp_path, *arguments)
    assert isinstance(said.exception, UsageError)
    assert said.exception.message == message, "without a file that nobody wrote"
    assert (said.exception.hint or "").startswith(hint)
    assert "Fetching" not in said.output
    assert list(tmp_path.iterdir()) == []
