"""WebHDFS: two daemons play along, and a part of a file is never the file."""

import pytest

from howdah.hadoop.interfaces.http import Garbled, Http, Rejected, Unreachable
from howdah.hadoop.interfaces.webhdfs import (
    AccessDenied,
    AlreadyExists,
    Checksum,
    ContentSummary,
    InSafeMode,
    NotFound,
    WebHdfs,
)
from tests.unit.hadoop.interfaces.fake_server import free_port, json_response, remote, response, serving

STATUS = {
    "accessTime": 0, "blockSize": 1048576, "childrenNum": 0, "fileId": 16502, "group": "supergroup", "length": 4,
    "modificationTime": 1795174613039, "owner": "root", "pathSuffix": "", "permission": "644", "replication": 1,
    "storagePolicy": 0, "type": "FILE",
}  # fmt: skip
PATH = "/ü b/x+y%20z?.bin"


def reading(answer):
    """A file as it comes from a DataNode that gives `answer`."""

    def name_node(request):
        return response(b"", 307, Location=f"http://{datanode.address}/webhdfs/v1/x?op=OPEN&offset=0")

    with serving(answer) as datanode, serving(name_node) as namenode:
        return WebHdfs((namenode.address,), "root").read(PATH)


def test_read():
    content = bytes(range(256)) * 5000
    assert reading(response(content)) == content
    assert reading(response(b"")) == b""
    assert reading(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n") == b"abc"


@pytest.mark.parametrize("missing", [1, 7, 1_048_576, 1_279_999, 1_280_000])
def test_a_part_is_never_the_file(missing):
    content = bytes(1_280_000)
    with pytest.raises(Unreachable, match=f"ended after {1_280_000 - missing} of 1280000 bytes"):
        reading(response(content[:-missing], length=1_280_000))


def test_chunks_without_an_end():
    with pytest.raises(Unreachable):
        reading(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")


def test_an_end_that_is_not_marked():
    with pytest.raises(Garbled, match="a part would look like the whole"):
        reading(b"HTTP/1.1 200 OK\r\n\r\nab")


def test_a_reader_that_stops_early_closes_the_connection():
    with serving(response(bytes(3_000_000))) as server:
        pieces = WebHdfs((server.address,), "root").stream("/x")
        assert len(next(pieces)) == 1 << 20
        pieces.close()  # type: ignore[attr-defined]


def test_write_sends_the_bytes_to_the_datanode_only():
    def name_node(request):
        return response(b"", 307, Location=f"http://{datanode.address}/webhdfs/v1/x?op=CREATE&token=1")

    with serving(response(b"", 201)) as datanode, serving(name_node) as namenode:
        WebHdfs((namenode.address,), "ann").write(PATH, b"abc", overwrite=True)
    (asked,), (sent,) = namenode.requests, datanode.requests
    assert (asked.method, asked.path, asked.body) == ("PUT", f"/webhdfs/v1{PATH}", b"")
    assert asked.query == {"op": "CREATE", "user.name": "ann", "overwrite": "true", "createparent": "true"}
    assert (sent.method, sent.body, sent.query["token"]) == ("PUT", b"abc", "1")


def test_write_that_was_not_confirmed():
    with serving(response(b"", 200)) as server, pytest.raises(Garbled, match="200 where 201"):
        WebHdfs((server.address,), "root").write("/x", b"abc")


@pytest.mark.parametrize(
    ("exception", "status", "kind"),
    [
        ("FileNotFoundException", 404, NotFound),
        ("FileAlreadyExistsException", 403, AlreadyExists),
        ("AccessControlException", 403, AccessDenied),
        ("SafeModeException", 403, InSafeMode),
        ("PathIsNotEmptyDirectoryException", 403, Rejected),
    ],
)
def test_errors_have_types(exception, status, kind):
    with serving(remote(exception, "why", status)) as server, pytest.raises(Rejected, match="why") as raised:
        WebHdfs((server.address,), "root").delete("/x")
    assert raised.value.exception == exception
    assert type(raised.value) is kind


@pytest.mark.promise("High availability of both masters is understood", "how-to/existing-cluster")
def test_the_active_one_of_several():
    def standby(request):
        return remote("StandbyException", "Operation category READ is not supported in state standby", 403)

    with serving(standby) as passive, serving(json_response({"FileStatus": STATUS})) as active:
        dead = f"127.0.0.1:{free_port()}"
        assert WebHdfs((dead, passive.address, active.address), "root").status("/x").length == 4
        with pytest.raises(Unreachable, match=r"Connection refused; .*: standby"):
            WebHdfs((dead, passive.address), "root").status("/x")


def test_a_datanode_that_does_not_answer_is_named():
    dead = f"http://127.0.0.1:{free_port()}/webhdfs/v1/x?op=OPEN"
    with serving(response(b"", 307, Location=dead)) as server, pytest.raises(Unreachable) as raised:
        WebHdfs((server.address,), "root", Http(timeout=1)).read("/x")
    assert raised.value.url == dead


def test_status_and_list():
    rows = [{**STATUS, "pathSuffix": "b"}, {**STATUS, "pathSuffix": "a", "type": "DIRECTORY"}]

    def answer(request):
        if request.query["op"] == "GETFILESTATUS":
            return json_response({"FileStatus": STATUS})
        return json_response({"FileStatuses": {"FileStatus": [STATUS] if request.path.endswith("file") else rows}})

    with serving(answer) as server:
        files = WebHdfs((server.address,), "root")
        status = files.status("/x")
        assert files.exists("/x")
        assert [(one.path, one.name, one.is_directory) for one in files.list("/")] == [
            ("/a", "a", True),
            ("/b", "b", False),
        ]
        assert [one.path for one in files.list("/d/file")] == ["/d/file"]
    assert (status.path, status.length, status.block_size, status.modified) == ("/x", 4, 1048576, 1795174613.039)
    with serving(remote("FileNotFoundException", "no", 404)) as server:
        assert not WebHdfs((server.address,), "root").exists("/x")


def test_what_hdfs_answers_by_true_or_false():
    with serving(lambda request: json_response({"boolean": request.path.endswith("/yes")})) as server:
        files = WebHdfs((server.address,), "root")
        assert (files.delete("/yes", recursive=True), files.delete("/no")) == (True, False)
        files.rename("/yes", "/other")
        files.mkdirs("/yes")
        files.set_replication("/yes", 2)
        for refused in (
            lambda: files.rename("/no", "/x"),
            lambda: files.mkdirs("/no"),
            lambda: files.set_replication("/no", 2),
        ):
            with pytest.raises(Rejected, match="cannot"):
                refused()
    assert [request.method for request in server.requests[:3]] == ["DELETE", "DELETE", "PUT"]
    assert server.requests[0].query["recursive"] == "true"
    assert server.requests[2].query["destination"] == "/other"


def test_summary_and_checksum():
    answers = {
        "GETCONTENTSUMMARY": {
            "ContentSummary": {"directoryCount": 6, "fileCount": 15, "length": 11, "spaceConsumed": 33}
        },
        "GETFILECHECKSUM": {"FileChecksum": {"algorithm": "MD5-of-0MD5-of-512CRC32C", "bytes": "00ff", "length": 28}},
    }
    with serving(lambda request: json_response(answers[request.query["op"]])) as server:
        files = WebHdfs((server.address,), "root")
        assert files.content_summary("/") == ContentSummary(length=11, files=15, directories=6, space=33)
        assert files.checksum("/x") == Checksum("MD5-of-0MD5-of-512CRC32C", "00ff")


def test_paths_are_absolute():
    with pytest.raises(ValueError, match="not an absolute path"):
        WebHdfs(("127.0.0.1:1",), "root").status("x")
