"""Logging in to clusters that others have secured."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from howdah.cluster.live.existing import WebAddresses
from howdah.cluster.live.login import Cookies, Login, _refusal, ending_ticket, log_in, login_urls, read_login
from howdah.errors import ClusterProblem, HostProblem
from howdah.hadoop.configuration.security import Credentials
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import SECURITY_JAR, place_of
from howdah.hadoop.distribution.jdk import Jdk
from howdah.host import Host
from howdah.host.protocol import Completed

NAMENODE, FILES = "https://nn:9871/jmx?qry=none", "https://nn:9871/webhdfs/v1/?op=GETFILESTATUS"
MANAGER = "http://rm:8088/ws/v1/cluster/info"
ADDRESSES = WebAddresses(("nn:9871",), ("rm:8088",), ("jhs:19888",), hdfs="https")


@dataclass
class Answering:
    """A host on which every command ends alike."""

    end: Completed
    name: str = "here"

    def run(self, argv: Sequence[str], *, timeout: float, env: Mapping[str, str]) -> Completed:
        assert "-Djava.security.krb5.conf=/krb5.conf" in argv
        assert env == {
            "KRB5PRINCIPAL": "ann@R",
            "KRB5KEYTAB": "/ann.keytab",
            "SPARK_SUBMIT_OPTS": "-Djava.security.krb5.conf=/krb5.conf",
        }
        return self.end


def cookie(ends: float, name: str = "ann") -> str:
    return f"u={name}&p={name}@R&t=kerberos&e={int(ends * 1000)}&s=signature"


def login(ends: float, name: str = "ann") -> Login:
    return Login(name, None, {NAMENODE: cookie(ends, name), FILES: cookie(ends, f"{name}-of-files")}, "")


def test_every_filter_of_every_server_is_asked() -> None:
    assert login_urls(ADDRESSES) == (NAMENODE, FILES, MANAGER, "http://jhs:19888/ws/v1/history/info")


def test_what_the_login_says_is_read() -> None:
    certificate = "MIIB"
    lines = ("user ann", "until 1700", f"trusted {certificate}", f"cookie {NAMENODE} {cookie(5)}")
    said = "\n".join((*lines, f"open {MANAGER}", f"failed {FILES} no key"))
    found = read_login(said)
    assert (found.user, found.until) == ("ann", 1700.0)
    assert found.cookies == {NAMENODE: cookie(5)}
    assert found.failed == {FILES: "no key"}
    assert found.open == (MANAGER,)
    assert found.certificates == "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    with pytest.raises(ssl.SSLError):
        ssl.create_default_context(cadata=found.certificates)


@pytest.mark.parametrize("said", ["", "log4j:WARN\n", "until 5\n"])
def test_a_login_that_says_nothing_of_the_user_is_an_error(said: str) -> None:
    with pytest.raises(ClusterProblem, match="said nothing of the user"):
        read_login(said)


def test_each_filter_is_sent_its_cookie_and_no_other() -> None:
    cookies = Cookies(login(1e9), lambda: pytest.fail("not needed"), now=lambda: 0.0)
    assert cookies.of("https://nn:9871/jmx?x") == f"hadoop.auth={cookie(1e9)}"
    assert cookies.of("https://nn:9871/webhdfs/v1/a?op=OPEN") == f"hadoop.auth={cookie(1e9, 'ann-of-files')}"
    assert cookies.of("http://rm:8088/ws/v1/cluster/info") is None, "it asks nobody"
    assert cookies.of("https://elsewhere:9871/jmx") is None


@pytest.mark.promise("Who works long on a cluster with Kerberos is logged in again", "how-to/kerberos-clusters")
def test_a_cookie_that_is_about_to_end_is_asked_for_anew() -> None:
    now, again = 0.0, []

    def another() -> Login:
        again.append(now)
        return login(now + 1000)

    cookies = Cookies(login(1000), another, now=lambda: now)
    now = 800.0
    assert cookies.of("https://nn:9871/jmx") == f"hadoop.auth={cookie(1000)}"
    now = 900.0
    assert cookies.of("https://nn:9871/jmx") == f"hadoop.auth={cookie(1900)}"
    assert cookies.of("https://nn:9871/webhdfs/v1/") == f"hadoop.auth={cookie(1900, 'ann-of-files')}"
    assert again == [900.0]


@pytest.mark.promise("One dead server of a Kerberos cluster does not keep the user out", "how-to/kerberos-clusters")
def test_a_server_that_does_not_answer_keeps_its_cookie_and_is_asked_again() -> None:
    now = [0.0]
    standby = "https://nn2:9871/jmx?qry=none"
    away = {standby: "Connection refused"}
    first = replace(login(1000), away=away)
    logins = [replace(login(3000), away=away), Login("ann", None, {standby: cookie(9000)}, "", away={NAMENODE: "gone"})]
    cookies = Cookies(first, lambda: logins.pop(0), now=lambda: now[0])
    now[0] = 10.0
    assert cookies.of("https://nn2:9871/jmx") is None
    assert len(logins) == 2, "not at once"
    now[0] = 31.0
    assert cookies.of("https://nn2:9871/jmx") is None
    assert len(logins) == 1
    now[0] = 62.0
    assert cookies.of("https://nn2:9871/jmx") == f"hadoop.auth={cookie(9000)}"
    assert cookies.of("https://nn:9871/jmx") == f"hadoop.auth={cookie(3000)}", "that of before"

    def fails() -> Login:
        raise HostProblem("nobody can log in")

    later = Cookies(first, fails, now=lambda: now[0])
    now[0] = 100.0
    assert later.of("https://nn2:9871/jmx") is None, "its own silence says more"
    assert read_login(f"user ann\naway {standby} Connection refused\n").away == away


@pytest.mark.parametrize("where", ["cache", "krb5.conf"])
def test_tickets_that_java_does_not_read_are_named(tmp_path: Path, where: str) -> None:
    conf = tmp_path / "krb5.conf"
    conf.write_text("[libdefaults]\n default_ccache_name = KEYRING:persistent:%{uid}\n" if where != "cache" else "")
    one = Credentials(krb5_conf=str(conf), cache="KCM:" if where == "cache" else None)
    hint = str(_refusal(tmp_path, one, "no ticket").hint)
    assert ("KCM:" if where == "cache" else "KEYRING:persistent") in hint
    assert "KRB5CCNAME=FILE:" in hint
    assert "KRB5CCNAME=" not in str(_refusal(tmp_path, replace(one, keytab="/k"), "x").hint)
    assert "KRB5CCNAME=" not in str(_refusal(tmp_path, Credentials(krb5_conf="/nowhere", cache="FILE:/t"), "x").hint)


@pytest.mark.promise("A ticket that ends soon is a warning before the run", "how-to/kerberos-clusters")
def test_a_ticket_that_ends_soon_is_a_warning() -> None:
    soon, late = (Login("ann", until, {}, "") for until in (1000.0 + 600, 1000.0 + 36000))
    cache, keytab = Credentials(), Credentials("ann@R", "/ann.keytab")
    assert "your ticket ends in 10 minutes" in (ending_ticket(soon, cache, 1000.0) or "")
    assert ending_ticket(late, cache, 1000.0) is None
    assert ending_ticket(soon, keytab, 1000.0) is None, "there are more where that came from"


@pytest.mark.skipif(not place_of(SECURITY_JAR).is_file(), reason="our jars are built by `make jars`")
def test_who_cannot_log_in_is_told_what_to_do(tmp_path: Path) -> None:
    failed = b"Exception in thread main IOException: x\nCaused by: LoginException: Clock skew too great\n\tat y"
    host = cast("Host", Answering(Completed(1, b"", failed, 1.0, 1.0)))
    jdk = Jdk("/jdk", (17, 0, 1), "any", "amd64", ())
    hadoop = Distribution("3.4.2", Path("/hadoop"), "home", (), (), ())
    with pytest.raises(HostProblem, match="Clock skew too great") as raised:
        log_in(host, jdk, hadoop, tmp_path, [NAMENODE], Credentials("ann@R", "/ann.keytab", "/krb5.conf"))
    assert "`kinit` gets a ticket" in str(raised.value.hint)
    with pytest.raises(HostProblem, match=r"the Java in /jdk has no module jdk\.security\.jgss"):
        log_in(host, replace(jdk, modules=("java.base",)), hadoop, tmp_path, [NAMENODE], Credentials("ann@R", "/k"))


@pytest.mark.promise("A ticket that ends within a run is noticed before the next phase", "how-to/kerberos-clusters")
def test_a_ticket_that_has_ended_is_noticed() -> None:
    now, again = [0.0], list[Login]()

    def repeat() -> Login:
        if not again:
            raise HostProblem("nobody can log in", hint="kinit")
        return again.pop()

    cookies = Cookies(Login("ann", 100.0, {}, ""), repeat, now=lambda: now[0])
    cookies.check()
    now[0] = 100.0
    with pytest.raises(HostProblem, match=r"your ticket ended at \d\d:\d\d:\d\d; nobody can log in") as caught:
        cookies.check()
    assert caught.value.hint == "kinit"
    again.append(Login("ann", 900.0, {}, ""))
    cookies.check()
    now[0] = 899.0
    cookies.check()
    assert not again, "the user has got another one"
    Cookies(Login("ann", None, {}, ""), repeat, now=lambda: 1e9).check()


def test_the_namenodes_of_every_service_are_asked() -> None:
    found = login_urls(WebAddresses(("nn:1",), (), ("jhs:2",), services={"a": ("nn:1",), "b": ("other:3",)}))
    assert [url for url in found if "jmx" in url] == ["http://nn:1/jmx?qry=none", "http://other:3/jmx?qry=none"]
