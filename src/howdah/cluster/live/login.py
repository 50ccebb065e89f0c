"""Login to a cluster that others have secured, as the user who has a ticket or a keytab here."""

from __future__ import annotations

import base64
import itertools
import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from howdah.cluster.live.existing import WebAddresses
from howdah.errors import ClusterProblem, HostProblem
from howdah.hadoop.configuration.security import Credentials
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import SECURITY_JAR, own_jar
from howdah.hadoop.distribution.jdk import Jdk, check_kerberos, jvm_flags
from howdah.host import Host

_LOGIN_SECONDS = 90.0
_TIMEOUTS = {"Connect": 5, "Read": 20}
"""Seconds: of a host that is off, nobody says that it is."""
_LONG_SECONDS = 3600.0
"""A ticket with fewer seconds left may end within a run."""
_EARLY_SECONDS = 120.0
"""A cookie with fewer seconds left is replaced."""
_AWAY_SECONDS = 30.0
"""Seconds after which a server that did not answer is asked again."""
_ENDS = re.compile(r"[&?]?\be=(\d+)")
_FILES = "/webhdfs/v1"
"""Path of files on the NameNode, for which it has a separate filter."""


@dataclass(frozen=True, slots=True)
class Login:
    """Facts from a login: the user's short name, the end of the ticket (seconds since 1970; None if unknown), and
    cookies by URL. Also the certificates that clients trust (a PEM file), the servers that `failed` to let the user in,
    and those that did not answer (`away`): each with the reason, by URL. `open` are the URLs that ask nobody."""

    user: str
    until: float | None
    cookies: Mapping[str, str]
    certificates: str
    failed: Mapping[str, str] = field(default_factory=dict)
    away: Mapping[str, str] = field(default_factory=dict)
    open: tuple[str, ...] = ()


def read_login(said: str) -> Login:
    """Parse the output of `org.howdah.security.WebLogin`. Raises ClusterProblem if it cannot be understood."""
    user, until, cookies, trusted = "", None, dict[str, str](), list[str]()
    failed, away, asks_nobody = dict[str, str](), dict[str, str](), list[str]()
    for line in said.splitlines():
        word, _, rest = line.partition(" ")
        first, _, second = rest.partition(" ")
        if word == "user":
            user = rest
        elif word == "until":
            until = float(rest)
        elif word == "cookie":
            cookies[first] = second
        elif word == "failed":
            failed[first] = second
        elif word == "away":
            away[first] = second
        elif word == "open":
            asks_nobody.append(first)
        elif word == "trusted":
            trusted.append(rest)
    if not user:
        raise ClusterProblem(f"logging in said nothing of the user: {said[:200]!r}")
    certificates = "".join(ssl.DER_cert_to_PEM_cert(base64.b64decode(one)) for one in trusted)
    return Login(user, until, cookies, certificates, failed, away, tuple(asks_nobody))


def login_urls(addresses: WebAddresses) -> Sequence[str]:
    """Return one URL of each filter of each server."""
    known = dict.fromkeys((*addresses.namenode, *itertools.chain.from_iterable(addresses.services.values())))
    namenodes = [(url, f"{url}{_FILES}/?op=GETFILESTATUS") for url in map(_url(addresses.hdfs), known)]
    return (
        *(f"{base}/jmx?qry=none" for base, _ in namenodes),
        *(files for _, files in namenodes),
        *(f"{_url(addresses.yarn)(address)}/ws/v1/cluster/info" for address in addresses.resourcemanager),
        *(f"{_url(addresses.jobhistory)(address)}/ws/v1/history/info" for address in addresses.history),
    )


def _url(scheme: str) -> Callable[[str], str]:
    return lambda address: f"{scheme}://{address}"


def log_in(
    host: Host, jdk: Jdk, distribution: Distribution, conf: Path, urls: Sequence[str], credentials: Credentials
) -> Login:
    """Log in at `urls` from `host`, whose clients have the configuration `conf`.

    Raises:
        HostProblem: there is no valid ticket or keytab, no realm, or no Java that knows Kerberos.
    """
    check_kerberos(jdk, host.name, "JAVA_HOME names another one.")
    command = [
        *(f"{jdk.home}/bin/java", *jvm_flags(jdk, distribution.version), "-Xmx128m", "-XX:TieredStopAtLevel=1"),
        *(f"-Dsun.net.client.default{what}Timeout={seconds}000" for what, seconds in _TIMEOUTS.items()),
        *credentials.flags,
        *("-cp", distribution.classpath(conf, own_jar(SECURITY_JAR)), "org.howdah.security.WebLogin"),
    ]
    done = host.run([*command, *urls], timeout=_LOGIN_SECONDS, env=credentials.environment)
    if done.code != 0:
        raise _refusal(conf, credentials, _reason(done.stderr.decode(errors="replace")))
    found = read_login(done.stdout.decode(errors="replace"))
    if found.until is None and credentials.keytab is None:
        # Hadoop goes on as the user of the operating system then, whom no server knows.
        raise _refusal(conf, credentials, "you have no ticket that is valid now")
    return found


