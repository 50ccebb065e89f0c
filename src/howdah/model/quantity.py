"""Sizes, numbers of things, and durations as people write them.

Data sizes are decimal, as in TeraGen and on disks: 1G is 10^9 bytes. The binary units of memory are
written with an i: 1Gi is 2^30 bytes.
"""

from __future__ import annotations

import re
from contextlib import suppress

from howdah.errors import UsageError

_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([kmgtp]?)(i?)b?\s*", re.IGNORECASE | re.ASCII)


def parse_bytes(text: str) -> int:
    """Return the bytes that `text` ("1G", "512Mi", "1.5 TB", "1000") stands for.

    Raises:
        UsageError: not a size, zero, or not a whole number of bytes.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"not a size: {text!r}",
            hint="Write a number and a unit: 500M, 1G, 2.5T (decimal) or 512Mi, 1Gi (binary).",
        )
    number, prefix, binary = match.groups()
    scale = _DECIMAL[prefix.lower()]
    if binary:
        if not prefix:
            raise UsageError(f"not a size: {text!r}", hint="'i' needs a prefix: Ki, Mi, Gi, Ti, Pi.")
        scale = 1024 ** ("kmgtp".index(prefix.lower()) + 1)
    whole, _, fraction = number.partition(".")
    parts: int = 10 ** len(fraction)
    value, rest = divmod(int(whole + fraction) * scale, parts)
    if rest:
        raise UsageError(f"not a whole number of bytes: {text!r}")
    if value == 0:
        raise UsageError(f"a size must be more than zero: {text!r}")
    return value


def parse_binary(text: str) -> int:
    """Return the bytes of a value of Hadoop's configuration, in upper or lower case: "128m" is 128 · 2^20.

    Raises UsageError for any other text.
    """
    match = re.fullmatch(r"\s*([0-9]+)\s*([kmgtpe]?)\s*", text, re.IGNORECASE)
    if match is None:
        raise UsageError(f"not a size of Hadoop's configuration: {text!r}", hint="Write bytes, or 128m, or 1g.")
    number, prefix = match.groups()
    return int(number) << 10 * (" kmgtpe".index(prefix.lower()) if prefix else 0)


def parse_amount(text: str, unit: str) -> int:
    """Return the number of `unit` that `text` stands for: bytes if `unit` is "B", else things that are counted ("10M").

    Raises:
        UsageError: not a number, zero, or not whole.
    """
    if unit == "B":
        return parse_bytes(text)
    with suppress(UsageError):
        if not text.rstrip().lower().endswith(("i", "b")):
            return parse_bytes(text)
    raise UsageError(f"not a whole number of {unit}: {text!r}", hint="Write 5000, 100k, 10M, 1.5G.")


def format_amount(value: float, unit: str) -> str:
    """Return `value` of `unit` with three significant digits: 1.00 GB, 10.0 M samples."""
    if unit == "B":
        return format_bytes(value)
    number, prefix = format_bytes(value).split(" ")
    return f"{number}{prefix.removesuffix('B').upper()} {unit}"


def format_bytes(value: float) -> str:
    """Return `value` bytes with three significant digits and a decimal unit: 1.00 GB."""
    for unit, scale in (("PB", 10**15), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if abs(value) >= 0.9995 * scale:
            return f"{_three_digits(value / scale)} {unit}"
    return f"{value:.0f} B"


def format_seconds(value: float) -> str:
    """Return `value` seconds for reading: 850 ms, 12.3 s, 4 min 05 s, 2 h 03 min."""
    if value < 0:
        return f"-{format_seconds(-value)}"
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 99.95:
        return f"{value:.1f} s"
    minutes, seconds = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def _three_digits(value: float) -> str:
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
