"""Run commands on the host that supervises their cluster."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from typing import NoReturn

from howdah.cli.main import COMES_FROM
from howdah.errors import Elsewhere

_TAKEN_ALONG = ("HOWDAH_HOME", "HOWDAH_LOCKS")


def go_there(error: Elsewhere, arguments: Sequence[str]) -> NoReturn:
    """Run this command on the host that `error` names, and exit with its exit code.

    Howdah and its files have the same paths there. Raises `error` if the command cannot run there.
    """
    from howdah.host.launch.ssh import run_there

    if error.place is None or COMES_FROM in os.environ:
        raise error
    along = {name: os.environ[name] for name in _TAKEN_ALONG if name in os.environ}
    # -P: no module of the directory that somebody happens to be in.
    command = [sys.executable, "-P", "-m", "howdah", *arguments]
    code = run_there(error.place, command, {**along, COMES_FROM: platform.node()})
    if code is None:
        raise error
    sys.exit(code)
