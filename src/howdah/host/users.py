"""Who else is on this machine."""

from __future__ import annotations

from howdah.host.agent.machine import fingerprint


def other_users() -> list[str]:
    """People logged in here beside this user, by name."""
    now = fingerprint()["now"]
    found: list[str] = now.get("other_users") or []
    return found
