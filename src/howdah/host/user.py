"""The user of Howdah's processes."""

from __future__ import annotations

import os
import pwd

from howdah.errors import HostProblem


def process_user() -> str:
    """Return the name of the user that this process, and so every daemon, runs as. USER and LOGNAME may still name
    another user after `su`. Raises HostProblem for a user without a name, whom Hadoop refuses."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        raise HostProblem(
            f"the user {os.getuid()} has no name on this machine, and Hadoop runs for users with names alone",
            hint="Give it one in /etc/passwd.",
        ) from None
