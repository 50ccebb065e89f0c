"""Web pages of a cluster on loopback."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from howdah.cluster.live.pages import ServedPages, serve_pages
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.interfaces.access import WebAccess
from howdah.hadoop.interfaces.http import Http
from tests.plans import plan_of


class Daemon(BaseHTTPRequestHandler):
    """A daemon that wants a signature, and answers with what it was asked."""

    seen: list[tuple[str, str, str | None, bytes]]

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.seen.append((self.command, self.path, self.headers.get("Cookie"), body))
        content = f"<a href='http://{self.headers['Host']}/next'>next</a>".encode()
        moved = self.path == "/moved"
        self.send_response(307 if moved else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Set-Cookie", "hadoop.auth=a-signature-for-the-browser")
        if moved:
            self.send_header("Location", f"http://{self.headers['Host']}/there?x=1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_PUT = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None: ...


@contextmanager
def daemon() -> Iterator[tuple[int, list[Any]]]:
    seen: list[Any] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Daemon,), {"seen": seen})) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.server_port, seen
        server.shutdown()


def at(plan: Plan, port: int) -> Plan:
    """`plan` whose web servers are all one."""
    masters = replace(plan.masters, address="127.0.0.1", ports=dict.fromkeys(plan.masters.ports, port))
    nodes = tuple(replace(node, address="127.0.0.1", ports=dict.fromkeys(node.ports, port)) for node in plan.nodes)
    return replace(plan, masters=masters, nodes=nodes)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def asked(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text."""
    request = urllib.request.Request(url, headers=headers, method="GET")
    try:
        answer = urllib.request.build_opener(NoRedirects).open(request, timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, dict(answer.headers), answer.read().decode()


OURS = Http(cookie=lambda _: "ours")
SIGNED = WebAccess(OURS, Http(cookie=lambda _: "of-the-manager"), OURS)


def entered(page: ServedPages) -> tuple[str, str]:
    """The base and the cookie of who has opened a page with its token."""
    base, _, query = page.url.rpartition("/")
    status, headers, text = asked(f"{base}/cluster/apps{query}")
    assert status == 200
    assert 'content="0;url=/cluster/apps"' in text, "the token does not stay"
    assert "HttpOnly; SameSite=Strict" in headers["Set-Cookie"]
    return base, headers["Set-Cookie"].partition(";")[0]


@pytest.mark.promise("`howdah open` shows pages to who has its address alone", "how-to/secure")
def test_only_who_has_the_token_may_look() -> None:
    with daemon() as (port, seen), serve_pages(at(plan_of(1, name="c"), port), SIGNED) as pages:
        base, cookie = entered(pages[0])
        for url, headers in (
            (f"{base}/jmx", {}),
            (f"{base}/jmx?howdah=guessed", {}),
            (f"{base}/jmx", {"Cookie": f"{cookie.partition('=')[0]}=guessed"}),
        ):
            status, _, text = asked(url, **headers)
            assert status == 403
            assert "`howdah open`" in text
        assert seen == []
        assert asked(f"{base}/jmx", Cookie=cookie)[0] == 200


def test_two_opens_at_once_have_cookies_of_their_own() -> None:
    with daemon() as (port, _):
        plan = at(plan_of(1, name="c"), port)
        with serve_pages(plan, SIGNED) as first, serve_pages(plan, SIGNED) as second:
            (one, own), (other, others) = entered(first[0]), entered(second[0])
            # A browser sends both to both, because they are on one host.
            for base in (one, other):
                assert asked(f"{base}/jmx", Cookie=f"{own}; {others}")[0] == 200


def test_requests_are_signed_and_signatures_stay_here() -> None:
    with daemon() as (port, seen), serve_pages(at(plan_of(1, name="c"), port), SIGNED) as pages:
        for page in pages:
            base, cookie = entered(page)
            status, headers, _ = asked(f"{base}/jmx?q=1", Cookie=cookie)
            assert status == 200
            assert "Set-Cookie" not in headers
        expected = ["of-the-manager" if page.role == "resourcemanager" else "ours" for page in pages]
    assert [(path, sent) for _, path, sent, _ in seen] == [("/jmx?q=1", one) for one in expected]
    assert {page.role for page in pages} >= {"namenode", "resourcemanager", "datanode of node1"}


def test_links_and_redirects_lead_to_pages_here() -> None:
    with daemon() as (port, _), serve_pages(at(plan_of(1, name="c"), port), SIGNED) as pages:
        base, cookie = entered(pages[0])
        status, headers, text = asked(f"{base}/moved", Cookie=cookie)
        assert status == 307
        assert headers["Location"].endswith("/there?x=1")
        assert f":{port}/" not in headers["Location"]
        assert f":{port}/" not in text
        assert text.startswith("<a href='http://127.0.0.1:")


def test_a_daemon_that_is_gone_is_named() -> None:
    with serve_pages(at(plan_of(1, name="c"), 1), SIGNED) as pages:
        base, cookie = entered(pages[0])
        status, _, text = asked(f"{base}/jmx", Cookie=cookie)
        assert status == 502
        assert "no answer from http://127.0.0.1:1/jmx" in text


def test_the_first_page_leads_nowhere_else() -> None:
    with daemon() as (port, _), serve_pages(at(plan_of(1, name="c"), port), SIGNED) as pages:
        base, _, query = pages[0].url.rpartition("/")
        for path in ("//evil.example/", '/"><script>x</script>'):
            _, _, text = asked(f"{base}{urllib.parse.quote(path, safe='/:')}{query}")
            assert "url=//" not in text
            assert "<script>" not in text
