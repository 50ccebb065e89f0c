"""Typing mistakes: the distance between two names, and the known name that a user may have meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

_LETTERS_PER_SLIP = 4
_SHORTEST_START = 3


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return a hint about `name`, which is none of `known`."""
    close = closest(name, known)
    meant = "" if close is None else f"Did you mean {close}? "
    return f"{meant}Known: {', '.join(sorted(known))}."


def closest(name: str, known: Collection[str]) -> str | None:
    """Return the one of `known` that `name` may stand for; None if no name is close.

    A name is close with one slip, or one for every four letters of `name`, in upper or lower case. A name is also close
    if it is the only one that begins with `name`, and `name` has at least three letters.
    """
    typed = name.lower()
    most = max(1, len(typed) // _LETTERS_PER_SLIP)
    apart = ((distance(typed, one.lower(), most), one) for one in known)
    longer = [one for one in known if one.lower().startswith(typed)]
    near = [(slips, one not in longer, one) for slips, one in apart if slips <= most and slips < len(typed)]
    if near:
        return min(near)[2]
    return longer[0] if len(longer) == 1 and len(typed) >= _SHORTEST_START else None


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters to insert, delete, replace or swap with their neighbour (optimal string alignment).

    The result is `most` + 1 for more than `most`.
    """
    far = most + 1
    if abs(len(one) - len(other)) > most:
        return far
    if (Counter(one) - Counter(other)).total() > most or (Counter(other) - Counter(one)).total() > most:
        return far
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        latest, row = row, [i, *([0] * len(other))]
        for j, b in enumerate(other, 1):
            row[j] = min(latest[j] + 1, row[j - 1] + 1, latest[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                row[j] = min(row[j], before[j - 2] + 1)
        if min(row) > most:
            return far
        before = latest
    return min(row[-1], far)
