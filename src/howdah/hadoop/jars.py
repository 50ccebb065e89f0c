"""Howdah's own jars, which are built from `java/` and lie in the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem
from howdah.model.accelerator import ACCELERATOR_JAR


def place_of(name: str) -> Path:
    """Where the jar of the module `name` is, or will be."""
    return Path(str(resources.files("howdah"))) / "jars" / f"{name}.jar"


def plugin_jars() -> tuple[Path, ...]:
    """Our jars that every JVM of a cluster has on its class path; none where they have not been built."""
    jar = place_of(ACCELERATOR_JAR)
    return (jar,) if jar.is_file() else ()


def own_jar(name: str) -> Path:
    """The jar of the module `name`. Raises HostProblem where it has not been built."""
    jar = place_of(name)
    if not jar.is_file():
        raise HostProblem(f"{name}.jar has not been built: {jar} is missing", hint="`make jars` builds it.")
    return jar
