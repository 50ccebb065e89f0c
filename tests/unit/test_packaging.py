"""What the package says of itself agrees with what is installed and pinned."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import howdah
from tools.build_hook import JARS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _names(file: str) -> set[str]:
    text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
    return {match.group().lower() for match in re.finditer(r"^[A-Za-z][\w.-]*", text, re.MULTILINE)}


def test_dependencies_are_those_of_run_in():
    assert set(PROJECT["dependencies"]) == _names("run.in")


@pytest.mark.parametrize("name", ["run", "dev"])
def test_every_requirement_is_pinned(name: str):
    assert _names(f"{name}.in") <= _names(f"{name}.txt")


@pytest.mark.parametrize("name", ["run.txt", "dev.txt"])
def test_pins_have_hashes_and_no_address(name: str):
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    pins = re.findall(r"^\S+==.*(?:\n    --hash=.*)+", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[^\s#]", text, re.MULTILINE))
    assert "://" not in text
    assert not re.search(r"^\s*(-f|-i|--find-links|--index-url|--extra-index-url)", text, re.MULTILINE)


def test_the_jars_have_the_version_of_the_package():
    poms = [ROOT / "java/pom.xml", *(ROOT / "java").glob("*/pom.xml")]
    # The first of a pom is its own, or that of its parent.
    versions = {re.findall(r"<version>(.*?)</version>", pom.read_text(encoding="utf-8"))[0] for pom in poms}
    assert versions == {howdah.__version__}


def test_the_wheel_has_every_jar_that_the_build_makes():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"src/howdah/jars/([\w-]+)\.jar", makefile)) == set(JARS)


def test_setup_names_the_package_that_is_missing_and_who_may_install_it(tmp_path: Path):
    tree, commands = tmp_path / "tree", tmp_path / "bin"
    commands.mkdir()
    for name in ("bash", "dirname", "mkdir", "flock", "sha256sum", "cat", "readlink", "grep"):
        (commands / name).symlink_to(shutil.which(name) or name)
    for name, lines in (("id", "echo 1000"), ("python", "exit 0")):
        (commands / name).write_text(f"#!/bin/sh\n{lines}\n")
        (commands / name).chmod(0o755)
    for name in ("tools/setup.sh", "requirements/run.txt", "requirements/dev.txt", "pyproject.toml"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    (tree / ".venv/bin").mkdir(parents=True)
    for name in ("python", "activate"):
        (tree / ".venv/bin" / name).write_text(f"#!/bin/sh\n# {tree}/.venv\n")
        (tree / ".venv/bin" / name).chmod(0o755)
    environment = {"PATH": str(commands), "JAVA_HOME": "/none"}
    ended = subprocess.run([tree / "tools/setup.sh"], env=environment, capture_output=True, text=True, check=False)
    [package] = re.findall(
        r"^setup: needed and missing: (\S+)\. Install it \(as root: apt-get install \1\)", ended.stderr
    )
    assert ended.returncode == 1
    # A JDK 17 of Debian's is found wherever PATH leads.
    assert package == ("maven" if list(Path("/usr/lib/jvm").glob("*17*/bin/javac")) else "openjdk-17-jdk-headless")
