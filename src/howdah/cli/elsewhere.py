"""Commands for a cluster that another host supervises: they go there."""

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
    """Runs this command on the host that `error` names, where Howdah and its files have the same paths, and ends with
    its exit code. Raises `error` where that cannot be."""
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
