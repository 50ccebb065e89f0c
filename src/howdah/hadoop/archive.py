"""The class archive: Hadoop's classes parsed and verified once, then mapped by every JVM (class-data sharing).

A task's JVM otherwise spends 1.5 to 2 s of CPU on it. One archive per JDK and class path serves daemons,
clients, application masters and tasks, because all have the same jars, in the same order, in front of their class path.
"""

from __future__ import annotations

import gzip
import hashlib
import secrets
from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem
from howdah.hadoop.distribution import Distribution
from howdah.hadoop.jdk import Jdk
from howdah.host import Host

_DUMP_SECONDS = 120.0
_OLDEST_JDK = 13  # JEP 350; older ones need a commercial flag or archive no application classes.

TASK_ARGUMENTS = "task.args"
"""File in the conf directory with the class path of task JVMs, given to them as @FILE."""


def ensure_archive(host: Host, distribution: Distribution, jdk: Jdk, cache: Path) -> str | None:
    """The archive for this distribution on this JDK, made when it is not there yet (some 5 s of CPU, once).

    None where this JDK cannot have one. An archive that no longer fits its jars is ignored by the JVM, not by us:
    the key holds the size and time of each jar.

    Raises:
        HostProblem: the JVM could not write it.
    """
    if jdk.major < _OLDEST_JDK:
        return None
    directory = f"{cache}/archives"
    path = f"{directory}/{_key(distribution, jdk)}.jsa"
    if host.call("files.resolve", path=path) is not None:
        return path
    host.call("files.make", path=directory)
    # Two clusters may come up at once, here or on another host with the same cache: each writes a file of its own.
    fresh = f"{path}.{secrets.token_hex(4)}.new"
    classes = f"{fresh}.classes"
    host.call("files.write", path=classes, content=_class_list(distribution.version))
    command = [
        f"{jdk.home}/bin/java",
        "-Xshare:dump",
        "-Xlog:cds=off",
        "-Xlog:cds+heap=off",
        f"-XX:SharedClassListFile={classes}",
        f"-XX:SharedArchiveFile={fresh}",
        "-cp",
        # Jars alone: JDK 25 takes no archive that was made behind a directory, even at the end.
        ":".join(map(str, distribution.jars)),
    ]
    done = host.run(command, timeout=_DUMP_SECONDS)
    host.call("files.remove", path=classes)
    if done.code != 0:
        host.call("files.remove", path=fresh)
        text = (done.stdout + done.stderr).decode(errors="replace")
        raise HostProblem(
            f"the JVM could not write the class archive {path} (exit code {done.code}): {text[-500:]}",
            host=host.name,
            hint="`--without class-data-sharing` goes on without it.",
        )
    host.call("files.rename", path=fresh, to=path)
    return path


def task_arguments(distribution: Distribution, conf: str) -> str:
    """The content of TASK_ARGUMENTS: a class path for tasks that begins with the archive's.

    Hadoop puts the container's directory first, and class-data sharing does not work behind a directory. Here the
    same entries come after Hadoop's jars: the job's jar and its libraries, files shipped with it, the conf directory.
    """
    own = ("job.jar/job.jar", "job.jar/classes/", "job.jar/lib/*", "./*", "./")
    return f'-cp "{distribution.classpath(*own, conf)}"\n'


def _class_list(version: str) -> bytes:
    """Names of the classes that daemons, clients and tasks load. Classes a version does not have are passed over."""
    folder = resources.files("howdah.hadoop") / "classes"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".gz"))
    name = f"{version}.classes.gz"
    return gzip.decompress((folder / (name if name in names else names[0])).read_bytes())


def _key(distribution: Distribution, jdk: Jdk) -> str:
    digest = hashlib.sha256(f"{jdk.home} {jdk.version} {jdk.vendor}".encode())
    digest.update(_class_list(distribution.version))
    digest.update(distribution.fingerprint().encode())
    return f"{distribution.version}-jdk{jdk.major}-{digest.hexdigest()[:16]}"
