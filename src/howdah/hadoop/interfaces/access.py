"""Access to the web servers of a cluster: plain, or by TLS with a cookie that Hadoop takes for its own.

Hadoop's filter looks for a cookie with its own signature before it asks for Kerberos (`AuthenticationFilter.getToken`,
`Signer`). Whoever has the secret file of the cluster can sign a cookie; no ticket and no library for Kerberos is
needed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPSConnection

from howdah.hadoop.interfaces.http import PLAIN, Connect, Http, connect

_GOOD_SECONDS = 600.0
"""Seconds for which a cookie is good: more than the clocks of hosts differ."""
_KERBEROS, _DELEGATION = "kerberos", "kerberos-dt"


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Requests to the daemons of a cluster, to its ResourceManager, whose filter is of another kind, and to its history
    server."""

    http: Http = PLAIN
    resourcemanager: Http = PLAIN
    history: Http = PLAIN

    def of_role(self, name: str) -> Http:
        """Return the access to the daemon of this role."""
        return {"resourcemanager": self.resourcemanager, "historyserver": self.history}.get(name, self.http)


OPEN = WebAccess()
"""Access to a cluster that believes every user name."""


def signed_access(secret: bytes, certificate: str, user: str, realm: str) -> WebAccess:
    """Return the access as `user`, by the secret of the cluster, to servers with a `certificate` (the text of a PEM
    file)."""
    secured = _by_tls(ssl.create_default_context(cadata=certificate))

    def of_kind(kind: str) -> Http:
        return Http(connect=secured, scheme="https", cookie=lambda _: cookie(secret, user, realm, kind))

    return WebAccess(of_kind(_KERBEROS), of_kind(_DELEGATION), of_kind(_KERBEROS))


def known_access(cookies: Callable[[str], str | None], certificates: str, *schemes: str) -> WebAccess:
    """Return the access by the `cookies` for URLs that a login returned. `schemes` are for HDFS, YARN and the history
    server. `certificates` (the text of a PEM file) are trusted in addition to those of the machine."""
    context = ssl.create_default_context()
    if certificates:
        context.load_verify_locations(cadata=certificates)
    secured = _by_tls(context)

    def of_scheme(scheme: str) -> Http:
        return Http(connect=secured if scheme == "https" else connect, scheme=scheme, cookie=cookies)

    return WebAccess(*map(of_scheme, schemes))


def _by_tls(context: ssl.SSLContext) -> Connect:
    return lambda host, port, timeout: HTTPSConnection(host, port, timeout=timeout, context=context)


def cookie(secret: bytes, user: str, realm: str, kind: str, now: Callable[[], float] = time.time) -> str:
    """Return the header by which Hadoop knows `user` for some minutes. `kind` is the kind of the server's filter."""
    said = f"u={user}&p={user}@{realm}&t={kind}&e={int((now() + _GOOD_SECONDS) * 1000)}"
    signature = base64.b64encode(hmac.new(secret, said.encode(), hashlib.sha256).digest()).decode()
    return f'hadoop.auth="{said}&s={signature}"'
