"""The class archive: Hadoop's classes parsed and verified once, then mapped by every JVM (class-data sharing).

Without the archive, a task's JVM spends 1.5 to 2 s of CPU on that. One archive per JDK and class path serves daemons,
clients, application masters and tasks. All of these have the same jars, in the same order, in front of their class
path.
"""

from __future__ import annotations

import gzip
import hashlib
import secrets
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import how_to_get_jars
from howdah.hadoop.distribution.jdk import Jdk
from howdah.host import Host, operations

_DUMP_SECONDS = 120.0
_FIND_SECONDS = 30.0
_A_DAY = 24 * 60
_OLDEST_JDK = 13  # JEP 350; older ones need a commercial flag or archive no application classes.

USER_CLASSES_FIRST = "mapreduce.job.user.classpath.first"
TASK_ARGUMENTS = f"task-${{{USER_CLASSES_FIRST}}}.args"
"""File in the conf directory with the class path of task JVMs, which get it as @FILE. Hadoop replaces the variable by
the job's own setting, `false` or `true`."""


def ensure_archive(
    host: Host, distribution: Distribution, jdk: Jdk, store: str, *, installed: Distribution | None = None
) -> str | None:
    """Return the archive for this distribution on this JDK. A missing archive is created in the `store` of `host` (5 to
    20 s of CPU, once). `installed` is the distribution on the host, if it has other paths there.

    Returns None if this JDK cannot have an archive. The JVM, not Howdah, ignores an archive that no longer fits its
    jars: the key holds the size and time of each jar. Archives with plugins that no longer exist are removed after a
    day.

    Raises:
        HostProblem: the JVM could not write the archive.
    """
    if jdk.major < _OLDEST_JDK:
        return None
    directory, installed = f"{store}/archives", installed or distribution
    hadoop, plugins = _keys(distribution, jdk, installed)
    path = f"{directory}/{hadoop}{plugins}.jsa"
    if operations.use_kept(host, path):
        return path
    operations.make_directory(host, directory)
    # Two clusters may come up at once, here or on another host with the same cache: each writes a file of its own.
    fresh = f"{path}.{secrets.token_hex(4)}.new"
    classes = f"{fresh}.classes"
    operations.write_file(host, classes, _class_list(distribution))
    command = [
        f"{jdk.home}/bin/java",
        "-Xshare:dump",
        "-Xlog:cds=off",
        "-Xlog:cds+heap=off",
        f"-XX:SharedClassListFile={classes}",
        f"-XX:SharedArchiveFile={fresh}",
        "-cp",
        # Jars alone: JDK 25 takes no archive that was made behind a directory, even at the end.
        ":".join(map(str, installed.prefix)),
    ]
    done = host.run(command, timeout=_DUMP_SECONDS)
    operations.remove(host, classes)
    if done.code != 0:
        operations.remove(host, fresh)
        text = (done.stdout + done.stderr).decode(errors="replace")
        raise HostProblem(
            f"the JVM could not write the class archive {path} (exit code {done.code}): {text[-500:]}",
            host=host.name,
            hint="`--without class-data-sharing` goes on without it.",
        )
    operations.rename(host, fresh, path)
    _remove_old(host, directory, hadoop, path)
    return path


def _remove_old(host: Host, directory: str, hadoop: str, path: str) -> None:
    """Remove archives of the same Hadoop and JDK with other plugins than the archive at `path`, which was just created.

    A JVM that has mapped an archive keeps it, and a JVM that does not find its archive starts without one. A cluster of
    this day may start such JVMs, and so may another source tree. Therefore only archives older than a day are removed.
    """
    others = ["-name", f"{hadoop}*.jsa", "!", "-name", path.rpartition("/")[2], "-mmin", f"+{_A_DAY}"]
    with suppress(HostProblem):  # What stays takes room, and nothing else.
        host.run(["find", directory, "-maxdepth", "1", "-type", "f", *others, "-delete"], timeout=_FIND_SECONDS)


def task_arguments(distribution: Distribution, archive: str, conf: str) -> Mapping[str, str]:
    """Return the files that TASK_ARGUMENTS may stand for, by name, with `archive` and a class path that begins with
    that of the archive.

    The file for jobs whose own classes come first is empty: these jobs have Hadoop's class path, and no archive.

    Hadoop puts the container's directory first, and class-data sharing does not work behind a directory. Here the same
    entries come after the jars of Hadoop and Howdah: the job's jar and its libraries, files shipped with it, the conf
    directory.
    """
    own = ("job.jar/job.jar", "job.jar/classes/", "job.jar/lib/*", "./*", "./")
    line = f'"-XX:SharedArchiveFile={archive}"\n-cp "{distribution.classpath(*own, conf)}"\n'
    variable = f"${{{USER_CLASSES_FIRST}}}"
    return {TASK_ARGUMENTS.replace(variable, first): text for first, text in (("false", line), ("true", ""))}


def _class_list(distribution: Distribution) -> bytes:
    """Return the names of the classes that daemons, clients and tasks load: all classes of the plugins, and those of
    Hadoop and the JDK. A version skips the names that it does not have."""
    folder = resources.files("howdah.hadoop.distribution") / "classes"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".gz"))
    name = f"{distribution.version}.classes.gz"
    known = gzip.decompress((folder / (name if name in names else names[0])).read_bytes())
    own = sorted({name for jar in distribution.plugins for name in _classes_of(jar)})
    # In front: behind the classes of the list there are facts about lambdas.
    return "".join(f"{name}\n" for name in own).encode() + known


def _classes_of(jar: Path) -> list[str]:
    """Return the classes in `jar`, as `org/howdah/Name`. Raises HostProblem if it is no jar."""
    try:
        with zipfile.ZipFile(jar) as content:
            files = content.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise HostProblem(f"{jar} cannot be read: {error}", hint=how_to_get_jars()) from error
    names = (name.removesuffix(".class") for name in files if name.endswith(".class"))
    return [name for name in names if not name.startswith("META-INF/") and not name.endswith("-info")]


def _keys(distribution: Distribution, jdk: Jdk, installed: Distribution) -> tuple[str, str]:
    """Return the name of the archive without plugins, and the part that plugins add to it."""
    hadoop = replace(distribution, plugins=())
    digest = hashlib.sha256(f"{jdk.home} {jdk.version} {jdk.vendor}".encode())
    if installed != distribution:  # At other paths, and with a time of its own.
        digest.update(str(installed.home).encode())
    digest.update(_class_list(hadoop))
    digest.update(hadoop.fingerprint().encode())
    name = f"{distribution.version}-jdk{jdk.major}-{digest.hexdigest()[:16]}"
    return name, f"-{distribution.fingerprint()[:8]}" if distribution.plugins else ""
