"""How the web servers of a cluster are reached: plainly, or by TLS with a cookie that Hadoop takes for its own.

Hadoop's filter looks for a cookie that it has signed before it asks for Kerberos (`AuthenticationFilter.getToken`,
`Signer`). Who has the secret file of the cluster can sign one: no ticket and no library for Kerberos is needed.
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
"""More than the clocks of hosts differ."""
_KERBEROS, _DELEGATION = "kerberos", "kerberos-dt"


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Requests to the daemons of a cluster; to its ResourceManager, whose filter is of another kind; and to its history
    server."""

    http: Http = PLAIN
    resourcemanager: Http = PLAIN
    history: Http = PLAIN

    def of_role(self, name: str) -> Http:
        """For the daemon of that role."""
        return {"resourcemanager": self.resourcemanager, "historyserver": self.history}.get(name, self.http)


OPEN = WebAccess()
"""To a cluster that believes every name."""


def signed_access(secret: bytes, certificate: str, user: str, realm: str) -> WebAccess:
    """Access as `user`, to servers with a `certificate` (the text of a PEM file), by the secret of the cluster."""
    secured = _by_tls(ssl.create_default_context(cadata=certificate))

    def of_kind(kind: str) -> Http:
        return Http(connect=secured, scheme="https", cookie=lambda _: cookie(secret, user, realm, kind))

    return WebAccess(of_kind(_KERBEROS), of_kind(_DELEGATION), of_kind(_KERBEROS))


def known_access(cookies: Callable[[str], str | None], certificates: str, *schemes: str) -> WebAccess:
    """Access by the `cookies` for URLs that a login has brought. `schemes` are those of HDFS, YARN and the history
    server; `certificates` (the text of a PEM file) are trusted beside the machine's own."""
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
    """The header with which Hadoop knows `user` for some minutes. `kind` is that of the server's filter."""
    said = f"u={user}&p={user}@{realm}&t={kind}&e={int((now() + _GOOD_SECONDS) * 1000)}"
    signature = base64.b64encode(hmac.new(secret, said.encode(), hashlib.sha256).digest()).decode()
    return f'hadoop.auth="{said}&s={signature}"'
