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


OTHER = 12345
"""The number of a user that is nobody here."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody")


@pytest.mark.promise("`howdah up` refuses a directory that another user could change", "CHANGELOG")
@as_root
def test_who_else_could_change_what_is_in_a_directory_is_told(tmp_path: Path) -> None:
    deep = tmp_path / "above" / "mine" / "new"
    deep.parent.mkdir(parents=True)
    assert files.exposed(str(deep)) is None
    os.chown(tmp_path / "above", OTHER, -1)
    assert files.exposed(str(deep)) == f"{tmp_path}/above belongs to user {OTHER}", "its own one could be another now"
    os.chown(tmp_path / "above", 0, -1)
    (tmp_path / "above").chmod(0o777)
    assert files.exposed(str(deep)) == f"everybody may rename what is in {tmp_path}/above"
    (tmp_path / "above").chmod(0o1777)
    assert files.exposed(str(deep)) is None, "as /tmp is"
    (tmp_path / "above").chmod(0o2770)
    assert files.exposed(str(deep)) is None, "a group is trusted"


@as_root
def test_a_link_of_somebody_else_may_lead_elsewhere_tomorrow(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    assert files.exposed(str(tmp_path / "link" / "new")) is None
    os.chown(tmp_path / "link", OTHER, -1, follow_symlinks=False)
    assert files.exposed(str(tmp_path / "link" / "new")) == f"{tmp_path}/link belongs to user {OTHER}"
    os.chown(tmp_path / "link", 0, -1, follow_symlinks=False)
    os.chown(tmp_path / "mine", OTHER, -1)
    assert files.exposed(str(tmp_path / "link" / "new")) == f"{tmp_path}/mine belongs to user {OTHER}"


@as_root
def test_a_directory_that_another_user_has_made_is_not_claimed(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    os.chown(place, OTHER, -1)
    assert files.claim(str(place), "me") == "", "though it is empty"
    os.chown(place, 0, -1)
    place.chmod(0o777)
    assert files.claim(str(place), "me") is None
    assert place.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(place)
    assert files.claim(str(tmp_path / "link"), "me") == ""


def test_what_lies_in_the_way_of_a_file_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "conf.new").symlink_to(tmp_path / "victim")
    files.write(str(tmp_path / "conf"), b"mine")
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / "conf").read_text() == "mine"
    assert not (tmp_path / "conf").is_symlink()
    (tmp_path / "conf.new").write_text("left by a writer that was killed")
    files.write(str(tmp_path / "conf"), b"newer")
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["conf", "victim"]


def test_what_goes_while_a_directory_is_listed_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "stays").touch()
    ended = threading.Event()

    def come_and_go() -> None:
        while not ended.is_set():
            for number in range(20):
                (tmp_path / f"new{number}").touch()
            for number in range(20):
                (tmp_path / f"new{number}").unlink()

    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(come_and_go)
        try:
            found = [{entry["name"] for entry in files.listing(str(tmp_path))} for _ in range(2000)]
        finally:
            ended.set()
        going.result()
    assert all("stays" in names for names in found)
    assert any(len(names) > 1 for names in found)
