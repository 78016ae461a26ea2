"""The dashboards as people see them, in headless Chromium: every page, a run in progress, arrow keys, saved files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from docs.screenshots import PAGES, TURNIER, browser, served, settle
from turnier.dashboards.links import run_address
from turnier.results.store.store import Store

pytestmark = pytest.mark.skipif(
    not (shutil.which("chromium") or os.environ.get("CHROMIUM")), reason="needs Chromium: apt-get install chromium"
)
ERRORS = "[data-testid=stException], [data-testid=stAlertContentError], [data-testid=stAlertContentWarning]"
# What is drawn inside of a chart's axes, as large as it is.
DRAWN = """chart => [...chart.querySelectorAll('.role-mark path, .role-mark line')]
    .filter(mark => { const box = mark.getBoundingClientRect(); return box.width + box.height > 1 }).length"""
BRIGHTNESS = "Number(getComputedStyle(document.querySelector('.stApp')).backgroundColor.match(/[0-9]+/)[0])"
CHART = "[data-testid=stVegaLiteChart] svg.marks"

IDLER = """
import time
import numpy as np
from dataclasses import dataclass
from turnier.agents.agent import Agent, Decision
@dataclass(frozen=True)
class Idler(Agent):
    def start(self, game, seat=0, seed=0):
        return Player()
