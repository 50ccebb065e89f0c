"""Other people on this machine."""

from __future__ import annotations

from howdah.host.agent.machine import fingerprint


def other_users() -> list[str]:
    """Return the people besides this user who are logged in or have processes here, by name."""
    now = fingerprint()["now"]
    found: list[str] = now.get("other_users") or []
    return found
