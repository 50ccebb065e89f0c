from __future__ import annotations

from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.spec.meters import Meters, meters_of, read_meters

REDFISH = "kind: redfish, name: a, url: 'https://b', covers: [h]"
SNMP = "kind: snmp, address: p, oid: 1.3, covers: [h]"
DCM = "kind: csv, name: a, file: FILE, covers: [h]"
CSV = "kind: csv, name: a, file: FILE, time: T, value: V, covers: [h]"


def read(tmp_path: Path, text: str) -> Meters:
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / "power.csv").write_text("T,V\n")
    file = tmp_path / "meters.yaml"
    text = text.replace("PASSWORD", str(tmp_path / "password")).replace("FILE", str(tmp_path / "power.csv"))
    file.write_text(text, encoding="utf-8")
    return read_meters(file)


def test_a_file_of_meters(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "meters:\n  - { kind: rapl }\n"
        f"  - {{ {REDFISH}, user: me, password_file: PASSWORD, accuracy: 2.5%, verify: no }}\n"
        "  - { kind: simulated, idle: 90, busy: 240, hosts: [a, b] }\n"
        "idle: 600\nothers: 180\n",
    )
    assert (found.idle, found.others) == (600, 180)
    rapl, redfish, simulated = found.sources
    assert (rapl.interval, redfish.interval, redfish.accuracy, redfish.covers) == (1, 5, 0.025, ("h",))
    assert redfish.settings["password_file"] == str(tmp_path / "password")
    assert simulated.hosts == ("a", "b")


def test_kinds_without_a_file() -> None:
    assert [one.kind for one in meters_of("rapl,ipmi").sources] == ["rapl", "ipmi"]
    for text, message in (
        ("rapl,rapl", "a kind is there twice"),
        ("redfish", "no such file, and it is no list of rapl"),
    ):
        with pytest.raises(UsageError, match=message):
            meters_of(text)


@pytest.mark.promise("A file of meters with a mistake names the line and the mistake", "how-to/energy")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("idle: 3\n", "a file of meters has no `meters`"),
        ("meters: []\n", "there is no meter"),
        ("meters: [{}]\n", "a meter has no `kind`"),
        ("meters:\n  - { kind: rapple }\n", "line 2: there is no kind of meter 'rapple'"),
        ("meters: [{kind: rapl, url: x}]\n", "unknown key 'url'"),
        ("meters: [{kind: simulated, idle: 3}]\n", "a meter of kind simulated needs `busy`"),
        ("meters: [{kind: simulated, idle: 30, busy: 3}]\n", "a busy host draws no less than an idle one"),
        ("meters: [{kind: simulated, idle: 30, busy: lots}]\n", "'lots' is no number"),
        ("meters: [{kind: rapl, interval: 0.01}]\n", "an interval is between"),
        ("meters: [{kind: rapl, accuracy: 0.02}]\n", "'0.02' is no accuracy"),
        ("meters: [{kind: rapl, name: a/b}]\n", "'a/b' is no name"),
        ("meters: [{kind: ipmi, address: bmc}]\n", "go together"),
        (f"meters: [{{{REDFISH}}}, {{{REDFISH}}}]\n", "two meters are called a"),
        ("meters: [{kind: ipmi}, {kind: ipmi, hosts: [b]}]\n", "two meters are called ipmi"),
        (f"meters: [{{{REDFISH}, password_file: /nowhere}}]\n", "there is no file /nowhere"),
        (f"meters: [{{{REDFISH.replace('https://', '')}}}]\n", "'b' is no address"),
        (f"meters: [{{{REDFISH}, verify: maybe}}]\n", "verify is 'maybe'"),
        ("meters: [{kind: snmp, name: a, address: p, oid: power, covers: [h]}]\n", "'power' is no OID"),
        ("meters: [{kind: snmp, name: a, address: -x, oid: 1.3, covers: [h]}]\n", "'-x' is no address"),
        ("meters: [{kind: snmp, name: a, address: p, oid: 1.3, covers: [h, h]}]\n", "names no host, or one twice"),
        (
            "meters: [{kind: snmp, name: a, address: p, oid: 1.3, covers: [h], domain: room}]\n",
            "'room' is no domain: package, dram, psu, node, pdu, rack",
        ),
        (f"meters: [{{{CSV}, reading: mean, unit: W, format: '%H'}}]\n", "`zone` is missing"),
        (f"meters: [{{{CSV}, reading: mean, unit: W}}]\n", "needs `format`, or a `layout`"),
        (f"meters: [{{{DCM}, layout: idrac}}]\n", "there is no layout 'idrac'"),
        (f"meters: [{{{DCM}, layout: dcm}}]\n", "`zone` is missing"),
        (f"meters: [{{{DCM}, layout: dcm, zone: UTC, value: Power}}]\n", "a layout sets `value`, too"),
        (f"meters: [{{{REDFISH}, place: Power}}]\n", "'Power' is no resource"),
        (f"meters: [{{{REDFISH}, metric: Power}}]\n", "a `metric` needs the `place` of its report"),
        (f"meters: [{{{SNMP}, name: a, feed: A}}]\n", "'A' is no feed"),
        (f"meters: [{{{SNMP}, name: a, feed: 3/2}}]\n", "'3/2' is no feed"),
        (f"meters: [{{{SNMP}, name: a, feed: 1/2}}]\n", "the feeds of h are 1/2"),
        (f"meters: [{{{SNMP}, name: a, feed: 1/2}}, {{{SNMP}, name: b, feed: 1/2}}]\n", "the feeds of h are 1/2, 1/2"),
        (f"meters: [{{{SNMP}, name: a, feed: 1/2}}, {{{SNMP}, name: b, feed: 2/3}}]\n", "the feeds of h are 1/2, 2/3"),
        (f"meters: [{{{CSV}, reading: mean, unit: J, format: '%z'}}]\n", "a mean is not in J"),
        (f"meters: [{{{CSV}, reading: counter, unit: W, format: '%z'}}]\n", "a counter is not in W"),
        (f"meters: [{{{CSV}, reading: mean, unit: hp, format: '%z'}}]\n", "'hp' is no unit"),
        (f"meters: [{{{CSV}, reading: mean, unit: W, format: '%H', zone: Mars}}]\n", "there is no zone 'Mars'"),
        (
            f"meters: [{{{CSV.replace('FILE', '/nowhere')}, reading: mean, unit: W, format: '%z'}}]\n",
            "there is no file",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