class Player:
    def act(self, position):
        time.sleep(0.05)
        return Decision(position.legal_actions()[0], np.zeros(9), np.zeros(9), 0, 0.0)
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(url: str) -> Iterator[str]:
    with served(url) as at:
        yield at


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page that notes what it must not do: errors of scripts, and requests to other machines."""
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    opened.wrong = []
    opened.on("pageerror", lambda error: opened.wrong.append(str(error)))
    opened.on("request", lambda request: opened.wrong.append(request.url) if not is_local(request.url) else None)
    yield opened
    assert opened.wrong == []
    opened.close()


def is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_drawn_with_no_error_and_no_blank_chart(page: Any, address: str, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    charts = 0
    for name in PAGES:
        page.goto(f"{address}/{name}")
        settle(page)
        wrong = [element.inner_text() for element in page.query_selector_all(ERRORS)]
        assert not wrong, f"{name}: {wrong}"
        drawn = page.query_selector_all(CHART)
        charts += len(drawn)
        assert all(chart.evaluate(DRAWN) > 0 for chart in drawn), f"{name}: a chart is blank"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than the screen"
        assert (page.evaluate(BRIGHTNESS) > 128) == (scheme == "light")
        title = page.locator("h1").inner_text().partition(":")[0]
        assert title == (name or "runs").capitalize() and page.title().endswith(f"{title} · Turnier")
    assert charts >= 18


def test_pages_are_reached_by_their_names(page: Any, address: str) -> None:
    page.goto(address)
    settle(page)
    for name in ("Scores", "Tournament", "Replay"):
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_url(f"**/{name.lower()}*")
        settle(page)
        assert not page.query_selector_all(ERRORS)


def kind(link: str) -> tuple[str, ...]:
    """Returns what tells links apart of which each is followed once: page, run, and what else the address has."""
    place, values = urlsplit(link), parse_qs(urlsplit(link).query)
    return (place.path, *values.get("run", ()), *sorted(values))


@pytest.mark.long
def test_links_of_every_kind_on_every_page_lead_to_a_page_without_an_error(
    page: Any, address: str, store: Store
) -> None:
    waiting, seen, titles = [f"{address}/{name}" for name in PAGES], set[str](), set[str]()
    followed = {kind(link) for link in waiting}
    while waiting:
        where = waiting.pop()
        page.goto(where)
        settle(page)
        wrong = [element.inner_text() for element in page.query_selector_all(ERRORS)]
        assert not wrong, f"{where}: {wrong}"
        titles.add(page.title())
        links = page.eval_on_selector_all("[data-testid=stMain] a[href]", "all => all.map(a => a.href.split('#')[0])")
        found = {link for link in links if link.startswith(address)} - seen
        seen |= found
        new = {kind(link): link for link in sorted(found) if kind(link) not in followed}
        followed |= set(new)
        waiting += new.values()
    assert {link.removeprefix(f"{address}/") for link in seen} >= {run_address(run) for run in store.runs()}
    assert len(titles) >= len(store.runs())  # tabs are told apart


def test_arrow_keys_go_through_a_match_and_the_address_follows(page: Any, address: str) -> None:
    page.goto(f"{address}/replay")
    settle(page)
    page.get_by_text("Move 1: seat 0").wait_for()
    for number in (2, 3):
        page.keyboard.press("ArrowRight")
        page.get_by_text(f"Move {number}: seat").wait_for()
        settle(page)
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Move 2: seat").wait_for()
    shared = page.url
    assert "move=1" in shared and "match=" in shared
    page.goto("about:blank")
    page.goto(shared)
    page.get_by_text("Move 2: seat").wait_for()


def test_a_cell_of_who_beats_whom_shows_the_games_of_its_agents(page: Any, address: str) -> None:
    page.goto(f"{address}/tournament")
    settle(page)
    square = page.locator("[data-testid=stVegaLiteChart]").first
    heading = page.locator("h5", has_text="Games of ")
    shown = {page.evaluate("location.search")}
    for mark in ("rect mark", "text mark"):  # a text covers the middle of its cell
        square.locator(f"[aria-roledescription='{mark}']").nth(len(shown)).click(position={"x": 3, "y": 3})
        page.wait_for_function("known => !known.includes(location.search)", arg=list(shown))
        settle(page)
        shown.add(page.evaluate("location.search"))
        assert "agent=" in page.url and "against=" in page.url and heading.count() == 1


def test_what_the_board_shows_is_switched_and_arrow_keys_still_go_on(page: Any, address: str, store: Store) -> None:
    run = next(run.id for run in store.runs() if run.name.startswith("spe_ed"))
    page.goto(f"{address}/replay?run={run}&move=2")
    settle(page)
    board = page.locator("[data-testid=stImage] img")
    pictures = [board.get_attribute("src")]
    for name in ("Paths", "Probabilities"):
        page.get_by_role("button", name=name).click()
        page.wait_for_url(f"**{name.lower()}=off*")
        settle(page)
        pictures.append(board.get_attribute("src"))
    assert len(set(pictures)) >= 2 and None not in pictures
    page.keyboard.press("ArrowRight")
    page.get_by_text("Move 4: seat").wait_for()
    page.wait_for_url("**move=3*")
    assert "paths=off" in page.url and "probabilities=off" in page.url


def test_a_chart_is_saved_as_pictures_and_data(page: Any, address: str) -> None:
    page.goto(f"{address}/scores")
    settle(page)
    page.get_by_role("button", name="Save").first.click()
    begins = {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"name,value,low,high,games"}
    for kind, begin in begins.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        assert Path(download.value.path()).read_bytes().startswith(begin)
        assert download.value.suggested_filename == f"points.{kind.lower()}"


def test_a_run_in_progress_moves_without_a_reload(page: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/live.db"  # which the run makes, after the dashboards have started
    # It waits rather than computes: the browser needs the processor.
    (tmp_path / "idler.py").write_text(IDLER)
    agents = ("random", f"{tmp_path}/idler.py:Idler")
    words = ("tournament", "tictactoe", *agents, "--games", "100000", "--store", url)
    with served(url) as address:
        page.goto(address)
        page.get_by_text("No run is stored here yet").wait_for()
        page.evaluate("window.sameDocument = true")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([*TURNIER, *words, "--executor", "threads", "--workers", "1"], **quiet) as run:
            try:
                done = page.locator(".facts b").first
                done.wait_for(timeout=60_000)
                seen = {done.inner_text()}
                for _ in range(120):
                    page.wait_for_timeout(500)
                    seen.add(done.inner_text())
                    if len(seen) >= 3:
                        break
                assert len(seen) >= 3 and all("of 100,000 games" in text for text in seen)
                page.get_by_role("link", name="Tournament", exact=True).first.click()
                page.get_by_text("Who beats whom").wait_for(timeout=60_000)
                chart = f"document.querySelector('{CHART}')?.outerHTML"
                page.wait_for_function(f"window.before = {chart}", timeout=60_000)
                page.wait_for_function(f"({chart} ?? window.before) !== window.before", timeout=60_000)
                assert page.evaluate("window.sameDocument") is True
            finally:
                run.kill()
        page.get_by_role("link", name="Runs", exact=True).first.click()
        page.get_by_text("Nothing is running").wait_for(timeout=60_000)
