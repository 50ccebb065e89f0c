"""Howdah's own jars, which are built from `java/` and lie in the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem
from howdah.model.accelerator import ACCELERATOR_JAR
from howdah.model.storage import FILESYSTEM_JAR, parse_storages


def place_of(name: str) -> Path:
    """Where the jar of the module `name` is, or will be."""
    return Path(str(resources.files("howdah"))) / "jars" / f"{name}.jar"


def plugin_jars(storage: str = "hdfs") -> tuple[Path, ...]:
    """Our jars that every JVM of a cluster with these storages has on its class path: the accelerator where it has been
    built, the file system where it is needed. Raises HostProblem where that has not been built."""
    accelerator = place_of(ACCELERATOR_JAR)
    found = (accelerator,) if accelerator.is_file() else ()
    return found if parse_storages(storage).directory is None else (*found, own_jar(FILESYSTEM_JAR))


def own_jar(name: str) -> Path:
    """The jar of the module `name`. Raises HostProblem where it has not been built."""
    jar = place_of(name)
    if not jar.is_file():
        raise HostProblem(f"{name}.jar has not been built: {jar} is missing", hint="`make jars` builds it.")
    return jar
