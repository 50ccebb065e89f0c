"""Blocks of ports, each of one cluster."""

from __future__ import annotations

import errno
import socket

# Below Linux's default range of ephemeral ports (32768 up), above where services usually are.
FIRST_PORT, LAST_PORT, STEP = 20000, 32000, 250
PROBED, COPYING = STEP - 1, STEP - 2
"""The ports of a block by which hosts try to reach each other, and copy software: no daemon has them."""


class Reservation:
    """The block of ports that a cluster of this machine has, until `release` or the end of the process.

    Between the choice of ports and the daemons' listening on them seconds pass, in which a second cluster would find
    them free too. A name in the abstract socket space has the scope that ports have (a network namespace, all users)
    and ends with its process.
    """

    def __init__(self) -> None:
        self._held: socket.socket | None = None

    def take(self, first: int) -> bool:
        """Takes the block from `first` in the place of the one that is held; False when another cluster has it."""
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
        """Gives up what is held; may be called twice."""
        if self._held is not None:
            self._held.close()
            self._held = None
