"""The dashboards as people see them, in headless Chromium: every page, clicks, keys, Back, a run in progress, files."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.screenshots import TURNIER, addresses, served, settle
from tests.dashboards.drawn_pages import run_of
from tests.server.browsers import needs_chromium, shot
from turnier.dashboards.links import run_address
from turnier.results.store.store import Store

pytestmark = needs_chromium
# What is drawn inside of a chart's axes, as large as it is.
DRAWN = """chart => [...chart.querySelectorAll('.role-mark path, .role-mark line')]
    .filter(mark => { const box = mark.getBoundingClientRect(); return box.width + box.height > 1 }).length"""
BRIGHTNESS = "Number(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0])"
SECOND = 1000  # ms
IN_VIEW = """one => { const box = one.getBoundingClientRect()
    return box.width > 0 && box.top >= 0 && box.left >= 0 && box.top < innerHeight && box.left < innerWidth }"""

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


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page that notes what it must not do: errors, refused words of our own, and requests to other machines."""
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    opened.wrong = []
    opened.on("pageerror", lambda error: opened.wrong.append(str(error)))
    told = ("error", "warning")
    opened.on("console", lambda message: opened.wrong.append(message.text) if message.type in told else None)
    opened.on("request", lambda request: opened.wrong.append(request.url) if not is_local(request.url) else None)
    yield opened
    assert opened.wrong == []
    opened.close()


def is_local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "data:", "blob:"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_drawn_with_no_error_and_no_blank_chart(
    page: Any, address: str, url: str, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 4000})  # charts are drawn where they are seen
    page.emulate_media(color_scheme=scheme)
    charts = 0
    for name, place in addresses(url).items():
        page.goto(f"{address}{place}")
        settle(page)
        drawn = page.query_selector_all("figure.chart")
        charts += len(drawn)
        assert all(chart.evaluate(DRAWN) > 0 for chart in drawn), f"{name}: a chart is blank"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than the screen"
        assert (page.evaluate(BRIGHTNESS) > 128) == (scheme == "light"), name
        assert not page.locator("main .trouble").count(), name
        shot(page, f"{name}_{width}_{scheme}")
    assert charts >= 18


# How far each chart was below the window when it was drawn, in px, and in which frame.
ORDER = """window.order = []; let frame = 0; const tick = () => { frame++; requestAnimationFrame(tick) }; tick()
new MutationObserver(changes => changes.forEach(({target}) =>
    order.push([Math.round(target.getBoundingClientRect().top - innerHeight), frame])
)).observe(document, {subtree: true, attributeFilter: ["data-drawn"]})"""
NEAR_DRAWN = """() => [...document.querySelectorAll('figure.chart')].every(one =>
    one.dataset.drawn || one.getBoundingClientRect().top > innerHeight + 500)"""


def test_charts_in_the_window_are_drawn_first_and_each_is_seen_before_the_next(
    page: Any, address: str, store: Store
) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.add_init_script(ORDER)
    page.goto(f"{address}{run_address(run_of(store, 'study').id, 'search')}")
    page.wait_for_function(NEAR_DRAWN)
    below, frames = zip(*page.evaluate("order"), strict=True)
    assert min(below) <= 0 < max(below)
    assert [away > 0 for away in below] == sorted(away > 0 for away in below)
    assert len(set(frames)) == len(frames) > 2


def test_a_chart_seen_again_is_there_before_vega_and_answers_a_click(page: Any, address: str, store: Store) -> None:
    run = run_of(store, "tournament", "yavalath").id
    page.goto(f"{address}{pairs(store)}")
    page.wait_for_function("() => Object.keys(sessionStorage).some(key => key.includes('Who beats whom'))")
    drawn = page.evaluate("document.querySelector('figure.chart .plot svg').outerHTML")
    delayed: list[Any] = []
    page.route("**/site/vega.js", lambda route: delayed.append(route))
    page.reload()
    chart = page.locator("figure.chart").first
    assert chart.get_attribute("data-drawn") == "kept"
    assert chart.locator(".plot svg").evaluate("one => one.outerHTML") == drawn
    chart.locator(".mark-rect.role-mark path").first.click(position={"x": 20, "y": 10})
    assert page.url == f"{address}{run_address(run, 'pairs')}"
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    for route in delayed:
        route.continue_()
    page.wait_for_url("**agent=**against=**")


