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
        name="page-of-a-job-open",
        promise="The page of a running job is closed to all but the ResourceManager.",
        file=_SETTINGS,
        old='"yarn.app.mapreduce.am.webapp.https.client.auth": "true"',
        new='"yarn.app.mapreduce.am.webapp.https.client.auth": "false"',
        tests=(f"{_SECURE}::test_the_page_of_a_job_is_closed",),
    ),
    Defect(
        name="weaker-protection-taken",
        promise="A setting with less than the cluster's protection is refused.",
        file=_SETTINGS,
        old="        weakest = min(map(PROTECTIONS.index, words), default=0)",
        new="        weakest = max(map(PROTECTIONS.index, words), default=3)",
        tests=(
            "tests/unit/hadoop/configuration/test_security.py::test_settings_that_contradict_protection_are_refused",
        ),
    ),
    Defect(
        name="phase-without-login",
        promise="A ticket that has ended is noticed before a phase.",
        file="src/howdah/engine/run/phase.py",
        old="            self._cluster.check_login()\n",
        new="",
        tests=(
            "tests/unit/engine/run/test_session_of_a_cluster.py::test_a_phase_does_not_begin_without_a_valid_login",
        ),
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
    Defect(
        name="spark-for-everybody",
        promise="Spark's driver and executors talk to the owner's alone.",
        file=_SETTINGS,
        old='_CLOSED_SPARK = {"spark.authenticate": "true",',
        new='_CLOSED_SPARK = {"spark.authenticate": "false",',
        tests=(f"{_SECURE}::test_a_driver_of_spark_talks_to_nobody_else",),
    ),
    Defect(
        name="token-in-message",
        promise="Delegation tokens are in no message.",
        file="src/howdah/hadoop/interfaces/http.py",
        old="    return _TOKENS.sub(",
        new="    return text or _TOKENS.sub(",
        tests=("tests/unit/hadoop/interfaces/test_http.py::test_tokens_of_redirects_are_in_no_message",),
    ),
    Defect(
        name="dead-server-loses-cookie",
        promise="One dead server of a Kerberos cluster does not keep the user out.",
        file="src/howdah/cluster/live/login.py",
        old="cookies={**kept, **fresh.cookies}",
        new="cookies=dict(fresh.cookies)",
        tests=(
            "tests/unit/cluster/live/test_login.py"
            "::test_a_server_that_does_not_answer_keeps_its_cookie_and_is_asked_again",
        ),
    ),
)
