"""JSON from other people's meters, by HTTP, with a time limit."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib import error, request

PATIENCE = 4.0
"""Seconds to wait for one answer."""
_MOST = 16 << 20


class Unanswered(Exception):
    """There is no usable answer. The text says why, without the content that was sent."""


@cache
def _context(verify: bool) -> ssl.SSLContext:
    """Return the TLS context, which is made once: reading the authorities takes longer than an answer."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def ask(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    send: Mapping[str, Any] | None = None,
    verify: bool = True,
    method: str | None = None,
) -> tuple[Any, Mapping[str, str]]:
    """Return the JSON at `url`, and the headers of the answer. With `send`, return the answer to a POST. Raises
    Unanswered."""
    context = _context(verify) if url.startswith("https:") else None
    content = None if send is None else json.dumps(send).encode()
    asked = request.Request(url, content, {"Accept": "application/json", **(headers or {})}, method=method)  # noqa: S310
    if content is not None:
        asked.add_header("Content-Type", "application/json")
    place = url.partition("?")[0]
    try:
        with request.urlopen(asked, timeout=PATIENCE, context=context) as answer:  # noqa: S310
            text = answer.read(_MOST)
            return json.loads(text) if text.strip() else {}, {key.lower(): one for key, one in answer.headers.items()}
    except error.HTTPError as problem:
        problem.close()
        raise Unanswered(f"{place} answered {problem.code} {problem.reason}") from None
    except (OSError, ValueError) as problem:
        raise Unanswered(f"{place}: {getattr(problem, 'reason', problem)}") from None
