"""Blocks of ports, one per cluster."""

from __future__ import annotations

import errno
import socket

# Below Linux's default range of ephemeral ports (32768 up), above where services usually are.
FIRST_PORT, LAST_PORT, STEP = 20000, 32000, 250
PROBED, COPYING = STEP - 1, STEP - 2
"""Ports of a block by which hosts try to reach each other, and copy software; no daemon uses them."""


class Reservation:
    """The block of ports that a cluster of this machine has, until `release` or the end of the process.

    Seconds pass between the choice of ports and the moment when daemons listen. Meanwhile a second cluster would find
    the same ports free. The reservation is a name in the abstract socket space. It has the scope of ports (a network
    namespace, all users) and ends with its process.
    """

    def __init__(self) -> None:
        self._held: socket.socket | None = None

    def take(self, first: int) -> bool:
        """Take the block from `first` instead of the block that is held; return False if another cluster has it."""
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            reservation.bind(f"\0howdah-ports-{first}")
        except OSError as error:
            reservation.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        self.release()
        self._held = reservation
        return True

    def release(self) -> None:
        """Release the block that is held; may be called twice."""
        if self._held is not None:
            self._held.close()
            self._held = None
