"""A BMC with a power reading (DCMI), by pyghmi: `bmc.py PORT STATE`; STATE is activated, deactivated or silent."""

from __future__ import annotations

import struct
import sys
import time
from typing import Any

from pyghmi.ipmi.bmc import Bmc

from tests.meters.curve import watts

_DCMI, _GET_POWER, _GROUP = 0x2C, 0x02, 0xDC


class PowerBmc(Bmc):  # type: ignore[misc]
    """Answers "Get Power Reading" of DCMI 1.5, 6.6.1."""

    state = "activated"

    def get_power_state(self) -> str:
        return "on"

    def handle_raw_request(self, request: dict[str, Any], session: Any) -> Any:
        if (request["netfn"], request["command"]) != (_DCMI, _GET_POWER):
            return super().handle_raw_request(request, session)
        if self.state == "silent":
            time.sleep(3600)
        now = round(watts(time.time())) if self.state == "activated" else 0
        active = 0x40 if self.state == "activated" else 0
        # The mean is of another day, as that of a real one: 176 W over thirteen days.
        answer = struct.pack("<BHHHHIIB", _GROUP, now, 10, 999, 176, int(time.time()), 1131466000, active)
        return session.send_ipmi_response(data=list(answer))


if __name__ == "__main__":
    PowerBmc.state = sys.argv[2]
    PowerBmc({"reader": "secret"}, port=int(sys.argv[1]), address="127.0.0.1").listen()
