"""Sizes and durations: what is accepted, what is refused, and that reading undoes writing."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.model.quantity import format_amount, format_bytes, format_seconds, parse_amount, parse_bytes

DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
UNITS = DECIMAL | BINARY


@given(st.integers(1, 10**12), st.sampled_from(sorted(UNITS)), st.sampled_from(["", "B", "b"]), st.booleans())
def test_a_whole_number_of_any_unit(number, unit, suffix, spaced):
    text = f"{number}{' ' if spaced else ''}{unit}{suffix}"
    assert parse_bytes(text) == number * UNITS[unit]
    assert parse_bytes(text.upper()) == parse_bytes(text.lower()) == number * UNITS[unit]


@given(st.integers(1, 10**9), st.sampled_from(sorted(DECIMAL.keys() - {""})))
def test_decimals_are_exact(thousandths, unit):
    text = f"{thousandths // 1000}.{thousandths % 1000:03d}{unit}"
    assert parse_bytes(text) == thousandths * DECIMAL[unit] // 1000


@given(st.text() | st.from_regex(r"\A[0-9. ]*[kmgtpiB ]*\Z"))
def test_any_text_is_a_size_or_a_usage_error(text):
    with contextlib.suppress(UsageError):
        assert parse_bytes(text) > 0


@pytest.mark.parametrize(
    "text",
    ["", "G", "-1G", "0", "0.0G", "1.5", "0.1B", "1.2345k", "1i", "1 iB", "1GG", "1G\n1", "1e9", "1_000", "9" * 5000],
)
def test_refused(text):
    with pytest.raises(UsageError):
        parse_bytes(text)


@given(st.integers(0, 10**17))
def test_reading_undoes_writing_to_three_digits(value):
    written = format_bytes(value)
    if value:
        assert parse_bytes(written) == pytest.approx(value, rel=0.0051)
    else:
        assert written == "0 B"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (999, "999 B"),
        (999.6, "1.00 kB"),
        (999_499, "999 kB"),
        (999_500, "1.00 MB"),
        (10**9, "1.00 GB"),
        (12.34e12, "12.3 TB"),
        (-2e6, "-2.00 MB"),
    ],
)
def test_bytes_as_written(value, written):
    assert format_bytes(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0 ms"),
        (0.85, "850 ms"),
        (0.9996, "1.0 s"),
        (12.34, "12.3 s"),
        (99.96, "1 min 40 s"),
        (245, "4 min 05 s"),
        (3599.6, "1 h 00 min"),
        (7380, "2 h 03 min"),
        (-245, "-4 min 05 s"),
    ],
)
def test_seconds_as_written(value, written):
    assert format_seconds(value) == written


@given(st.floats(0.0005, 10**7))
def test_no_part_of_a_duration_overflows(value):
    parts = format_seconds(value).split()
    numbers = dict(zip(parts[1::2], map(float, parts[::2]), strict=True))
    limits = {"ms": 1000, "s": 60 if "min" in numbers else 100, "min": 60 if "h" in numbers else 100, "h": float("inf")}
    assert all(number < limits[unit] for unit, number in numbers.items())


@pytest.mark.parametrize(("text", "value"), [("5000", 5000), ("100k", 10**5), ("1.5M", 1_500_000), ("2 G", 2 * 10**9)])
def test_things_are_counted_in_powers_of_ten(text, value):
    assert parse_amount(text, "samples") == value


@pytest.mark.parametrize("text", ["", "0", "1Mi", "5B", "5 kB", "-1", "1.5"])
def test_bytes_are_no_number_of_things(text):
    with pytest.raises(UsageError):
        parse_amount(text, "samples")


def test_an_amount_is_written_with_its_unit():
    assert format_amount(10**7, "samples") == "10.0M samples"
    assert format_amount(120, "operations") == "120 operations"
    assert format_amount(10**9, "B") == "1.00 GB"
