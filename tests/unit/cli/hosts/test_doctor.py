"""What `howdah doctor` prints of several hosts."""

from __future__ import annotations

import pytest

from howdah.cli.hosts.doctor_command import show_findings
from howdah.engine.doctor.finding import DoctorFinding


@pytest.mark.promise("What the doctor finds on several hosts alike is said once", "how-to/doctor")
def test_what_hosts_have_in_common_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    findings = [
        DoctorFinding("clock", "note", "nothing keeps it", "Times differ.", "set it", host="a"),
        DoctorFinding("disk", "note", "5 GB free", "Runs may fail.", None, host="a"),
        DoctorFinding("clock", "note", "nothing keeps it", "Times differ.", "set it", host="b"),
        DoctorFinding("disk", "note", "6 GB free", "Runs may fail.", None, host="b"),
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
