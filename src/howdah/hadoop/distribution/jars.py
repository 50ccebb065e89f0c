"""Howdah's own jars, which are built from `java/` and are part of the package."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem
from howdah.model.accelerator import ACCELERATOR_JAR
from howdah.model.storage import FILESYSTEM_JAR, parse_storages

SECURITY_JAR, SECURE_IO_JAR = "howdah-security", "howdah-secure-io"
_PACKAGE = Path(str(resources.files("howdah")))


def place_of(name: str) -> Path:
    """Return the path of the jar of the module `name`, even if the jar does not exist yet."""
    return _PACKAGE / "jars" / f"{name}.jar"


def how_to_get_jars(package: Path = _PACKAGE) -> str:
    """Return what a user should do if one of Howdah's jars is missing: in a source tree, or where `package` is
    installed."""
    if (package.parents[1] / "java" / "pom.xml").is_file():
        return "`make jars` builds it."
    return f"Howdah's wheel has it; install that again: `{sys.executable} -m pip install --force-reinstall WHEEL`."


def plugin_jars(storage: str = "hdfs") -> tuple[Path, ...]:
    """Return Howdah's jars for the class path of every JVM of a cluster with these storages. These are the accelerator
    if it has been built, and the file system if it is needed. Raises HostProblem if a needed file system has not been
    built."""
    accelerator = place_of(ACCELERATOR_JAR)
    found = (accelerator,) if accelerator.is_file() else ()
    return found if parse_storages(storage).directory is None else (*found, own_jar(FILESYSTEM_JAR))


def security_jars(*, needed: bool) -> tuple[Path, ...]:
    """Return the jars with which clusters are secured, as far as they have been built. Raises HostProblem if one is
    `needed` and missing."""
    names = (SECURITY_JAR, SECURE_IO_JAR)
    return tuple(own_jar(name) if needed else place_of(name) for name in names if needed or place_of(name).is_file())


def own_jar(name: str) -> Path:
    """Return the jar of the module `name`. Raises HostProblem if it has not been built."""
    jar = place_of(name)
    if not jar.is_file():
        raise HostProblem(f"{name}.jar has not been built: {jar} is missing", hint=how_to_get_jars())
    return jar
