"""The class archive: Hadoop's classes parsed and verified once, then mapped by every JVM (class-data sharing).

A task's JVM otherwise spends 1.5 to 2 s of CPU on it. One archive per JDK and class path serves daemons,
clients, application masters and tasks, because all have the same jars, in the same order, in front of their class path.
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
"""File in the conf directory with the class path of task JVMs, given to them as @FILE. Hadoop replaces the variable by
the job's own setting, `false` or `true`."""


def ensure_archive(
    host: Host, distribution: Distribution, jdk: Jdk, store: str, *, installed: Distribution | None = None
) -> str | None:
    """The archive for this distribution on this JDK, made in the `store` of `host` when it is not there yet (5 to
    20 s of CPU, once). `installed` is the distribution as it is on the host, where that has it at other paths.

    None where this JDK cannot have one. An archive that no longer fits its jars is ignored by the JVM, not by us:
    the key holds the size and time of each jar. Archives with plugins that are no more are removed after a day.

    Raises:
        HostProblem: the JVM could not write it.
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
    """Removes archives of the same Hadoop and JDK with other plugins than the one at `path`, which was just made.

    A JVM that has mapped one keeps it, and one that does not find it starts without. A cluster of this day may start
    such JVMs, and so may another source tree: hence the age.
    """
    others = ["-name", f"{hadoop}*.jsa", "!", "-name", path.rpartition("/")[2], "-mmin", f"+{_A_DAY}"]
    with suppress(HostProblem):  # What stays takes room, and nothing else.
        host.run(["find", directory, "-maxdepth", "1", "-type", "f", *others, "-delete"], timeout=_FIND_SECONDS)


def task_arguments(distribution: Distribution, archive: str, conf: str) -> Mapping[str, str]:
    """Return the files that TASK_ARGUMENTS may stand for, by name, with `archive` and a class path that begins with
    that one's.

    The file for jobs whose own classes come first is empty: they have Hadoop's class path, and no archive.

    Hadoop puts the container's directory first, and class-data sharing does not work behind a directory. Here the same
    entries come after Hadoop's jars and ours: the job's jar and its libraries, files shipped with it, the conf
    directory.
    """
    own = ("job.jar/job.jar", "job.jar/classes/", "job.jar/lib/*", "./*", "./")
    line = f'"-XX:SharedArchiveFile={archive}"\n-cp "{distribution.classpath(*own, conf)}"\n'
    variable = f"${{{USER_CLASSES_FIRST}}}"
    return {TASK_ARGUMENTS.replace(variable, first): text for first, text in (("false", line), ("true", ""))}


def _class_list(distribution: Distribution) -> bytes:
    """Names of the classes that daemons, clients and tasks load: those of Hadoop and the JDK, of which a version passes
    over what it does not have, then all of the plugins."""
    folder = resources.files("howdah.hadoop.distribution") / "classes"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".gz"))
    name = f"{distribution.version}.classes.gz"
    known = gzip.decompress((folder / (name if name in names else names[0])).read_bytes())
    own = sorted({name for jar in distribution.plugins for name in _classes_of(jar)})
    # In front: behind the classes of the list there are facts about lambdas.
    return "".join(f"{name}\n" for name in own).encode() + known


def _classes_of(jar: Path) -> list[str]:
    """The classes in `jar`, as `org/howdah/Name`. Raises HostProblem where it is no jar."""
    try:
        with zipfile.ZipFile(jar) as content:
            files = content.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise HostProblem(f"{jar} cannot be read: {error}", hint=how_to_get_jars()) from error
    names = (name.removesuffix(".class") for name in files if name.endswith(".class"))
    return [name for name in names if not name.startswith("META-INF/") and not name.endswith("-info")]


def _keys(distribution: Distribution, jdk: Jdk, installed: Distribution) -> tuple[str, str]:
    """The name of the archive without plugins, and what they add to it."""
    hadoop = replace(distribution, plugins=())
    digest = hashlib.sha256(f"{jdk.home} {jdk.version} {jdk.vendor}".encode())
    if installed != distribution:  # At other paths, and with a time of its own.
        digest.update(str(installed.home).encode())
    digest.update(_class_list(hadoop))
    digest.update(hadoop.fingerprint().encode())
    name = f"{distribution.version}-jdk{jdk.major}-{digest.hexdigest()[:16]}"
    return name, f"-{distribution.fingerprint()[:8]}" if distribution.plugins else ""
