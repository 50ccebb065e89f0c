"""HTTP to Hadoop's daemons: whole answers or an error, never a part. No proxies, no hidden redirects, and no cookies
except those of `Http.cookie`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import Any
from urllib.parse import urlencode, urlsplit

from howdah.errors import ClusterProblem
from howdah.model.redaction import REDACTED

Connect = Callable[[str, int, float], HTTPConnection]
"""Function of host, port and timeout in seconds. Returns a connection that is not open yet."""


_TOKENS = re.compile(r"\b(delegation|token)=[^&\s'\"]+")


def without_tokens(text: str) -> str:
    """Return `text` without the delegation tokens of its URLs: a NameNode's redirect brings one, and whoever has it is
    its owner for a day."""
    return _TOKENS.sub(rf"\1={REDACTED}", text)


class Unreachable(ClusterProblem):
    """No whole answer came: refused, timed out, unknown host, or cut off in the middle. `url` and `cause` have the
    details."""

    def __init__(self, url: str, cause: str) -> None:
        url = without_tokens(url)
        super().__init__(f"no answer from {url}: {cause}", hint="Is the daemon running? Its log says why if it is not.")
        self.url = url
        self.cause = cause


class Rejected(ClusterProblem):
    """The daemon answered with an error. `exception` is the simple name of Hadoop's exception, if the daemon gave
    one."""

    def __init__(self, url: str, status: int, exception: str | None, text: str) -> None:
        url = without_tokens(url)
        what = text if exception is None else f"{exception}: {text}"
        super().__init__(f"{url} answered {status}: {what}")
        self.url = url
        self.status = status
        self.exception = exception
        self.text = text


class Garbled(ClusterProblem):
    """The daemon gave an answer that this program does not understand: it is not JSON, or a field is missing."""

    def __init__(self, url: str, problem: str) -> None:
        url = without_tokens(url)
        super().__init__(f"{url} gave an answer that cannot be read: {without_tokens(problem)}")
        self.url = url


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `location` is the target of a redirect."""

    url: str
    status: int
    location: str | None
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON. Raises Garbled."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Garbled(self.url, f"not JSON ({error})") from error


def connect(host: str, port: int, timeout: float) -> HTTPConnection:
    """Return a plain connection; `timeout` is in seconds, for connecting and for each read."""
    return HTTPConnection(host, port, timeout=timeout)


@dataclass(frozen=True, slots=True)
class Http:
    """A client that sends one request per connection. `timeout` is in seconds. `scheme` is for the URLs that clients
    make. `cookie` returns the cookie for a request to a URL, if there is one."""

    timeout: float = 10.0
    connect: Connect = connect
    scheme: str = "http"
    cookie: Callable[[str], str | None] | None = None

    def get(self, url: str, query: Mapping[str, str] | None = None) -> Answer:
        """Send GET, with JSON preferred; return the answer. Raises Unreachable, and Rejected for status 400 and
        above."""
        return self.send("GET", url, query)

    def get_json(self, url: str, query: Mapping[str, str] | None = None) -> Any:
        """Return the JSON that GET gives. Raises Unreachable, Rejected, and Garbled for redirects and content other
        than JSON."""
        answer = self.get(url, query)
        if answer.status != 200:
            raise Garbled(answer.url, f"status {answer.status}, redirect to {answer.location}")
        return answer.json()

    def send(self, method: str, url: str, query: Mapping[str, str] | None = None, body: bytes | None = None) -> Answer:
        """Send `body` (JSON unless the daemon does not look) and return the whole answer. Raises the errors of `get`.

        A redirect is returned like any other answer; its target may be another daemon.
        """
        url = f"{url}?{urlencode(query)}" if query else url
        headers = {"Accept": "application/json"} | ({} if body is None else {"Content-Type": "application/json"})
        connection, response = self.open(method, url, body, headers)
        try:
            content = read_whole(response, url)
        finally:
            connection.close()
        if response.status >= 400:
            raise rejection(url, response.status, content)
        return Answer(url, response.status, response.getheader("Location"), content)

    def open(self, method: str, url: str, body: Any, headers: Mapping[str, str]) -> tuple[HTTPConnection, HTTPResponse]:
        """Send the request and read the head of the answer. The caller reads the body and closes the connection.

        A daemon that refuses a body may answer and hang up before it has the whole body; then the answer counts.

        Raises:
            Unreachable: no head of an answer came.
        """
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        cookie = None if self.cookie is None else self.cookie(url)
        own = {} if cookie is None else {"Cookie": cookie}
        usual = 443 if parts.scheme == "https" else 80
        connection = self.connect(parts.hostname or "", parts.port or usual, self.timeout)
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, target, body=body, headers={**headers, **own})
            return connection, connection.getresponse()
        except (OSError, HTTPException) as error:
            connection.close()
            raise Unreachable(url, cause_of(error)) from error


PLAIN = Http()
"""Default of every client: ten seconds for each step."""


def read_whole(response: HTTPResponse, url: str) -> bytes:
    """Return the body. Raises Unreachable if the body ends before the announced length or the last chunk."""
    try:
        return response.read()
    except IncompleteRead as error:
        missing = "" if error.expected is None else f", {error.expected} more were announced"
        raise Unreachable(url, f"the answer ended after {len(error.partial)} bytes{missing}") from error
    except (OSError, HTTPException) as error:
        raise Unreachable(url, cause_of(error)) from error


def rejection(url: str, status: int, content: bytes) -> Rejected:
    """Return the error in an answer: Hadoop's RemoteException if there is one, else the first line of the text."""
    text = content.decode("utf-8", "replace").strip()
    try:
        remote = json.loads(text)["RemoteException"]
        name, message = str(remote["exception"]), str(remote.get("message", ""))
    except (ValueError, KeyError, TypeError):
        return Rejected(url, status, None, text.partition("\n")[0][:500] or "no text")
    return Rejected(url, status, name, message.partition("\n\tat ")[0])


def cause_of(error: Exception) -> str:
    """Return a network error in a few words."""
    if isinstance(error, TimeoutError):
        return "timed out"
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__


def field(record: Any, name: str, kind: type, url: str) -> Any:
    """Return `record[name]`, checked to be a `kind` (an int is a float, too). Raises Garbled."""
    value = record.get(name) if isinstance(record, Mapping) else None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Garbled(url, f"{name} is {value!r}, not {kind.__name__}")
    return value


def seconds_of(record: Any, name: str, url: str) -> float | None:
    """Return a time in seconds from Hadoop's milliseconds since 1970; None for 0, which means “not yet”."""
    milliseconds: int = field(record, name, int, url)
    return milliseconds / 1000 if milliseconds > 0 else None
