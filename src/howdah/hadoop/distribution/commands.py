"""The commands `hadoop`, `hdfs`, `yarn` and `mapred` of a managed distribution, whose jars come without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import script_flags

PROGRAMS = ("hadoop", "hdfs", "yarn", "mapred")


def install_launchers(distribution: Distribution) -> None:
    """Write `bin/`, `libexec/` and `etc/hadoop/` into the distribution's home, in place of existing files.

    `bin/hadoop` is the only script; the other commands are links to it. The script reads `libexec/`: the subcommands,
    the class path in its fixed order, and the JVM flags of this release. Howdah's plugins belong to a cluster: its
    hadoop-env.sh names them.
    """
    home = distribution.home
    for name, content in _files(distribution).items():
        _write(home / name, content, mode=0o755 if name.startswith("bin/") else 0o644)
    for name in PROGRAMS[1:]:
        link = home / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to("hadoop")


def are_current(distribution: Distribution) -> bool:
    """Return whether the launchers in the distribution's home are from this Howdah, and not from an earlier one."""
    try:
        return all(
            (distribution.home / name).read_text(encoding="utf-8") == content
            for name, content in _files(distribution).items()
        )
    except OSError:
        return False


def _files(distribution: Distribution) -> dict[str, str]:
    """Return the files that `install_launchers` writes, by path below the home."""
    home, scripts = distribution.home, resources.files("howdah.hadoop.distribution") / "scripts"
    return {
        "bin/hadoop": (scripts / "hadoop").read_text(encoding="utf-8"),
        "libexec/subcommands": (scripts / "subcommands").read_text(encoding="utf-8"),
        "libexec/classpath": _lines((*distribution.jars, *distribution.directories), home),
        "libexec/classpath-tools": _lines(distribution.tool_jars, home),
        "libexec/jvm-options": " ".join(script_flags(distribution.version)) + "\n",
        "etc/hadoop/log4j.properties": (scripts / "log4j.properties").read_text(encoding="utf-8"),
    }


def _lines(entries: Sequence[Path], home: Path) -> str:
    return "".join(f"{entry.relative_to(home)}\n" for entry in entries)


def _write(file: Path, content: str, mode: int = 0o644) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_text(content, encoding="utf-8")
    fresh.chmod(mode)
    fresh.replace(file)
