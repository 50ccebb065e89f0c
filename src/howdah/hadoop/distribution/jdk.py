"""Java on a host: finding it without starting it, choosing one that a Hadoop release runs on, and the flags it
needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from howdah.errors import HostProblem
from howdah.host import operations
from howdah.host.protocol import Host

# What a runtime image must have when its release file names its modules (one made by jlink may lack some): what jdeps
# prints for Hadoop's own jars, without what only test and build classes use.
_NEEDED_MODULES = frozenset(
    "java.base java.desktop java.management java.naming java.rmi java.security.jgss java.security.sasl java.sql "
    "jdk.unsupported".split()
)

# The packages that Hadoop opens in its scripts: hadoop_finalize_jpms_opts of hadoop-functions.sh (HADOOP-19310). The
# published copy of the list, which Hadoop keeps in step with it, is `extraJavaTestArgs` in hadoop-project-VERSION.pom;
# 3.5.0 has the same list as 3.4.2 and adds the native access.
_OPENED = (
    "java.io java.lang java.lang.reflect java.math java.net java.text java.util java.util.concurrent java.util.zip "
    "sun.security.util sun.security.x509"
).split()
_OPENS = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED)
# What the NodeManager puts for `<ADD_OPENS>` into the command of a MapReduce container on Java 17 and newer
# (ContainerLaunch.ADDITIONAL_JDK17_PLUS_OPTIONS), beside java.lang, which is opened above.
_EXPORTS = tuple(f"--add-exports=java.base/{package}=ALL-UNNAMED" for package in ("sun.net.dns", "sun.net.util"))
GSSAPI = "jdk.security.jgss"
"""Module by which Java logs in to Kerberos."""
_NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED"


@dataclass(frozen=True, slots=True)
class Jdk:
    """A Java runtime at `home`. `version` is (17, 0, 15); Java 8 is (8, 0, UPDATE). Empty `modules` means unknown."""

    home: str
    version: tuple[int, ...]
    vendor: str
    architecture: str
    modules: tuple[str, ...]

    @property
    def major(self) -> int:
        return self.version[0]

    @property
    def has_kerberos(self) -> bool:
        """Whether this Java can log in to Kerberos, as far as is known."""
        return not self.modules or GSSAPI in self.modules


def check_kerberos(jdk: Jdk, host: str, hint: str) -> None:
    """Raise HostProblem if the `jdk` of a host cannot log in to Kerberos."""
    if not jdk.has_kerberos:
        text = f"the Java in {jdk.home} has no module {GSSAPI}, which Kerberos needs"
        raise HostProblem(text, host=host, hint=hint)


@dataclass(frozen=True, slots=True)
class _Rule:
    """The Java versions that run a line of Hadoop: bounds (inclusive), and the preferred versions; then the newest."""

    oldest: int
    newest: int | None
    preferred: tuple[int, ...]
    too_old: str
    too_new: str = ""


# 3.4.2 on Java 23 and newer: `Subject.getSubject` throws UnsupportedOperationException, in every command (HADOOP-19212;
# seen here on 25).
_BEFORE_3_5 = _Rule(8, 22, (17, 11, 8, 21), "Hadoop needs Java 8", "javax.security.auth.Subject.getSubject is gone")
# 3.5.0, which has HADOOP-19212, was tried on Temurin 25.0.3: NameNode, DataNode, ResourceManager, NodeManager and
# history server start, a file is written to HDFS and read back, and MapReduce jobs run on YARN.
_SINCE_3_5 = _Rule(17, None, (17, 21, 25), "its classes are compiled for Java 17")


def find_jdks(host: Host, named: str | None = None) -> tuple[Jdk, ...]:
    """Return every Java on `host`, each once: JAVA_HOME's first, then that of the PATH, then the usual directories.
    With `named`, a home, return that one alone.

    A runtime describes itself in its file `release`; only a runtime without this file is started (`java -version`).
    Raises HostProblem if `named` has no Java.
    """
    if named is not None:
        jdk = read_jdk(host, named)
        if jdk is None:
            raise HostProblem(f"no Java in {named}", host=host.name, hint="A home has `bin/java` in it.")
        return (jdk,)
    found: dict[str, Jdk | None] = {}
    for candidate in _candidates(host):
        home = operations.resolve_path(host, candidate)
        if home is not None and home not in found:
            found[home] = read_jdk(host, home)
    return tuple(jdk for jdk in found.values() if jdk is not None)


def read_jdk(host: Host, home: str) -> Jdk | None:
    """Return the Java at `home`, or None if there is no `bin/java` that reports its version."""
    java = f"{home}/bin/java"
    if operations.resolve_path(host, java) is None:
        return None
    try:
        facts = _release(operations.read_file(host, f"{home}/release").decode("utf-8", "replace"))
    except HostProblem:
        try:
            facts = _ask(host, java)
        except HostProblem:  # Of another kind of processor, or not executable.
            return None
    version = _version(facts.get("JAVA_VERSION", ""))
    if version is None:
        return None
    return Jdk(
        home=home,
        version=version,
        vendor=facts.get("IMPLEMENTOR", "unknown"),
        architecture=facts.get("OS_ARCH", "unknown"),
        modules=tuple(facts.get("MODULES", "").split()),
    )


def choose_jdk(jdks: Iterable[Jdk], hadoop_version: str) -> Jdk:
    """Return the Java to run this Hadoop with: the first one of the best version.

    Raises:
        HostProblem: none fits; the message says why for each.
    """
    rule = _rule(hadoop_version)
    reasons, fit = [], []
    for jdk in jdks:
        reason = _refusal(jdk, rule)
        if reason is None:
            fit.append(jdk)
        else:
            reasons.append(f"{'.'.join(map(str, jdk.version))} in {jdk.home}: {reason}")
    if not fit:
        wanted = " or ".join(str(major) for major in rule.preferred[:2])
        raise HostProblem(
            f"no Java for Hadoop {hadoop_version}: " + ("; ".join(reasons) or "none was found"),
            hint=f"Install Java {wanted} (`apt install openjdk-{rule.preferred[0]}-jdk-headless`), or set JAVA_HOME.",
        )
    rank = {major: place for place, major in enumerate(rule.preferred)}
    return min(fit, key=lambda jdk: (rank.get(jdk.major, len(rank)), -jdk.major if jdk.major not in rank else 0))


def jvm_flags(jdk: Jdk, hadoop_version: str) -> tuple[str, ...]:
    """Return the flags that open the Java platform to Hadoop, as stock scripts and the NodeManager pass them."""
    if jdk.major < 9:
        return ()
    native = (_NATIVE_ACCESS,) if jdk.major >= 22 and _rule(hadoop_version) is _SINCE_3_5 else ()
    return (*_OPENS, *_EXPORTS, *native)


def script_flags(hadoop_version: str) -> tuple[str, ...]:
    """Return `jvm_flags` for a script that does not know its Java: a JVM skips the flags that it does not
    understand."""
    native = (_NATIVE_ACCESS,) if _rule(hadoop_version) is _SINCE_3_5 else ()
    return ("-XX:+IgnoreUnrecognizedVMOptions", *_OPENS, *_EXPORTS, *native)


def _rule(hadoop_version: str) -> _Rule:
    major, minor = (int(part) for part in hadoop_version.split(".")[:2])
    return _SINCE_3_5 if (major, minor) >= (3, 5) else _BEFORE_3_5


def _refusal(jdk: Jdk, rule: _Rule) -> str | None:
    if jdk.major < rule.oldest:
        return f"too old, {rule.too_old}"
    if rule.newest is not None and jdk.major > rule.newest:
        return f"too new, {rule.too_new} since Java {rule.newest + 1}"
    lacking = sorted(_NEEDED_MODULES.difference(jdk.modules)) if jdk.modules else []
    return f"it lacks the modules {', '.join(lacking)}" if lacking else None


def _candidates(host: Host) -> Iterator[str]:
    java_home = operations.environment_variable(host, "JAVA_HOME")
    if java_home:
        yield java_home
    for directory in (operations.environment_variable(host, "PATH") or "").split(":"):
        java = operations.resolve_path(host, f"{directory}/java") if directory else None
        # An asdf or jenv shim resolves to a script elsewhere; read_jdk then finds no bin/java beside it.
        if java is not None:
            home = PurePosixPath(java).parent.parent
            yield str(home.parent if home.name == "jre" else home)
    yield from _children(host, "/usr/lib/jvm")
    yield from (path for path in _children(host, "/opt") if "jdk" in path.lower() or "java" in path.lower())
    user = operations.environment_variable(host, "HOME")
    if user:
        yield from _children(host, f"{user}/.sdkman/candidates/java")
        yield from _children(host, f"{user}/.asdf/installs/java")


def _children(host: Host, directory: str) -> list[str]:
    try:
        entries = operations.list_directory(host, directory)
    except HostProblem:
        return []
    return [f"{directory}/{entry.name}" for entry in entries if entry.type in ("directory", "link")]


def _release(content: str) -> Mapping[str, str]:
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', content, re.MULTILINE))


def _ask(host: Host, java: str) -> Mapping[str, str]:
    completed = host.run([java, "-XshowSettings:properties", "-version"], timeout=30.0)
    properties = dict(re.findall(r"^\s+([\w.]+) = (.*)$", completed.stderr.decode("utf-8", "replace"), re.MULTILINE))
    names = {"java.version": "JAVA_VERSION", "java.vendor": "IMPLEMENTOR", "os.arch": "OS_ARCH"}
    return {names[key]: value for key, value in properties.items() if key in names}


def _version(text: str) -> tuple[int, ...] | None:
    """Return the numbers of a version: 17.0.15 → (17, 0, 15); 1.8.0_442 → (8, 0, 442); 25-ea → (25,)."""
    match = re.match(r"(?:1\.(?=\d))?(\d+)((?:[._]\d+)*)", text)
    if match is None:
        return None
    return (int(match[1]), *(int(part) for part in re.split(r"[._]", match[2])[1:]))
