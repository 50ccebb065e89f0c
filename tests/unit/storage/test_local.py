from __future__ import annotations

from howdah.storage.local import LocalFiles
from tests.unit.engine.run.clusters import FakeHost, space_of


def test_the_root_of_all_is_a_place_like_others() -> None:
    asked: list[str] = []

    def space(path: str) -> dict[str, int]:
        asked.append(path)
        return space_of(1)

    for root, uri in (("/", "file:///a"), ("/mnt/", "file:///mnt/a")):
        files = LocalFiles(FakeHost({"files.space": space}), root)  # type: ignore[arg-type]
        assert files.uri("/a") == uri
        assert files.free_bytes() == 1
        assert files.describe()["capacity_bytes"] == 2
    assert asked == ["/", "/", "/mnt", "/mnt"]
