"""A copy of the repository in which defects are planted, and the results of its tests."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.defects.defect import Defect
from tools.suite import quick_jdk

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 600.0
"""The maximum time of the tests of one defect."""

_MAVEN = ("mvn", "-B", "--no-transfer-progress", "-q", "-f", "java/pom.xml")
# As `make jars` builds them.
_JARS = (*_MAVEN, "package", "-DskipTests")
# How pytest's report begins where an assertion failed, or `pytest.fail` or `pytest.raises` said so.
_ASSERTED = re.compile(r"(failed on teardown with \")?(assert |AssertionError|Failed: (?!Timeout))")
# An assertion on what a program printed may fail since that could not even be started.
_NOT_STARTED = re.compile(
    r"\b(ImportError|ModuleNotFoundError|SyntaxError|NameError|IndentationError|NoClassDefFoundError|LinkageError)\b"
)


@dataclass(frozen=True, slots=True)
class Ended:
    """The results of tests: those that failed by an assertion, and the `problem` if something else went wrong."""

    passed: int
    failed: tuple[str, ...]
    problem: str | None

    @property
    def said(self) -> str:
        """The result for people, in a line."""
        return self.problem or (self.failed[0] if self.failed else f"{self.passed} passed")


def sources(*folders: str) -> list[str]:
    """Return the files that git knows or would add, in their order."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted(file for file in set(listed.split("\0")) if file and (ROOT / file).is_file())


class Scratch:
    """The copy of the repository. It keeps builds between uses, so that Maven compiles only changed files again."""

    def __init__(self, path: Path) -> None:
        """Make `path` a copy of the sources as they are now."""
        self._path = path
        self._jars: str | None = None
        kept = set(sources())
        for file in kept:
            self._write(file, (ROOT / file).read_bytes())
            shutil.copymode(ROOT / file, path / file)
        for there in list(path.rglob("*")):
            name = there.relative_to(path)
            built = {"target", "__pycache__", ".build", "jars"} & set(name.parts)
            if there.is_file() and not built and str(name) not in kept:
                there.unlink()
        self._check_import()

    def tested_with(self, defect: Defect) -> Ended:
        """Return the result of the tests of `defect` while it is planted."""
        whole = (ROOT / defect.file).read_text(encoding="utf-8")
        if whole.count(defect.old) != 1:
            return Ended(0, (), f"its old text occurs {whole.count(defect.old)} times in {defect.file}")
        self._write(defect.file, whole.replace(defect.old, defect.new).encode())
        try:
            return self.tested(defect.tests)
        finally:
            self._write(defect.file, whole.encode())

    def tested(self, tests: Sequence[str]) -> Ended:
        """Return the result of `tests` on the unchanged copy."""
        nodes = [test for test in tests if "::" in test]
        parts = [self._junit(test) for test in tests if test not in nodes]
        if nodes:
            parts.append(self._pytest(nodes))
        return Ended(
            sum(part.passed for part in parts),
            tuple(one for part in parts for one in part.failed),
            next((part.problem for part in parts if part.problem is not None), None),
        )

    def _pytest(self, nodes: Sequence[str]) -> Ended:
        with _temporary() as temporary:
            more = {}
            if any(node.startswith(("tests/system/", "tests/faults/")) for node in nodes):
                problem = self._build_jars()
                if problem is not None:
                    return Ended(0, (), problem)
                more["JAVA_HOME"] = str(quick_jdk(temporary, self._path.with_name("jdk")))
            report = temporary / "report.xml"
            places = (f"--basetemp={temporary / 'pytest'}", f"--junit-xml={report}", "-o", f"cache_dir={temporary}")
            said = self._run([sys.executable, "-m", "pytest", "-q", *places, *nodes], temporary, **more)
            return _read([report] if report.exists() else [], said)

    def _junit(self, test: str) -> Ended:
        module, _, method = test.partition(":")
        reports = self._path / "java" / module / "target" / "surefire-reports"
        shutil.rmtree(reports, ignore_errors=True)
        chosen = (f"-Dtest={method}", "-Dsurefire.failIfNoSpecifiedTests=false")
        with _temporary() as temporary:
            command = [*_MAVEN, f"-Djava.io.tmpdir={temporary}", "test", "-pl", module, "-am", *chosen]
            said = self._run(command, temporary)
        return _read(sorted(reports.glob("TEST-*.xml")), said)

    def _build_jars(self) -> str | None:
        """Build Howdah's jars unless they are of these sources. Return the problem, if any."""
        digest = hashlib.sha256()
        for file in sources("java"):
            if "/src/test/" not in file:
                digest.update((self._path / file).read_bytes())
        if self._jars != digest.hexdigest():
            self._jars = None
            with _temporary() as temporary:
                said = self._run(_JARS, temporary)
            if said.code != 0:
                return f"the jars could not be built: {said.end}"
            self._jars = digest.hexdigest()
        return None

    def _check_import(self) -> None:
        """Check that the copy comes before the original, from which Howdah is installed in the environment."""
        show = [sys.executable, "-c", "import howdah; print(howdah.__file__)"]
        with _temporary() as temporary:
            said = self._run(show, temporary)
        if not Path(said.end).is_relative_to(self._path):
            raise SystemExit(f"tests of the copy would import {said.end}, not what is below {self._path}")

    def _run(self, command: Sequence[str], temporary: Path, **more: str) -> _Said:
        environment = {**os.environ, "PYTHONPATH": str(self._path / "src"), "TMPDIR": str(temporary), **more}
        return _run(command, self._path, environment)

    def _write(self, file: str, content: bytes) -> None:
        """Write a file unless it is unchanged: Maven and Python compile files that are newer than their results."""
        target = self._path / file
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


