"""What it takes to ask four meters at once: the processor time of their readers, of the programs that they start, and
of this process, against one processor."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from howdah.host.channel import open_local
from howdah.probe.power import PowerProbe
from howdah.spec.meters import read_meters
from tests.meters import stand_ins

SECONDS = 240.0
ROUNDS = 3
_FILE = """
meters:
  - {{ kind: ipmi, name: bmc, address: 127.0.0.1, port: {bmc}, user: reader, password_file: {password},
      covers: [here] }}
  - {{ kind: redfish, name: fish, url: "http://127.0.0.1:{redfish}", covers: [here] }}
  - {{ kind: snmp, name: pdu, address: "127.0.0.1:{pdu}", oid: {oid}, scale: 10, covers: [here] }}
  - {{ kind: prometheus, name: scraped, url: "http://127.0.0.1:{prometheus}", query: node_power_watts, covers: [here] }}
"""


def measure() -> list[str]:
    """A line of the table for each round, and their median."""
    lines = ["| what | CPU of one processor |", "|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "password").write_text("secret\n")
        (place / "snmp.conf").write_text("defVersion 2c\ndefCommunity public\n")
        os.environ["SNMPCONFPATH"] = str(place)  # Agents have it from here.
        with (
            stand_ins.bmc(place) as bmc,
            stand_ins.redfish(place) as redfish,
            stand_ins.pdu(place) as pdu,
            stand_ins.prometheus(place) as prometheus,
        ):
            file = place / "meters.yaml"
            ports = {"bmc": bmc, "redfish": redfish, "pdu": pdu, "prometheus": prometheus}
            file.write_text(_FILE.format(password=place / "password", oid=stand_ins.OID, **ports))
            # The stand-ins have threads here: the readers are in a process of their own.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                shares = [pool.submit(_share, file).result() for _ in range(ROUNDS)]
    for share in shares:
        lines.append(f"| a round of {SECONDS:.0f} s | {share:.2%} |")
    return [*lines, f"| median | {statistics.median(shares):.2%} |"]


def _share(file: Path) -> float:
    host = open_local("here")
    try:
        probe = PowerProbe(read_meters(file))
        used, begun = time.process_time(), time.monotonic()
        probe.start({"here": host}, [], lambda *_: None)
        time.sleep(SECONDS)
        spent = sum(one for one in probe.stop().values() if isinstance(one, float))
        if probe.absent:
            raise RuntimeError(f"not all meters answered: {probe.absent}")
        return (spent + time.process_time() - used) / (time.monotonic() - begun)
    finally:
        host.close()
