"""The report's page in a real browser: Chromium, from a file, without a network. About 20 seconds."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from howdah.cli.main import howdah
from howdah.model.run import Outcome
from howdah.report import build_comparison, build_many, build_report, render_html
from tests.unit.report.example_runs import Example, wide_shape, write_example, write_group

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
PAGES = ("single", "group", "trials", "failed", "wide", "comparison", "many", "experiment")
TRIED = Path(__file__).parents[2] / "experiments" / "try-it.yaml"


class Opener:
    """Opens pages, and remembers what they asked for and complained about."""

    def __init__(self, browser: Browser, pages: dict[str, Path]) -> None:
        self.browser, self.pages = browser, pages
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._contexts: list[BrowserContext] = []
        self._shown: dict[tuple[str, int, bool], Page] = {}

    def __call__(self, name: str, *, width: int = 1280, dark: bool = False) -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        self._contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.pages[name].as_uri())
        return page

    def shown(self, name: str, width: int, dark: bool) -> Page:
        """A page that nobody changes, opened once."""
        found = self._shown.get((name, width, dark))
        if found is None:
            found = self._shown[name, width, dark] = self(name, width=width, dark=dark)
        return found

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page, written to files."""
    root = tmp_path_factory.mktemp("pages")
    runs = root / "runs"
    single = write_example(runs, Example("single", 30, lost_attempt=True))
    base = write_group(runs, "base", 5)
    failed = write_example(runs, Example("failed", 6, Outcome("failed", "the sort job failed"), lost_attempt=True))
    fast = write_group(runs, "fast", 5, start=10, speed=1.5, settings={"mapreduce.task.io.sort.mb": 32})
    wide = write_example(runs, Example("wide", 31, shapes=wide_shape(1000)))
    reports = {
        "single": build_report([single]),
        "group": build_report([*base, failed]),
        "trials": build_report([*base, *fast]),
        "failed": build_report([failed]),
        "wide": build_report([wide]),
        "comparison": build_comparison(base, fast),
        "many": build_many(base, [fast[:3], fast[3:]], ["base", "fast", "faster"]),
    }
    for name, report in reports.items():
        (root / f"{name}.html").write_text(render_html(report), encoding="utf-8")
    made = CliRunner().invoke(
        howdah,
        [
            *("experiment", "run", str(TRIED), "--out", str(root / "experiment")),
            *("--cluster", f"synthetic:{TRIED.with_suffix('.synthetic.yaml')}"),
        ],
    )
    assert made.exit_code == 0, made.output
    return {**{name: root / f"{name}.html" for name in reports}, "experiment": root / "experiment" / "report.html"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("HOWDAH_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.fail("no chromium on this machine; `make setup-tests` installs it, HOWDAH_CHROMIUM names another")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, pages: dict[str, Path]) -> Iterator[Opener]:
    opener = Opener(browser, pages)
    yield opener
    opener.close()


@pytest.fixture(scope="module")
def looked_at(browser: Browser, pages: dict[str, Path]) -> Iterator[Opener]:
    opener = Opener(browser, pages)
    yield opener
    opener.close()


@pytest.mark.promise("The page needs no network and no script", "explanation/reading-the-report")
@pytest.mark.parametrize("name", PAGES)
def test_it_opens_from_a_file_and_asks_for_nothing_else(opened: Opener, name: str) -> None:
    page = opened(name)
    assert page.locator("h1").is_visible()
    assert page.locator("h1").inner_text()
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert opened.complaints == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", PAGES)
def test_the_page_never_scrolls_sideways(opened: Opener, name: str, width: int) -> None:
    page = opened(name, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", PAGES)
def test_every_figure_shows_one_picture_with_a_text_alternative(
    looked_at: Opener, name: str, width: int, dark: bool
) -> None:
    page = looked_at.shown(name, width, dark)
    figures = page.locator("figure").all()
    assert figures
    for figure in figures:
        shown = [svg for svg in figure.locator("svg").all() if svg.is_visible()]
        assert len(shown) == 1
        box = shown[0].bounding_box()
        assert box is not None
        assert box["width"] > 200
        assert box["height"] > 40
        assert box["x"] + box["width"] <= width
        assert shown[0].get_attribute("role") == "img"
        assert len(shown[0].get_attribute("aria-label") or "") > 20


@pytest.mark.promise("The page follows the light or dark setting of the browser", "explanation/reading-the-report")
@pytest.mark.parametrize("width", [1280, 400])
def test_light_and_dark_differ_in_page_text_and_figures(opened: Opener, width: int) -> None:
    def look(dark: bool) -> list[str]:
        page = opened("single", width=width, dark=dark)
        shown = "wide" if width > 400 else "narrow"
        return [
            page.evaluate("getComputedStyle(document.documentElement).backgroundColor"),
            page.evaluate("getComputedStyle(document.querySelector('h1')).color"),
            page.evaluate(f"getComputedStyle(document.querySelector('.{shown} .f-map')).fill"),
        ]

    light, dark = look(False), look(True)
    assert all(one != other for one, other in zip(light, dark, strict=True))


def test_every_colour_class_of_a_figure_has_a_rule(opened: Opener) -> None:
    page = opened("single")
    unpainted = page.evaluate(
        """[...document.querySelectorAll('svg [class*="f-"]')]
           .filter(mark => getComputedStyle(mark).fill === 'rgb(0, 0, 0)').length"""
    )
    assert unpainted == 0


def test_the_charts_of_a_timeline_are_aligned(opened: Opener) -> None:
    """The gridlines of all charts of one timeline stand at the same places."""
    page = opened("single")
    places = page.evaluate(
        """[...document.querySelectorAll('#timeline-2 .wide .s-grid')]
           .map(line => line.getBoundingClientRect()).filter(box => box.width < 1 && box.height > 10)
           .map(box => Math.round(box.left))"""
    )
    counts = {place: places.count(place) for place in places}
    assert len(counts) > 5
    assert set(counts.values()) == {4}


@pytest.mark.promise("The page prints on A4", "explanation/reading-the-report")
def test_it_prints_on_a4(opened: Opener, tmp_path: Path) -> None:
    page = opened("group")
    file = tmp_path / "report.pdf"
    page.pdf(path=str(file), prefer_css_page_size=True)
    content = file.read_bytes()
    assert content.startswith(b"%PDF")
    assert len(content) > 20_000
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 6
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("details .scroll").first.is_visible(), "what is folded stays folded"


@pytest.mark.promise("The first screen of a page has the verdict, the numbers and the caveats", "CHANGELOG")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", PAGES)
def test_the_first_screen_has_the_answer(looked_at: Opener, name: str, width: int, dark: bool) -> None:
    page = looked_at.shown(name, width, dark)
    places = []
    for part in (".badge", "h1", ".tiles", ".count"):
        found = page.locator(part)
        assert found.count() <= 1
        if found.count():
            assert found.is_visible()
            box = found.bounding_box()
            assert box is not None
            places.append((box["y"], box["y"] + box["height"]))
    assert len(places) >= 2
    assert places == sorted(places), "one below the other"
    assert places[-1][1] <= 800
    border, ink = (
        page.evaluate(f"getComputedStyle(document.querySelector('.badge')).{style}")
        for style in ("borderColor", "color")
    )
    assert page.locator(".sign").inner_text(), "a sign beside the colour"
    if name in ("single", "failed"):
        assert border != ink, "and a colour"


@pytest.mark.promise("Pages have no violation of accessibility that axe finds", "explanation/reading-the-report")
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (400, False)])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(looked_at: Opener, name: str, width: int, dark: bool) -> None:
    found = Axe().run(looked_at.shown(name, width, dark)).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []


@pytest.mark.promise("On a phone, the rows of a table are cards with the names of their columns", "CHANGELOG")
@pytest.mark.parametrize("name", PAGES)
def test_no_table_scrolls_sideways_on_a_phone(opened: Opener, name: str) -> None:
    page = opened(name, width=400)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    over = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(one => one.querySelector('.cards') "
        "&& one.scrollWidth > one.clientWidth).map(one => one.getAttribute('aria-label'))"
    )
    assert over == []
    cards = page.locator(".cards")
    assert cards.count() >= 3
    cell = cards.first.locator("td[data-name]").first
    name_of_it = page.evaluate("one => getComputedStyle(one, '::before').content", cell.element_handle())
    assert name_of_it.strip('"') == cell.get_attribute("data-name")
    assert cards.first.get_attribute("role") == "table", "also where it is drawn as something else"
