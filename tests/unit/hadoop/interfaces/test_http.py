"""What can go wrong between a client and a daemon, and what the error says."""

import socket
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest

from howdah.hadoop.interfaces.http import Garbled, Http, Rejected, Unreachable
from tests.unit.hadoop.interfaces.fake_server import free_port, json_response, remote, response, serving


def test_asks_for_json():
    with serving(json_response({"a": 1})) as server:
        assert Http().get_json(f"http://{server.address}/conf", {"q": "ä b"}) == {"a": 1}
    (request,) = server.requests
    assert (request.headers["accept"], request.query) == ("application/json", {"q": "ä b"})


def test_nobody_listens():
    url = f"http://127.0.0.1:{free_port()}/x"
    with pytest.raises(Unreachable, match="Connection refused") as raised:
        Http().get(url)
    assert raised.value.url == url


def test_no_answer_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(Unreachable, match="timed out"):
            Http(timeout=0.1).get(url)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (response(b'{"a": 1}', length=9), "ended after 8 bytes, 1 more were announced"),
        (response(b"", length=1), "ended after 0 bytes"),
        (b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"a"', "ended after"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "ended after"),
        (b"", "closed"),
        (b"SSH-2.0-OpenSSH\r\n", "SSH"),
    ],
)
def test_a_part_is_no_answer(answer, says):
    with serving(answer) as server, pytest.raises(Unreachable, match=says):
        Http().get(f"http://{server.address}/")


def test_hadoops_exception_without_its_stack_trace():
    message = "no such app\n\tat org.apache.Foo(Foo.java:1)\n\tat org.apache.Bar(Bar.java:2)"
    with serving(remote("NotFoundException", message, 404)) as server, pytest.raises(Rejected) as raised:
        Http().get(f"http://{server.address}/")
    assert raised.value.message.endswith("answered 404: NotFoundException: no such app")
    assert (raised.value.status, raised.value.exception) == (404, "NotFoundException")


def test_a_daemon_that_refuses_before_it_has_read_everything():
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as other:

        def refuse() -> None:
            with listening.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(remote("FileAlreadyExistsException", "there is one", 403))

        other.submit(refuse)
        with pytest.raises(Rejected, match="there is one"):
            Http().send("PUT", f"http://127.0.0.1:{listening.getsockname()[1]}/x", body=bytes(20_000_000))


@pytest.mark.parametrize(
    ("body", "text"), [(b"Unauthorized attempt\nmore", "Unauthorized attempt"), (b"", "no text"), (b"[]", r"\[\]")]
)
def test_an_error_of_another_shape(body, text):
    with serving(response(body, 403)) as server, pytest.raises(Rejected, match=f"403: {text}$"):
        Http().get(f"http://{server.address}/")


def test_not_json():
    with serving(response(b"<html>")) as server, pytest.raises(Garbled, match="not JSON"):
        Http().get_json(f"http://{server.address}/")


def test_a_redirect_is_not_json_and_is_not_followed():
    with serving(response(b"", 302, Location="http://127.0.0.1:1/")) as server:
        with pytest.raises(Garbled, match=r"redirect to http://127.0.0.1:1/"):
            Http().get_json(f"http://{server.address}/")
        assert Http().get(f"http://{server.address}/").location == "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("url", "port"), [("http://a/x", 80), ("https://a/x", 443), ("http://a:9870/x", 9870), ("https://a:9871/", 9871)]
)
def test_an_address_without_a_port_has_that_of_its_scheme(url: str, port: int) -> None:
    asked = []

    def connect(host: str, number: int, timeout: float) -> HTTPConnection:
        asked.append((host, number))
        return HTTPConnection("127.0.0.1", 1, timeout=timeout)

    with pytest.raises(Unreachable):
        Http(connect=connect).get(url)
    assert asked == [("a", port)]


@pytest.mark.promise("Delegation tokens are in no message", "how-to/secure")
def test_tokens_of_redirects_are_in_no_message():
    url = "https://dn:9865/webhdfs/v1/a?op=OPEN&delegation=SwADYW5u&offset=0"
    for error in (
        Unreachable(url, "refused"),
        Rejected(url, 500, None, "no"),
        Garbled("https://nn:9871/", f"redirect to '{url}'"),
    ):
        assert "SwADYW5u" not in str(error) + error.message + error.url
        assert "delegation=<redacted>" in error.message
        assert "offset=0" in error.message
