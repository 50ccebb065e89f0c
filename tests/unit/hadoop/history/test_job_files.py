"""Finding history files, also while the JobHistoryServer moves them."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from howdah.hadoop.history.job_files import HistoryMissing, find_history, intermediate_directory
from howdah.hadoop.interfaces.http import Http
from howdah.hadoop.interfaces.webhdfs import AccessDenied, WebHdfs
from tests.unit.hadoop.interfaces.fake_server import json_response, remote, response, serving

JOB = "job_1795174471348_1002"
HISTORY = f"{JOB}-1795174552723-ann-Tera+Sort%20x-1795174566945-2-2-SUCCEEDED-root.default-1795174557139.jhist"
CONF = f"{JOB}_conf.xml"
NEW = "/mr/intermediate/ann"
OLD = "/mr/done/2026/11/20/000001"
PLACES: dict[str, Any] = {"user": "ann", "intermediate": "hdfs://vm:8020/mr/intermediate", "done": "/mr/done"}


@dataclass
class Tree:
    """The files of a small HDFS; `happens` are run one by one before each request."""

    files: dict[str, bytes]
    happens: list = field(default_factory=list)
    denied: str = "/none"

    def answer(self, request):
        if self.happens:
            self.happens.pop(0)(self)
        path = request.path.removeprefix("/webhdfs/v1")
        if f"{path}/".startswith(f"{self.denied}/"):
            return remote("AccessControlException", path, 403)
        if request.query["op"] == "OPEN":
            return response(self.files[path]) if path in self.files else remote("FileNotFoundException", path, 404)
        inside = {name[len(path) + 1 :].partition("/") for name in self.files if name.startswith(f"{path}/")}
        if not inside:
            return remote("FileNotFoundException", path, 404)
        kinds = {name: "DIRECTORY" if rest else "FILE" for name, rest, _ in inside}
        return json_response({"FileStatuses": {"FileStatus": [row(name, kind) for name, kind in kinds.items()]}})

    def move(self, name):
        self.files[f"{OLD}/{name}"] = self.files.pop(f"{NEW}/{name}")


def row(name, kind):
    return {
        "pathSuffix": name, "type": kind, "length": 1, "replication": 1, "blockSize": 1, "owner": "ann", "group": "g",
        "permission": "770", "modificationTime": 1, "accessTime": 1,
    }  # fmt: skip


def find(tree, **more):
    """What is found, and the seconds that were slept."""
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    with serving(tree.answer) as server:
        files = WebHdfs((server.address,), "ann", Http(timeout=5))
        found = find_history(files, JOB, **{**PLACES, **more}, patience=3, clock=lambda: now[0], sleep=sleep)
        return found, now[0]


def nothing(tree):
    pass


def test_where_the_master_left_them():
    assert find(Tree({f"{NEW}/{HISTORY}": b"h", f"{NEW}/{CONF}": b"c", f"{NEW}/{JOB}.summary": b"s"})) == (
        (b"h", b"c"),
        0,
    )


def test_where_the_history_server_put_them():
    other = {
        f"/mr/done/2026/11/20/000001/{JOB}9-x.jhist": b"",
        "/mr/done/2026/11/21/000001/x": b"",
        "/mr/done/lost/x": b"",
    }
    assert find(Tree({f"{OLD}/{HISTORY}": b"h", f"{OLD}/{CONF}": b"c"} | other)) == ((b"h", b"c"), 0)


def test_hadoops_default_directories():
    base = "/tmp/hadoop-yarn/staging/history"
    tree = Tree({f"{base}/done_intermediate/ann/{HISTORY}": b"h", f"{base}/done/2026/11/20/000001/{CONF}": b"c"})
    assert find(tree, intermediate=None, done=None) == ((b"h", b"c"), 0)
    own = Tree({f"/s/history/done_intermediate/ann/{name}": b"x" for name in (HISTORY, CONF)})
    done = "${yarn.app.mapreduce.am.staging-dir}/history/done"
    assert find(own, intermediate=None, done=done, staging="hdfs://vm:8020/s") == ((b"x", b"x"), 0)


@pytest.mark.promise(
    "A job history is read as soon as the job has ended, wherever it is moved", "how-to/existing-cluster"
)
@pytest.mark.parametrize("when", range(8))
@pytest.mark.parametrize("name", [HISTORY, CONF])
def test_moved_at_any_moment(when, name):
    """One file is moved before the `when`-th request, and the other right behind it."""
    other = CONF if name == HISTORY else HISTORY
    happens = [nothing] * when + [lambda tree: tree.move(name), lambda tree: tree.move(other)]
    found, slept = find(Tree({f"{NEW}/{HISTORY}": b"h", f"{NEW}/{CONF}": b"c"}, happens))
    assert found == (b"h", b"c")
    assert slept <= 1


def test_written_a_little_later():
    def written(tree):
        tree.files |= {f"{NEW}/{HISTORY}": b"h", f"{NEW}/{CONF}": b"c"}

    found, slept = find(Tree({f"{NEW}/{HISTORY}_tmp": b""}, [*[nothing] * 4, written]))
    assert (found, slept) == ((b"h", b"c"), 2)


def test_never_written():
    with pytest.raises(HistoryMissing, match=f"no history of {JOB} after 3 s; looked in {NEW}, {OLD}"):
        find(Tree({f"{OLD}/{CONF}": b"c"}))
    with pytest.raises(HistoryMissing, match=f"looked in {NEW}, /mr/done"):
        find(Tree({}))


def test_not_allowed_to_look():
    with serving(remote("AccessControlException", "no", 403)) as server, pytest.raises(AccessDenied):
        find_history(WebHdfs((server.address,), "ann"), JOB, **PLACES)


@pytest.mark.parametrize("when", range(6))
def test_moved_to_where_only_the_history_server_may_look(when):
    """Each file is read as soon as it is seen, so that only what is moved at once before that is lost."""
    tree = Tree({f"{NEW}/{HISTORY}": b"h"}, denied="/mr/done")
    seen = [lambda tree: tree.files.update({f"{NEW}/{CONF}": b"c"}), lambda tree: tree.move(HISTORY)]
    tree.happens = [nothing, nothing, *[nothing] * when, *seen]
    assert find(tree)[0] == (b"h", b"c")


def test_what_only_the_history_server_may_see_is_said():
    tree = Tree({f"{OLD}/{name}": b"x" for name in (HISTORY, CONF)}, denied="/mr/done")
    with pytest.raises(HistoryMissing, match="ann may not look into /mr/done") as raised:
        find(tree)
    assert raised.value.hint == "Have somebody make ann a member of that directory's group."


def test_not_a_job():
    with pytest.raises(ValueError, match="not a job id"):
        find_history(WebHdfs(("127.0.0.1:1",), "ann"), "application_1_0001", **PLACES)


@pytest.mark.parametrize(
    ("intermediate", "staging", "found"),
    [
        (None, None, "/tmp/hadoop-yarn/staging/history/done_intermediate"),
        (None, "hdfs://here:8020/user", "/user/history/done_intermediate"),
        ("/mr-history/tmp", "/user", "/mr-history/tmp"),
        ("${yarn.app.mapreduce.am.staging-dir}/gone", "/user", "/user/gone"),
    ],
)
def test_where_application_masters_leave_histories(intermediate: str | None, staging: str | None, found: str) -> None:
    assert intermediate_directory(intermediate, staging) == found
