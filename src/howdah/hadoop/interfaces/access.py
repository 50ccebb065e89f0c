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
from functools import partial
from http.client import HTTPConnection, HTTPSConnection

from howdah.hadoop.interfaces.http import PLAIN, Http

_GOOD_SECONDS = 600.0
"""More than the clocks of hosts differ."""
_KERBEROS, _DELEGATION = "kerberos", "kerberos-dt"


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Requests to the daemons of a cluster, and to its ResourceManager, whose filter is of another kind."""

    http: Http = PLAIN
    resourcemanager: Http = PLAIN

    def of_role(self, name: str) -> Http:
        """For the daemon of that role."""
        return self.resourcemanager if name == "resourcemanager" else self.http


OPEN = WebAccess()
"""To a cluster that believes every name."""


def signed_access(secret: bytes, certificate: str, user: str, realm: str) -> WebAccess:
    """Access as `user`, to servers with a `certificate` (the text of a PEM file), by the secret of the cluster."""
    context = ssl.create_default_context(cadata=certificate)

    def connect(host: str, port: int, timeout: float) -> HTTPConnection:
        return HTTPSConnection(host, port, timeout=timeout, context=context)

    def of_kind(kind: str) -> Http:
        signing: Callable[[], str] = partial(cookie, secret, user, realm, kind)
        return Http(connect=connect, scheme="https", cookie=signing)

    return WebAccess(of_kind(_KERBEROS), of_kind(_DELEGATION))


def cookie(secret: bytes, user: str, realm: str, kind: str, now: Callable[[], float] = time.time) -> str:
    """The header with which Hadoop knows `user` for some minutes. `kind` is that of the server's filter."""
    said = f"u={user}&p={user}@{realm}&t={kind}&e={int((now() + _GOOD_SECONDS) * 1000)}"
    signature = base64.b64encode(hmac.new(secret, said.encode(), hashlib.sha256).digest()).decode()
    return f'hadoop.auth="{said}&s={signature}"'
