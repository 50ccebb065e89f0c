"""What `howdah doctor` prints of several hosts."""

from __future__ import annotations

import pytest

from howdah.cli.hosts.doctor_command import show_findings
from howdah.engine.doctor.finding import Finding


@pytest.mark.promise("What the doctor finds on several hosts alike is said once", "how-to/doctor")
def test_what_hosts_have_in_common_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    findings = [
        Finding("clock", "note", "nothing keeps it", "Times differ.", "set it", host="a"),
        Finding("disk", "note", "5 GB free", "Runs may fail.", None, host="a"),
        Finding("clock", "note", "nothing keeps it", "Times differ.", "set it", host="b"),
        Finding("disk", "note", "6 GB free", "Runs may fail.", None, host="b"),
    ]
    show_findings(findings, 80)
    assert capsys.readouterr().out.splitlines() == [
        "note  [a, b] clock: nothing keeps it",
        "      Times differ.",
        "      fix: set it",
        "note  [a] disk: 5 GB free",
        "      [b] disk: 6 GB free",
        "      Runs may fail.",
    ]