def pairs(store: Store) -> str:
    return run_address(run_of(store, "tournament", "yavalath").id, "pairs")


def test_a_cell_shows_the_games_of_its_pair_in_view_escape_closes_and_back_goes_back(
    page: Any, address: str, store: Store
) -> None:
    place = f"{address}{pairs(store)}"
    page.goto(f"{address}{run_address(run_of(store, 'tournament', 'yavalath').id)}")
    page.evaluate("window.sameDocument = true")
    page.get_by_role("link", name="Pairs", exact=True).click()
    page.wait_for_url(place)
    settle(page)
    assert page.evaluate("window.sameDocument") is True  # so the script of charts stays
    page.locator("figure.chart svg .mark-rect.role-mark path").first.click(position={"x": 20, "y": 10})
    panel = page.locator(".panel")
    panel.wait_for()
    panel.locator("table.data tbody tr").first.wait_for(timeout=SECOND)
    assert panel.locator("h2").evaluate(IN_VIEW) and panel.locator(".boards img").first.evaluate(IN_VIEW)
    assert panel.locator("table.data tbody tr").first.evaluate(IN_VIEW)
    assert "agent=" in page.url and "against=" in page.url
    shared = page.url
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    assert page.url == place
    page.go_back()
    panel.wait_for()
    assert page.url == shared
    page.reload()
    panel.wait_for()
    page.go_back()
    panel.wait_for(state="detached")
    page.go_back()
    page.wait_for_url(place.removesuffix("/pairs"))


def test_a_mark_of_an_agent_shows_its_games(page: Any, address: str, store: Store) -> None:
    place = run_address(run_of(store, "tournament", "yavalath").id)
    page.goto(f"{address}{place}")
    settle(page)
    rated = page.locator("figure.chart", has=page.get_by_role("heading", name="Ratings", exact=True))
    rated.locator(".mark-symbol.role-mark path").first.click()
    page.wait_for_url(f"{address}{place}/games?agent=*")
    assert page.locator("select[name=agent]").input_value().startswith("mc")
    assert page.locator("table.data tbody tr").count() == 12


@pytest.mark.parametrize(
    ("kind", "name", "tab", "title"),
    [("study", "tiny", "search", "Candidates"), ("training", "", "", "Evaluations during training")],
)
def test_a_mark_of_a_search_or_a_training_shows_its_games(
    page: Any, address: str, store: Store, kind: str, name: str, tab: str, title: str
) -> None:
    place = run_address(run_of(store, kind, name).id)
    page.goto(f"{address}{place}/{tab}".rstrip("/"))
    chart = page.locator("figure.chart", has=page.get_by_role("heading", name=title, exact=True))
    chart.scroll_into_view_if_needed()
    chart.locator(".mark-symbol.role-mark path").last.click()
    page.wait_for_url(f"{address}{place}/games?agent=*")
    assert 0 < page.locator("table.data tbody tr").count() < 20


def test_a_cell_of_certainty_shows_the_positions_behind_it(page: Any, address: str, store: Store) -> None:
    page.goto(f"{address}{run_address(run_of(store, 'certainty').id)}")
    settle(page)
    page.locator("figure.chart[data-cells]").first.scroll_into_view_if_needed()
    page.locator("figure.chart[data-cells] .mark-rect.role-mark path").first.click(position={"x": 9, "y": 20})
    board = page.locator(".panel .diagrams a").first
    board.wait_for()
    assert board.locator("img").evaluate(IN_VIEW) and "first=" in page.url
    board.click()
    page.wait_for_url(f"{address}/match/*move=*")
    page.go_back()
    board.wait_for()