@dataclass(frozen=True, slots=True)
class _Said:
    code: int | None
    end: str


def _run(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> _Said:
    """Run a command to its end, or for `LIMIT_SECONDS`; then its code is None. Return the code and the last line."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        lines = [line for line in out.read().decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("[ERROR]", "ERROR ", "E  "))]
    return _Said(code, (errors[:1] or lines[-1:] or [""])[0][:300])


def _read(reports: Sequence[Path], said: _Said) -> Ended:
    """Return the results in the reports, which pytest and Maven write in one form."""
    passed, failed, wrong = 0, [], []
    for case in (case for report in reports for case in ET.parse(report).iter("testcase")):
        name = case.get("name", "")
        problems = [one for one in case if one.tag in ("failure", "error", "skipped")]
        for one in problems:
            message, text = one.get("message") or "", f"{one.get('message')}\n{one.text}"
            line = f"{name}: {' '.join(message.split())[:200]}"
            # Maven has `failure` for assertions alone, pytest for whatever a test raises.
            is_asserted = one.tag == "failure" if "type" in one.attrib else _ASSERTED.match(message) is not None
            if one.tag == "skipped" or not is_asserted or _NOT_STARTED.search(text):
                wrong.append(f"{one.tag}: {line}")
            else:
                failed.append(line)
        passed += not problems
    if said.code is None:
        wrong.insert(0, f"it took longer than {LIMIT_SECONDS:.0f} s")
    elif said.code != 0 and not failed and not wrong:
        wrong.append(said.end)
    elif passed + len(failed) + len(wrong) == 0:
        wrong.append(f"no test ran: {said.end}")
    return Ended(passed, tuple(failed), wrong[0] if wrong else None)


@contextmanager
def _temporary() -> Iterator[Path]:
    """Yield a directory for everything that tests write.

    Processes and mounts that are left there are removed afterwards, because a defect may be that they stay.
    """
    path = Path(tempfile.mkdtemp(prefix="howdah-defect-"))
    try:
        yield path
    finally:
        for _ in range(100):
            left = list(_processes_of(path))
            if not left:
                break
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
        for mount in reversed([one for one in mounts if one.startswith(f"{path}/")]):
            subprocess.run(["umount", "--lazy", mount], check=False)
        shutil.rmtree(path, ignore_errors=True)


def _processes_of(path: Path) -> Iterator[int]:
    """Yield the processes that name a directory in their command line or environment."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if str(path).encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                    yield int(entry.name)
