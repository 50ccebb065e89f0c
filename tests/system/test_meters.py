"""Meters by their own protocols: ipmitool and a BMC, Redfish, SNMP, Prometheus; all follow one known curve."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from howdah.engine.energy.checks import contradictions
from howdah.engine.energy.readings import Metered, metered
from howdah.engine.energy.totals import parts_of, totals
from howdah.host import Host
from howdah.host.channel import open_local
from howdah.probe.power import PowerProbe
from howdah.probe.system import SystemProbe
from howdah.spec.meters import meters_of
from howdah.store import RunWriter, StoredRun, read_run
from tests.meters import stand_ins
from tests.meters.curve import joules

pytestmark = pytest.mark.daemons

GOLDEN = Path(__file__).parent.parent / "golden" / "run-v1"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    snmp = tmp_path / "snmp"
    snmp.mkdir()
    (snmp / "snmp.conf").write_text("defVersion 2c\ndefCommunity public\n")
    monkeypatch.setenv("SNMPCONFPATH", str(snmp))
    host = open_local("here")
    yield host
    host.close()


def watched(host: Host, place: Path, meters: str, seconds: float) -> tuple[StoredRun, PowerProbe]:
    """A run in which the meters of the file were observed for so long, and the host with them."""
    file = place / "meters.yaml"
    file.write_text(meters)
    writer = RunWriter(place / "runs", read_run(GOLDEN).run)
    for name in ("samples.jsonl", "environment.json"):
        shutil.copy(GOLDEN / name, writer.path / name)
    system, probe = SystemProbe(), PowerProbe(meters_of(str(file)))
    for one in (system, probe):
        one.start({"here": host}, [], writer.series)
    time.sleep(seconds)
    for one in (probe, system):
        one.stop()
    writer.close()
    return read_run(writer.path), probe


def of(run: StoredRun) -> dict[str, Metered]:
    return {one.meter.name: one for one in metered(run)}


def secret(place: Path) -> Path:
    file = place / "password"
    file.write_text("secret\n")
    return file


@pytest.mark.promise(
    "Meters are read by ipmitool, Redfish, SNMP and Prometheus, and one that lies is named", "how-to/energy"
)
def test_four_protocols_at_once_and_one_that_lies(host: Host, tmp_path: Path) -> None:
    with (
        stand_ins.bmc(tmp_path) as bmc,
        stand_ins.redfish(tmp_path) as redfish,
        stand_ins.pdu(tmp_path, gain=1.1) as pdu,
        stand_ins.prometheus(tmp_path) as prometheus,
    ):
        meters = f"""
meters:
  - {{ kind: ipmi, name: bmc, address: 127.0.0.1, port: {bmc}, user: reader, password_file: {secret(tmp_path)},
      interval: 1, covers: [here] }}
  - {{ kind: redfish, name: fish, url: "http://127.0.0.1:{redfish}", interval: 1, covers: [here] }}
  - {{ kind: snmp, name: pdu, address: "127.0.0.1:{pdu}", oid: {stand_ins.OID}, scale: 10, interval: 1,
      covers: [here] }}
  - {{ kind: prometheus, name: scraped, url: "http://127.0.0.1:{prometheus}", query: node_power_watts, interval: 1,
      covers: [here] }}
"""
        begun = time.time()
        run, probe = watched(host, tmp_path, meters, 54)
    assert not probe.absent
    found = of(run)
    assert sorted(found) == ["bmc", "fish", "pdu", "scraped"]
    faults = [line for name, lines in run.series() for line in lines if "fault" in line and name.startswith("power-")]
    assert len(faults) < 3, faults  # On a busy machine a program may take longer than it is given.
    assert all(one.readings is not None and one.count >= 25 for one in found.values())
    start, end = begun + 4, begun + 51
    # On a busy machine, no reading may come for some seconds.
    parts, missing = parts_of(list(found.values()), start, end, enough=9)
    assert not missing
    truth = joules(start, end)
    for part in parts:
        gain = 1.1 if part.metered.meter.name == "pdu" else 1.0
        assert part.energy.joules == pytest.approx(gain * truth, abs=2 * part.energy.half_width)
        assert part.energy.half_width < 0.06 * truth
    assert {one.domain for one in totals(parts, start, end)} == {"node", "pdu"}
    said = list(contradictions(parts, totals(parts, start, end)))
    assert [words.partition(" is ")[0] for words in said] == ["pdu"], said
    assert "secret" not in "".join(file.read_text() for file in run.path.rglob("*.json*"))


@pytest.mark.parametrize("state", ["deactivated", "silent"])
def test_a_bmc_without_a_reading_is_absent_and_holds_up_nobody(host: Host, tmp_path: Path, state: str) -> None:
    with stand_ins.bmc(tmp_path, state) as port:
        meters = f"""
meters:
  - {{ kind: ipmi, name: bmc, address: 127.0.0.1, port: {port}, user: reader, password_file: {secret(tmp_path)},
      covers: [here] }}
"""
        begun = time.monotonic()
        run, probe = watched(host, tmp_path, meters, 3)
    assert time.monotonic() - begun < 20
    assert not of(run)
    [words] = probe.absent
    assert words.startswith("ipmi on here: "), words
    assert ("deactivated" if state == "deactivated" else "ipmitool") in words


def test_wrong_credentials_are_said_and_nowhere_kept(host: Host, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("hunter2-hunter2\n")
    with stand_ins.bmc(tmp_path) as port:
        meters = f"""
meters:
  - {{ kind: ipmi, name: bmc, address: 127.0.0.1, port: {port}, user: reader, password_file: {password},
      covers: [here] }}
"""
        run, probe = watched(host, tmp_path, meters, 8)
    [words] = probe.absent
    assert "ipmitool: " in words
    assert "session" in words
    kept = "".join(file.read_text() for file in run.path.rglob("*.json*"))
    assert "hunter2" not in words + kept


def test_a_meter_that_vanishes_has_no_energy_and_the_others_do(host: Host, tmp_path: Path) -> None:
    with stand_ins.redfish(tmp_path) as redfish:
        inner = ExitStack()
        port = inner.enter_context(stand_ins.bmc(tmp_path))
        meters = f"""
meters:
  - {{ kind: ipmi, name: bmc, address: 127.0.0.1, port: {port}, user: reader, password_file: {secret(tmp_path)},
      interval: 1, covers: [here] }}
  - {{ kind: redfish, name: fish, url: "http://127.0.0.1:{redfish}", interval: 1, covers: [here] }}
"""
        begun = time.time()
        timer = threading.Timer(8, inner.close)
        timer.start()
        run, _ = watched(host, tmp_path, meters, 40)
        timer.join()
    found: dict[str, Any] = of(run)
    assert found["bmc"].faults >= 1
    parts, missing = parts_of(list(found.values()), begun + 3, begun + 37, enough=9)
    assert [part.metered.meter.name for part in parts] == ["fish"]
    assert "bmc" in missing