def _refusal(conf: Path, credentials: Credentials, reason: str) -> HostProblem:
    hint = "`kinit` gets a ticket; or name a keytab and its principal: --keytab FILE --principal NAME@REALM. "
    hint += "KRB5_CONFIG names another krb5.conf."
    if not credentials.keytab and (cache := _unread_cache(credentials)):
        hint = f"Your tickets are in {cache}, which Java does not read: KRB5CCNAME=FILE:$HOME/.tickets kinit. {hint}"
    return HostProblem(f"nobody can log in to the cluster of {conf}: {reason}", hint=hint)


def _unread_cache(credentials: Credentials) -> str | None:
    """Return the place of the user's tickets, if it is not a file; None if it is, or unknown."""
    cache = credentials.cache
    if cache is None:
        with suppress(OSError):
            text = Path(credentials.krb5_conf or "/etc/krb5.conf").read_text(encoding="utf-8", errors="replace")
            found = re.search(r"^\s*default_ccache_name\s*=\s*(\S+)", text, re.MULTILINE)
            cache = None if found is None else found[1]
    kind = (cache or "").partition(":")[0]
    return cache if kind in ("KEYRING", "KCM", "DIR", "API") else None


def _reason(said: str) -> str:
    causes = [line for line in said.splitlines() if line.startswith(("Caused by:", "Exception in"))]
    return (causes or said.strip().splitlines() or ["no reason given"])[-1].partition(": ")[2] or "no reason given"


def ending_ticket(login: Login, credentials: Credentials, now: float) -> str | None:
    """Return a warning if a ticket ends soon and nothing gets a new one."""
    if login.until is None or credentials.keytab is not None or login.until > now + _LONG_SECONDS:
        return None
    minutes = max(0, round((login.until - now) / 60))
    words = "1 minute" if minutes == 1 else f"{minutes} minutes"
    return f"your ticket ends in {words}, and jobs that are then submitted fail: `kinit` gets another one"


class Cookies:
    """The cookies of a login, which is repeated when a cookie is about to end."""

    def __init__(self, first: Login, again: Callable[[], Login], now: Callable[[], float] = time.time) -> None:
        self._login = first
        self._again = again
        self._now = now
        self._asked = now()
        self._changing = threading.Lock()

    def check(self) -> None:
        """Log in again if the ticket of the last login has ended. Raises HostProblem if there is no new one."""
        with self._changing:
            ended = self._login.until
            if ended is None or self._now() < ended:
                return
            try:
                self._renew()
            except HostProblem as problem:
                moment = time.strftime("%H:%M:%S", time.localtime(ended))
                raise HostProblem(f"your ticket ended at {moment}; {problem.message}", hint=problem.hint) from problem

    def of(self, url: str) -> str | None:
        """Return the header for a request to `url`; None if its server does not ask for a login. Raises HostProblem if
        the login is no longer possible."""
        with self._changing:
            found = self._find(url)
            ends = _ENDS.search(found or "")
            ends_soon = ends is not None and int(ends[1]) / 1000 < self._now() + _EARLY_SECONDS
            if ends_soon:
                self._renew()
                found = self._find(url)
            elif found is None and self._was_away(url):
                self._asked = self._now()
                with suppress(HostProblem):  # Its own answer, or none, says more.
                    self._renew()
                    found = self._find(url)
        return None if found is None else f"hadoop.auth={found}"

    def _renew(self) -> None:
        """Log in again. Servers that do not answer now keep their cookies."""
        before, fresh = self._login, self._again()
        lost = {*fresh.failed, *fresh.away}
        kept = {url: cookie for url, cookie in before.cookies.items() if url in lost}
        self._login = replace(fresh, cookies={**kept, **fresh.cookies})
        self._asked = self._now()

    def _was_away(self, url: str) -> bool:
        """Return whether the server did not answer at the last login, a while ago."""
        known = {urlsplit(one).netloc for one in self._login.away}
        return urlsplit(url).netloc in known and self._now() > self._asked + _AWAY_SECONDS

    def _find(self, url: str) -> str | None:
        asked = urlsplit(url)
        for known, cookie in self._login.cookies.items():
            parts = urlsplit(known)
            files = parts.path.startswith(_FILES)
            if parts.netloc == asked.netloc and files == asked.path.startswith(_FILES):
                return cookie
        return None
