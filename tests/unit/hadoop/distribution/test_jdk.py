from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from howdah.errors import HostProblem
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks, jvm_flags, read_jdk, script_flags
from howdah.host.protocol import Completed

MODULES = (
    "java.base java.desktop java.management java.naming java.rmi java.security.jgss java.security.sasl java.sql "
    "jdk.unsupported java.logging"
)
DEBIAN = f'IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.15"\nMODULES="{MODULES}"\nOS_ARCH="x86_64"\nSOURCE=""\n'
TEMURIN_8 = 'JAVA_VERSION="1.8.0_442"\nOS_ARCH="aarch64"\nIMPLEMENTOR="Eclipse Adoptium"\n'


class FilesHost:
    """A host with `files` (text by path), `links` (target by path) and `variables`; its java programs say `answers`."""

    lost: str | None = None
    name = "here"

    def __init__(
        self,
        files: Mapping[str, str],
        links: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.files = files
        self.links = links or {}
        self.variables = variables or {}
        self.answers: dict[str, str] = {}
        self.runs: list[str] = []

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "environment.get":
            return self.variables.get(arguments["name"])
        path = self._real(arguments["path"])
        if operation == "files.resolve":
            return path if path in self.files or self._children(path) else None
        if operation == "files.read" and path in self.files:
            return self.files[path].encode()
        if operation == "files.list" and self._children(path):
            return self._children(path)
        raise HostProblem(f"{operation}: no such file {path}", host=self.name)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        self.runs.append(argv[0])
        return Completed(0, b"", self.answers[argv[0]].encode(), 0.1, 0.1)

    def start(self, *_: Any, **__: Any) -> Any:
        raise HostProblem("finding a JDK starts nothing")

    stream = start

    def close(self) -> None:
        pass

    def _real(self, path: str) -> str:
        for link, target in self.links.items():
            if path == link or path.startswith(f"{link}/"):
                return self._real(target + path[len(link) :])
        return path

    def _children(self, path: str) -> list[dict[str, Any]]:
        names = {p[len(path) + 1 :].split("/")[0] for p in (*self.files, *self.links) if p.startswith(f"{path}/")}
        kinds = {n: "link" if f"{path}/{n}" in self.links else "file" for n in names}
        kinds |= {n: "directory" for n in names if any(p.startswith(f"{path}/{n}/") for p in self.files)}
        return [{"name": name, "type": kind, "size": 0} for name, kind in sorted(kinds.items())]


def java(home: str, release: str) -> dict[str, str]:
    return {posixpath.join(home, "bin/java"): "", posixpath.join(home, "release"): release}


def jdk(major: int, home: str = "", modules: tuple[str, ...] = ()) -> Jdk:
    return Jdk(home or f"/jvm/{major}", (major, 0, 1), "x", "x86_64", modules)


def test_each_java_is_found_once_and_none_is_started() -> None:
    host = FilesHost(
        {
            **java("/usr/lib/jvm/java-17-openjdk-amd64", DEBIAN),
            **java("/opt/jdk8u442", TEMURIN_8),
            **java("/home/u/.sdkman/candidates/java/21.0.2-tem", 'JAVA_VERSION="21.0.2"\n'),
            "/usr/lib/jvm/openjdk-17/lib/src.zip": "",
            "/opt/other/bin/java": "",
        },
        links={
            "/usr/bin/java": "/etc/alternatives/java",
            "/etc/alternatives/java": "/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
            "/usr/lib/jvm/java-1.17.0-openjdk-amd64": "/usr/lib/jvm/java-17-openjdk-amd64",
        },
        variables={"JAVA_HOME": "/opt/jdk8u442", "PATH": "/nowhere::/usr/bin", "HOME": "/home/u"},
    )
    found = find_jdks(host)
    assert [one.home for one in found] == [
        "/opt/jdk8u442",
        "/usr/lib/jvm/java-17-openjdk-amd64",
        "/home/u/.sdkman/candidates/java/21.0.2-tem",
    ]
    assert found[0] == Jdk("/opt/jdk8u442", (8, 0, 442), "Eclipse Adoptium", "aarch64", ())
    assert found[1].version == (17, 0, 15)
    assert found[1].modules == tuple(MODULES.split())
    assert host.runs == []


def test_a_runtime_without_a_release_file_is_asked() -> None:
    host = FilesHost({"/j/bin/java": ""})
    host.answers["/j/bin/java"] = (
        "Property settings:\n    java.vendor = Oracle Corporation\n    java.version = 11.0.2\n    os.arch = amd64\n"
    )
    assert read_jdk(host, "/j") == Jdk("/j", (11, 0, 2), "Oracle Corporation", "amd64", ())


def test_a_release_file_without_a_java_is_none() -> None:
    assert read_jdk(FilesHost({"/j/release": DEBIAN}), "/j") is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("17.0.15", (17, 0, 15)),
        ("1.8.0_442", (8, 0, 442)),
        ("25-ea", (25,)),
        ("21.0.2.1", (21, 0, 2, 1)),
        ("22", (22,)),
    ],
)
def test_versions(text: str, version: tuple[int, ...]) -> None:
    found = read_jdk(FilesHost(java("/j", f'JAVA_VERSION="{text}"\n')), "/j")
    assert found is not None
    assert found.version == version


