"""The rendered report, whole: against golden files, for safety, determinism, size and speed of import.

`HOWDAH_GOLDEN=write pytest tests/unit/report/render/test_render.py` writes the golden files again; look
at the difference.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from howdah.model.run import Caveat
from howdah.report import (
    Report,
    build_comparison,
    build_report,
    describe_run,
    render_html,
    render_json,
    render_markdown,
    render_text,
)
from howdah.report.document.blocks import Fold
from howdah.store import StoredRun
from tests.unit.report.example_runs import Example, wide_shape, write_example, write_group

GOLDEN = Path(__file__).parents[3] / "golden" / "report"


class Page(HTMLParser):
    """The tags of a page, with their attributes, and whether they are balanced."""

    VOID = ("meta", "link", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report(group: list[StoredRun]) -> Report:
    return build_report(group)


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return render_html(report)


def check(name: str, text: str, root: Path) -> None:
    """`text` is the golden file `name`, the place of the runs aside."""
    escaped = str(root).replace("_", "\\_")
    text = text.replace(str(root), "/runs").replace(escaped, "/runs")
    file = GOLDEN / name
    if os.environ.get("HOWDAH_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.promise("Markdown and JSON hold the facts of the page", "explanation/reading-the-report")
def test_golden_report(report: Report, root: Path) -> None:
    check("report.md", render_markdown(report), root)
    check("report.json", render_json(report), root)


def test_golden_comparison(group: list[StoredRun], faster: list[StoredRun], root: Path) -> None:
    check("comparison.md", render_markdown(build_comparison(group, faster)), root)
    check("comparison.txt", re.sub(r" +", " ", render_text(build_comparison(group[:3], faster[:3]))), root)


def test_golden_description(single: StoredRun, root: Path) -> None:
    check("show.txt", render_text(describe_run(single)), root)


@pytest.mark.promise("The page needs no network and no script", "explanation/reading-the-report")
def test_the_page_reaches_for_nothing_outside(html: str) -> None:
    page = Page(html)
    assert not page.open
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "iframe", "img", "object", "embed", "base", "form"}
    addresses = [
        value or "" for _, attributes in page.tags for name, value in attributes.items() if name in ("href", "src")
    ]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "//" not in re.sub(r"<(p|td|pre|code)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert "default-src 'none'" in html


def test_ids_are_unique_and_links_lead_somewhere(html: str) -> None:
    page = Page(html)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] or "" for tag, attributes in page.tags if tag == "a"]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_every_figure_has_both_sizes_and_a_text_alternative(html: str) -> None:
    page = Page(html)
    figures = sum(tag == "figure" for tag, _ in page.tags)
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(pictures) == 2 * figures > 10
    assert all(picture["role"] == "img" and len(picture["aria-label"] or "") > 20 for picture in pictures)


def test_what_runs_say_is_escaped(tmp_path: Path) -> None:
    nasty = "<script>alert('&')</script> | `code` **x**"
    run = write_example(tmp_path, Example("nasty", 0, caveats=(Caveat("run", nasty),), workload="<b>sort</b>"))
    page = render_html(build_report([run]))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert r"\<script\>alert('&')\</script\> \| \`code\` \*\*x\*\*" in render_markdown(build_report([run]))


@pytest.mark.promise("The same directories give the same bytes", "explanation/reading-the-report")
def test_the_same_runs_give_the_same_bytes_in_another_process(single: StoredRun) -> None:
    program = (
        "import sys, pathlib; from howdah.store import read_run; from howdah.report import build_report, render_html;"
        "sys.stdout.buffer.write(render_html(build_report([read_run(pathlib.Path(sys.argv[1]))])).encode())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-c", program, str(single.path)]
    there = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    assert there == render_html(build_report([single])).encode()


def test_a_description_imports_no_slow_library(single: StoredRun) -> None:
    program = (
        "import sys, pathlib; from howdah.store import read_run; from howdah.report import describe_run, render_text;"
        "render_text(describe_run(read_run(pathlib.Path(sys.argv[1]))));"
        "print(sorted({'altair', 'scipy', 'numpy', 'vl_convert'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", program, str(single.path)]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "[]\n"


def test_a_thousand_tasks_stay_below_three_megabytes(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("wide", 0, shapes=wide_shape(1000)))
    assert len(render_html(build_report([run])).encode()) < 3_000_000


def test_a_hundred_runs_take_less_than_ten_seconds(tmp_path: Path) -> None:
    runs = write_group(tmp_path, "many", 100)
    begin = time.process_time()
    page = render_html(build_report(runs))
    assert time.process_time() - begin < 10
    assert "100 runs" in page


def test_json_has_no_invented_numbers(report: Report, single: StoredRun) -> None:
    facts = json.loads(render_json(build_report([single])))
    job_seconds = next(m for m in facts["trials"][0]["metrics"] if (m["phase"], m["metric"]) == ("sort", "job_seconds"))
    assert job_seconds["summary"]["interval"] is None
    assert job_seconds["summary"]["cv"] is None
    many = json.loads(render_json(report))["trials"][0]
    assert [run["outcome"] for run in many["runs"]] == ["valid"] * 5 + ["invalid", "failed"]


@pytest.mark.promise("Markdown and JSON hold the facts of the page", "explanation/reading-the-report")
def test_json_has_every_caveat_of_the_page_and_what_it_takes_to_repeat_it(report: Report) -> None:
    facts = json.loads(render_json(report))
    blocks = [block for section in report.sections for block in section.blocks]
    blocks += [inner for block in blocks if isinstance(block, Fold) for inner in block.blocks]
    assert {(one.about, one.text) for one in blocks if isinstance(one, Caveat)} == {
        (one["about"], one["text"]) for one in facts["caveats"]
    }
    [trial] = facts["trials"]
    assert trial["command"][:2] == ["howdah", "run"]
    assert {"settings", "cluster", "environment", "definitions"} <= trial.keys()
    assert all(job["counters"] for job in trial["shown"]["jobs"])
