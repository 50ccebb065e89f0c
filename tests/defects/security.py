"""Defects of secured clusters and of locks."""

from __future__ import annotations

from tests.defects.defect import Defect

_SETTINGS = "src/howdah/hadoop/configuration/security.py"
_SECURE = "tests/system/test_secure.py"

DEFECTS = (
    Defect(
        name="web-servers-open",
        promise="Web pages, REST and WebHDFS are closed to who has no key.",
        file=_SETTINGS,
        old='"org.apache.hadoop.security.AuthenticationFilterInitializer"',
        new='"org.apache.hadoop.http.lib.StaticUserWebFilter"',
        tests=(f"{_SECURE}::test_web_servers_want_our_signature",),
    ),
    Defect(
        name="cookie-without-secret",
        promise="Requests are signed with the secret of the cluster.",
        file="src/howdah/hadoop/interfaces/access.py",
        old="hmac.new(secret,",
        new='hmac.new(b"",',
        tests=("tests/unit/hadoop/interfaces/test_access.py::test_the_signature_is_hadoop_s",),
    ),
    Defect(
        name="secrets-kept",
        promise="Of 200 planted secrets none is in what a run keeps.",
        file="src/howdah/hadoop/configuration/site.py",
        old="            value.text, found = REDACTED, True",
        new="            found = True",
        tests=("tests/unit/model/test_redaction.py::test_planted_secrets_are_left_out",),
    ),
    Defect(
        name="keytabs-everywhere",
        promise="Every place has the keytabs of its own daemons alone.",
        file=_SETTINGS,
        old="services = _MASTERS if place == plan.masters else _WORKERS",
        new="services = (*_MASTERS, *_WORKERS)",
        tests=(
            "tests/unit/hadoop/configuration/test_security.py"
            "::test_each_place_has_its_own_keytabs_and_clients_have_the_owners",
        ),
    ),
    Defect(
        name="lock-of-another-host-taken",
        promise="A lock of another host is never taken for one of the dead.",
        file="src/howdah/store/locks.py",
        old="        if not self.is_here:\n            return True",
        new="        if not self.is_here:\n            return False",
        tests=(
            "tests/unit/store/test_locks.py::test_holders_of_other_hosts_are_not_known_and_dead_ones_of_this_host_are",
        ),
    ),
)
