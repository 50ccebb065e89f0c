"""Howdah's own jars, which are built from `java/` and lie in the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem


def own_jar(name: str) -> Path:
    """The jar of the module `name`. Raises HostProblem where it has not been built."""
    jar = Path(str(resources.files("howdah"))) / "jars" / f"{name}.jar"
    if not jar.is_file():
        raise HostProblem(f"{name}.jar has not been built: {jar} is missing", hint="`make jars` builds it.")
    return jar
