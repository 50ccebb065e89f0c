"""Directories made by several at once, as commands share a cache, and so do hosts; and what is mounted."""

from __future__ import annotations

import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from howdah.host.agent import files


def test_a_directory_that_another_makes_at_the_same_time_is_fine(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def make(path: Path) -> None:
        both.wait()
        files.make(str(path))

    with ThreadPoolExecutor(2) as two:
        for number in range(200):
            path = tmp_path / str(number) / "a/b/c/d/e/f"
            for done in [two.submit(make, path) for _ in range(2)]:
                done.result()
            assert path.is_dir()


@pytest.mark.parametrize("target", ["nothing", "file"])
def test_a_name_that_is_no_directory_is_an_error(tmp_path: Path, target: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / target)
    with pytest.raises(FileExistsError):
        files.make(str(tmp_path / "link"))


@pytest.mark.parametrize("path", ["/", "/no/such/directory", "", "neither/this"])
def test_the_space_of_what_is_not_there_is_that_of_what_is_above_it(path: str) -> None:
    assert files.space(path)["device"] == Path("/").stat().st_dev


def test_what_is_mounted_has_a_type_and_the_machines_own_root_none() -> None:
    assert files.mounted_type("/proc/self") == "proc"
    assert files.mounted_type("/") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_link_to_what_is_mounted_is_on_it(tmp_path: Path) -> None:
    own = files.mounted_type(str(tmp_path))
    (tmp_path / "deep").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "howdah-test", str(tmp_path / "deep")], check=True)
    try:
        (tmp_path / "link").symlink_to(tmp_path / "deep")
        assert files.mounted_type(str(tmp_path / "link")) == "tmpfs"
        assert files.mounted_type(str(tmp_path)) == own
    finally:
        subprocess.run(["umount", str(tmp_path / "deep")], check=True)