def test_a_choice_is_in_the_address_once_and_reload_keeps_it(page: Any, address: str) -> None:
    place = f"{address}/runs/study:tiny/search"
    page.goto(place)
    settle(page)
    page.locator("select[name=parameter]").select_option(index=1)
    page.wait_for_url(f"{place}?parameter=*")
    chosen = page.locator("select[name=parameter]").input_value()
    page.get_by_role("heading", name=f"By {chosen}", exact=True).wait_for()
    page.reload()
    assert page.locator("select[name=parameter]").input_value() == chosen
    page.go_back()
    page.wait_for_url(place)
    page.wait_for_function(f"() => document.querySelector('select[name=parameter]').value !== '{chosen}'")


def test_runs_are_found_sorted_and_set_side_by_side(page: Any, address: str, store: Store) -> None:
    page.goto(address)
    rows = page.locator("#runs tbody tr:visible")
    page.locator("input[type=search]").fill("yavalath")
    assert rows.count() == 1 and page.locator(".wide[data-none]").count() == 0
    page.locator("input[type=search]").fill("nothing has this")
    assert rows.count() == 0 and page.locator(".wide[data-none]").count() == 1
    page.locator("input[type=search]").fill("")
    page.get_by_role("button", name="games", exact=True).click()
    numbers = page.eval_on_selector_all("#runs td[data-number]", "all => all.map(one => Number(one.dataset.number))")
    assert numbers == sorted(numbers, reverse=True) and len(numbers) == len(store.runs())
    for box in page.locator("#runs input[type=checkbox]").all()[:2]:
        box.check()
    page.get_by_role("button", name="Set the ticked runs side by side").click()
    page.wait_for_url("**/compare?run=*&run=*")
    assert page.get_by_role("heading", name="Settings that differ").evaluate(IN_VIEW)
    page.get_by_role("link", name="League").click()
    page.wait_for_function("() => document.querySelector('header [aria-current]')?.textContent === 'League'")


def test_a_chart_is_saved_as_pictures_and_data(page: Any, address: str, store: Store) -> None:
    page.goto(f"{address}{run_address(run_of(store, 'tournament', 'yavalath').id)}")
    settle(page)
    figure = page.locator("figure.chart", has=page.get_by_role("heading", name="Points", exact=True))
    for kind, begin in {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"name,value,low,high,games"}.items():
        with page.expect_download() as download:
            figure.get_by_role("link", name=kind, exact=True).click()
        assert Path(download.value.path()).read_bytes().startswith(begin)
        assert download.value.suggested_filename == f"points.{kind.lower()}"


def test_a_game_leads_to_the_board_and_back_to_its_run(page: Any, address: str, store: Store) -> None:
    run = run_of(store, "tournament", "yavalath").id
    page.goto(f"{address}{run_address(run, 'games')}")
    page.locator(".boards a").first.click()
    page.wait_for_url("**/match/*")
    page.locator("#place").wait_for()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#move=2")
    page.get_by_role("link", name="Back to the run").click()
    page.wait_for_url(f"**{run_address(run)}")


def test_dashboard_of_optuna_is_shown_below_our_address(page: Any, address: str) -> None:
    page.goto(f"{address}/runs/study:decided")
    page.get_by_role("link", name="This study in optuna-dashboard").click()
    page.get_by_text("decided").first.wait_for(timeout=60_000)


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
                done = page.locator("section.running dd").first
                done.wait_for(timeout=60_000)
                seen = {done.inner_text()}
                for _ in range(120):
                    page.wait_for_timeout(500)
                    seen.add(done.inner_text())
                    if len(seen) >= 3:
                        break
                assert len(seen) >= 3 and all("of 100,000 games" in text for text in seen)
                assert page.evaluate("window.sameDocument") is True
                page.locator("section.running h3 a").click()
                page.get_by_text("Running: ").wait_for(timeout=60_000)
                page.locator("figure.chart[data-drawn] svg").first.wait_for(timeout=60_000)
                page.evaluate(
                    "window.sameDocument = true; window.before = document.querySelector('.state').textContent"
                )
                page.wait_for_function("() => document.querySelector('.state').textContent !== before", timeout=60_000)
                assert page.evaluate("window.sameDocument") is True
            finally:
                run.kill()
        page.get_by_role("link", name="Runs", exact=True).first.click()
        page.get_by_text("Nothing is running").wait_for(timeout=60_000)
