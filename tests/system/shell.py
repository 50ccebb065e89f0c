"""The command `hadoop fs` with our file system, as by hand: no cluster, no daemons."""

from __future__ import annotations

import shutil
from pathlib import Path

from howdah.hadoop.configuration.site import render_site
from howdah.hadoop.distribution.distribution import managed
from howdah.hadoop.distribution.jars import own_jar
from howdah.model.storage import FILESYSTEM_JAR


def hadoop_fs(conf: Path, mount: Path, **keys: str) -> list[str]:
    """The command, with a configuration that is made in the new directory `conf`; `keys` are those of `posixfs:`, with
    underscores for dots."""
    conf.mkdir()
    settings = {f"fs.posixfs.{key.replace('_', '.')}": value for key, value in keys.items()}
    settings |= {
        "fs.posixfs.impl": "org.howdah.filesystem.PosixFileSystem",
        "fs.posixfs.mount": str(mount),
        "fs.posixfs.mount.required": "true",
        "fs.defaultFS": "posixfs:///",
    }
    (conf / "core-site.xml").write_text(render_site(settings))
    path = f"{managed('3.4.2', Path.home() / '.howdah' / 'cache').classpath(conf)}:{own_jar(FILESYSTEM_JAR)}"
    return ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", path, "org.apache.hadoop.fs.FsShell"]


def calls(command: list[str]) -> list[str]:
    """The program `Calls` where `hadoop_fs` has given the command of the shell."""
    return [*command[:-1], str(Path(__file__).with_name("Calls.java"))]


def of_the_jdk(program: str) -> str:
    """A program beside `java`, which may be linked to from elsewhere."""
    beside = Path(shutil.which("java") or "java").resolve().with_name(program)
    return str(beside) if beside.exists() else program
