"""Cookies that Hadoop takes for its own."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import ssl
from http.client import HTTPConnection
from typing import Any

import pytest

from howdah.hadoop.interfaces.access import OPEN, cookie, signed_access
from howdah.hadoop.interfaces.http import Http, Unreachable

SECRET = b"0123456789abcdef"


def test_the_signature_is_hadoop_s() -> None:
    """HmacSHA256 of the text before `&s=`, in standard Base64 (`org.apache.hadoop.security.authentication.util`)."""
    found = cookie(SECRET, "ann", "REALM", "kerberos", now=lambda: 1000.0)
    match = re.fullmatch(r'hadoop\.auth="(u=ann&p=ann@REALM&t=kerberos&e=1600000)&s=(.*)"', found)
    assert match is not None
    digest = hmac.new(SECRET, match[1].encode(), hashlib.sha256).digest()
    assert base64.b64decode(match[2]) == digest


def test_every_request_is_signed_anew() -> None:
    sent: list[dict[str, str]] = []

    class Connection(HTTPConnection):
        def request(self, *_: Any, headers: Any = None, **__: Any) -> None:
            sent.append(dict(headers or {}))
            raise OSError("enough")

    times = iter(("one", "two"))
    http = Http(
        connect=lambda host, port, timeout: Connection(host, port, timeout=timeout), cookie=lambda _: next(times)
    )
    for _ in range(2):
        with pytest.raises(Unreachable):
            http.get("https://127.0.0.1/jmx")
    assert [one["Cookie"] for one in sent] == ["one", "two"]


def test_an_open_cluster_needs_nothing_of_it() -> None:
    assert OPEN.http.scheme == OPEN.resourcemanager.scheme == "http"
    assert OPEN.of_role("resourcemanager") is OPEN.resourcemanager
    assert OPEN.http.cookie is None


def test_a_damaged_certificate_is_an_error() -> None:
    with pytest.raises(ssl.SSLError):
        signed_access(SECRET, "nonsense", "ann", "REALM")
