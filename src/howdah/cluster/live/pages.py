"""The web pages of a cluster on this machine's loopback address, through its owner's signed requests.

A token gives access: the request of the first page contains it, and the browser sends it as a cookie afterwards. Other
users of this machine reach the ports but have no token.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

from howdah.errors import HowdahError
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.interfaces.access import WebAccess
from howdah.hadoop.interfaces.http import Http, read_whole

_ASKED = re.compile(r"[?&]howdah=([\w-]+)")
_PASSED = ("content-type", "content-encoding", "cache-control", "last-modified", "etag", "content-disposition")
"""Headers of an answer that the browser sees. The daemon's headers that ask for a login are not among them."""
_BROUGHT = ("accept", "accept-language", "content-type", "if-modified-since", "if-none-match")


@dataclass(frozen=True, slots=True)
class ServedPages:
    """A page of `role` (with its node, for the daemons of nodes), at a URL of this machine."""

    role: str
    url: str


@contextmanager
def serve_pages(plan: Plan, access: WebAccess) -> Iterator[tuple[ServedPages, ...]]:
    """Serve the pages of every daemon while the context lasts; links between the pages work."""
    servers = {
        f"{role.name} of {place.name}" if role.per_node else role.name: place.at(role.web)
        for role, place in plan.daemons()
        if role.web is not None
    }
    token = secrets.token_urlsafe(24)
    local: dict[str, str] = {}
    served: list[ServedPages] = []
    with ExitStack() as stack:
        for name, address in servers.items():
            handler = _handler(address, access.of_role(name), token, lambda text: _translated(text, local))
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
            server.daemon_threads = True
            local[address] = f"127.0.0.1:{server.server_port}"
            served.append(ServedPages(name, f"http://{local[address]}/?{urlencode({'howdah': token})}"))
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
            stack.callback(server.shutdown)
        yield tuple(served)


def _translated(text: str, local: Mapping[str, str]) -> str:
    """Return `text` with the addresses of the daemons replaced by addresses of this machine."""
    for address, here in local.items():
        text = re.sub(rf"(https?:)?//{re.escape(address)}(?!\d)", f"http://{here}", text)
    return text


def _leading_to(path: str) -> bytes:
    """Return a page that leads the browser to `path` of this server at once."""
    place = html.escape(f"/{path.lstrip('/')}")
    return f'<!doctype html><meta http-equiv="refresh" content="0;url={place}"><a href="{place}">Open</a>'.encode()


def _handler(address: str, http: Http, token: str, translated: Callable[[str], str]) -> type[BaseHTTPRequestHandler]:
    # Browsers send the cookies of a host to all of its ports: another `howdah open` here has another name for its own.
    cookie_name = f"howdah-{hashlib.sha256(token.encode()).hexdigest()[:8]}"

    class Handler(BaseHTTPRequestHandler):
        """Handler that forwards requests to one daemon."""

        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            asked = _ASKED.search(self.path)
            brought = SimpleCookie(self.headers.get("Cookie", "")).get(cookie_name)
            if asked is not None and hmac.compare_digest(asked[1], token):
                # The token does not stay in the line of the browser, nor go on to the daemon.
                path = _ASKED.sub("", self.path, count=1)
                # Strict: no page of somebody else may let the browser bring it to another port of this host. A browser
                # that comes from such a page brings it after a page of ours, and not after a redirect.
                cookie = f"{cookie_name}={token}; Path=/; HttpOnly; SameSite=Strict"
                self._answer(200, {"Content-Type": "text/html", "Set-Cookie": cookie}, _leading_to(path))
            elif brought is None or not hmac.compare_digest(brought.value, token):
                self._answer(403, {"Content-Type": "text/plain"}, b"Open the page that `howdah open` has printed.\n")
            else:
                self._fetch()

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on  # noqa: N815, the names are Python's

        def _fetch(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
            headers = {name: self.headers[name] for name in _BROUGHT if name in self.headers}
            url = f"{http.scheme}://{address}{self.path}"
            try:
                connection, response = http.open(self.command, url, body, headers)
                try:
                    content = read_whole(response, url)
                finally:
                    connection.close()
            except HowdahError as error:
                self._answer(502, {"Content-Type": "text/plain"}, f"{error.message}\n".encode())
                return
            passed = {name: value for name, value in response.getheaders() if name.lower() in _PASSED}
            if (location := response.getheader("Location")) is not None:
                passed["Location"] = translated(location)
            if (response.getheader("Content-Type") or "").startswith("text/html"):
                content = translated(content.decode("utf-8", "replace")).encode()
            self._answer(response.status, passed, content)

        def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing: the terminal has the list of pages."""

    return Handler
