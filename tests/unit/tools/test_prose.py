"""The check of how pages are written finds what it is for, and nothing in what it must not look at."""

from __future__ import annotations

import pytest

from tools.prose import MADE, ROOT, problems, problems_of_module

GOOD = "Run `howdah up`. It starts a cluster."
LONG = "\n".join(["Word"] + ["word"] * 25) + "."
ENDLESS = "\n".join(["word"] * 41) + "."


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("The file is made anew.", "“anew”: again, from scratch"),
        ("The cluster is ended.", "“is ended”: stop, kill, shut down"),
        ("A jar beside the others.", "“beside”"),
        ("What it does is here.", "begins with “What”"),
        ("| a | Of HDFS, all. |", "begins with “Of”"),
        (f"A line of many columns: {'x ' * 50}", "columns, 100 at most"),
        (f"{LONG}\n{LONG}", "2 of 2 sentences have more than 25 words"),
        (ENDLESS, "41 words, 40 at most"),
        ("A sentence\nof two lines is made\nanew.", "page:3"),
    ],
)
def test_what_is_badly_written_is_found(page: str, said: str) -> None:
    assert any(said in one for one in problems(page, "page"))


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ('click.option("--at", help="What is compared.")', "begins with “What”"),
        ('raise Problem(f"the disk of {host} is made anew")', "“anew”"),
        (f"TEXT = {'It ' + ENDLESS.replace(chr(10), ' ')!r}", "42 words, 40 at most"),
        ('"""It is made anew."""', "“anew”"),
    ],
)
def test_what_is_badly_written_in_a_program_is_found(module: str, said: str) -> None:
    assert any(said in one for one in problems_of_module(module, "module"))


@pytest.mark.parametrize(
    "module",
    [
        'HEADING = "What each metric means, and where it is from"',
        f'KEYS = "{"vm.dirty_ratio " * 50}"',
        'PROGRAM = "# What is\\nmade anew"',
        "# What is made anew.",
    ],
)
def test_headings_names_and_programs_are_not(module: str) -> None:
    assert list(problems_of_module(module, "module")) == []


@pytest.mark.parametrize(
    "page",
    [
        GOOD,
        "```sh\nWhat is made anew\n```",
        "The word “anew” and the key `made.anew` are quoted.",
        "[A link](made-anew.md)",
        "What does it do?",
        f"{LONG} {GOOD}",
        "It is made anew. <!-- prose: the title of a paper -->",
        "| a table | " + "wide " * 40 + "|",
        "besides the mended-like words",
    ],
)
def test_what_is_well_written_or_quoted_is_not(page: str) -> None:
    assert list(problems(page, "page")) == []


def test_pages_that_are_left_out_are_there() -> None:
    assert [one for one in sorted(MADE) if not (ROOT / one).is_file()] == []