@pytest.mark.promise("The JDK that suits the Hadoop is chosen; others are refused with the reason", "reference/hadoop")
@pytest.mark.parametrize(
    ("majors", "hadoop", "chosen"),
    [
        ((8, 11, 17, 21, 25), "3.4.2", 17),
        ((8, 11, 21, 25), "3.4.2", 11),
        ((8, 21), "3.3.6", 8),
        ((22, 21), "3.4.2", 21),
        ((12, 22, 19), "3.4.2", 22),
        ((8, 11, 17, 21, 25), "3.5.0", 17),
        ((8, 25, 21), "3.5.0", 21),
        ((26, 25), "3.5.0", 25),
        ((24, 26), "3.5.0", 26),
        ((21,), "3.6.0-SNAPSHOT", 21),
    ],
)
def test_the_choice(majors: tuple[int, ...], hadoop: str, chosen: int) -> None:
    assert choose_jdk(map(jdk, majors), hadoop).major == chosen


def test_of_two_equal_versions_the_first_found_is_taken() -> None:
    assert choose_jdk([jdk(17, "/java-home"), jdk(17, "/usr/lib/jvm/17")], "3.4.2").home == "/java-home"


@pytest.mark.promise("The JDK that suits the Hadoop is chosen; others are refused with the reason", "reference/hadoop")
def test_a_refusal_says_why_for_each() -> None:
    candidates = [jdk(7), jdk(23), jdk(25), jdk(17, modules=tuple(MODULES.replace("java.naming ", "").split()))]
    with pytest.raises(HostProblem) as caught:
        choose_jdk(candidates, "3.4.2")
    assert caught.value.message == (
        "no Java for Hadoop 3.4.2: 7.0.1 in /jvm/7: too old, Hadoop needs Java 8; "
        "23.0.1 in /jvm/23: too new, javax.security.auth.Subject.getSubject is gone since Java 23; "
        "25.0.1 in /jvm/25: too new, javax.security.auth.Subject.getSubject is gone since Java 23; "
        "17.0.1 in /jvm/17: it lacks the modules java.naming"
    )
    assert "openjdk-17-jdk-headless" in (caught.value.hint or "")


def test_no_java_at_all() -> None:
    with pytest.raises(HostProblem, match=r"no Java for Hadoop 3.5.0: none was found"):
        choose_jdk([], "3.5.0")


def test_flags_follow_the_java_and_the_hadoop() -> None:
    assert jvm_flags(jdk(8), "3.4.2") == ()
    flags = jvm_flags(jdk(17), "3.4.2")
    assert "--add-opens=java.base/java.lang=ALL-UNNAMED" in flags
    assert "--add-exports=java.base/sun.net.dns=ALL-UNNAMED" in flags
    assert len(flags) == len(set(flags)) == 13
    assert jvm_flags(jdk(17), "3.5.0") == flags
    assert jvm_flags(jdk(25), "3.5.0") == (*flags, "--enable-native-access=ALL-UNNAMED")
    assert script_flags("3.4.2") == ("-XX:+IgnoreUnrecognizedVMOptions", *flags)


def test_a_java_that_is_named_is_the_only_one() -> None:
    host = FilesHost({**java("/usr/lib/jvm/java-17-openjdk-amd64", DEBIAN), **java("/opt/jdk8u442", TEMURIN_8)})
    assert [one.major for one in find_jdks(host, "/opt/jdk8u442")] == [8]
    with pytest.raises(HostProblem, match="no Java in /opt/none"):
        find_jdks(host, "/opt/none")
