"""Replays in a real browser: keys that are never lost, autoplay, the graph, the costliest move, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.playing import played
from tests.server.browsers import needs_chromium, shot
from turnier.arena.match import MatchRecord

from .served_board import ServedBoard, served_board, store_with

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = needs_chromium
LONG, LOST = 0, 1  # of the matches


@pytest.fixture(scope="module")
def records() -> list[MatchRecord]:
    long = played("2048", "expectimax(depth=3,evaluator=rows2048)", seed=2)
    lost = played("yavalath", "mcts(iterations=20)", "mcts(iterations=2000)", seed=5)
    assert sum(long.decisions) >= 2000
    assert lost.scores == (-1.0, 1.0)
    return [long, lost]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory, records: list[MatchRecord]) -> Iterator[ServedBoard]:
    with served_board(store_with(tmp_path_factory.mktemp("board"), *records)) as served:
        yield served


def place(page: Any) -> int:
    text = page.locator("#place").inner_text()
    return int(re.findall(r"[\d]+", text)[0])


def at(page: Any, move: int) -> None:
    """Waits until the page shows a move."""
    playwright.expect(page.locator("#place")).to_contain_text(f"move {move} of")


def test_no_key_is_lost(page: Any, board: ServedBoard, records: list[MatchRecord]) -> None:
    page.goto(f"{board.address}/match/{records[LONG].spec.id}#move=700")
    at(page, 700)
    drawn = page.locator("#board").inner_html()
    for _ in range(60):  # in 3 s
        page.keyboard.press("ArrowRight", delay=25)
        page.wait_for_timeout(20)
    at(page, 760)
    assert page.locator("#board").inner_html() != drawn
    for _ in range(60):
        page.keyboard.press("ArrowLeft")
    at(page, 700)
    assert page.locator("#board").inner_html() == drawn
    page.keyboard.press("End")
    playwright.expect(page.locator("#place")).to_contain_text(f"the end, after {sum(records[LONG].decisions)} moves")
    page.keyboard.press("Home")
    at(page, 1)
    shot(page, "replay_2048")


def test_it_plays_by_itself(page: Any, board: ServedBoard, records: list[MatchRecord]) -> None:
    page.goto(f"{board.address}/match/{records[LOST].spec.id}")
    page.locator("#speed").select_option("30")
    page.locator("#play").click()
    playwright.expect(page.locator("#place")).to_contain_text("the end")
    playwright.expect(page.locator("#play")).to_have_text("Play")
    page.locator("#scrub").fill("2")
    at(page, 3)
    page.locator("#moves button").nth(4).click()
    at(page, 5)
    assert page.url.endswith("#move=5")


def test_the_costliest_move_of_a_lost_game_is_found_by_a_click(
    page: Any, board: ServedBoard, records: list[MatchRecord]
) -> None:
    page.goto(f"{board.address}/match/{records[LOST].spec.id}")
    page.locator("#judge").fill("mcts(iterations=3000)")
    page.get_by_role("button", name="Ask", exact=True).click()
    playwright.expect(page.locator(".keys")).to_contain_text("by mcts(iterations=3000)")
    playwright.expect(page.locator("#thoughts")).to_have_attribute("data-opinions", "2")
    playwright.expect(page.locator("#costly")).to_be_enabled()
    page.locator("#costly").click()
    costly = page.locator("#thoughts").inner_text()
    cost = float(re.findall(r"mcts\(iterations=3000\): cost ([\d.]+)", costly)[0])
    move = place(page)
    events = board.events(f"/api/matches/{records[LOST].spec.id}/opinions?agent=mcts(iterations=3000)")
    values = {}
    for _, opinion in events[:-1]:
        values[opinion["move"] + 1] = next(a[2] for a in opinion["actions"] if a[0] == opinion["choice"])
    last = max(values)
    after = {n: values.get(n + 2, records[LOST].scores[(n - 1) % 2]) for n in values}
    costs = {n: values[n] - after[n] for n in values}
    assert costs[move] == max(costs.values())
    assert cost == pytest.approx(costs[move], abs=0.006)
    assert move <= last
    assert page.locator("tr.played").count() == 1
    assert page.locator(".graph polyline").count() >= 3
    shot(page, "replay_yavalath")


def test_certainty_and_the_most_uncertain_move(page: Any, board: ServedBoard, records: list[MatchRecord]) -> None:
    page.goto(f"{board.address}/match/{records[LOST].spec.id}")
    playwright.expect(page.locator("#thoughts table")).to_be_visible()
    page.locator("#again").click()
    playwright.expect(page.locator("#uncertain")).to_be_enabled()
    playwright.expect(page.locator(".keys")).to_contain_text("certainty")
    playwright.expect(page.locator("#thoughts")).to_contain_text("of 8 searches")
    playwright.expect(page.locator("#thoughts")).to_have_attribute("data-certainty", "1")
    page.locator("#uncertain").click()
    events = board.events(f"/api/matches/{records[LOST].spec.id}/certainty?repeats=8")
    least = min((event["certainty"], event["move"]) for _, event in events[:-1])
    assert least[0] < 1
    assert place(page) == least[1] + 1


def test_a_link_leads_to_its_move_and_what_is_missing_is_said(
    page: Any, board: ServedBoard, records: list[MatchRecord]
) -> None:
    page.goto(f"{board.address}/match/{records[LONG].spec.id}#move=1234")
    at(page, 1234)
    page.goto(board.address)
    playwright.expect(page.locator("#matches li")).to_have_count(2)
    page.locator("#matches a").first.click()
    playwright.expect(page.locator("#board svg")).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_a_move_keeps_the_focus_from_one_position_to_the_next(page: Any, board: ServedBoard) -> None:
    page.goto(f"{board.address}/analyse")
    page.locator("#game").fill("spe_ed(players=2,width=14,height=14)")
    page.locator("#set").click()
    chosen = page.locator("#actions button", has_text="change nothing")
    chosen.focus()
    for seat in (1, 0, 1):
        page.keyboard.press("Enter")
        playwright.expect(page.locator("#says")).to_contain_text(f"Seat {seat} is to move")
        playwright.expect(chosen).to_be_focused()


def test_a_position_of_a_replay_is_analysed(page: Any, board: ServedBoard, records: list[MatchRecord]) -> None:
    page.goto(f"{board.address}/match/{records[LOST].spec.id}#move=5")
    at(page, 5)
    drawn = page.locator("#board circle").count()
    page.locator("#analysis").click()
    playwright.expect(page.locator("#says")).to_contain_text("Seat 0 is to move")
    assert page.locator("#board circle").count() == drawn == 4
    page.locator("#agentlist").fill("mcts(iterations=200) ; alphabeta(depth=2)")
    page.locator("#seconds").fill("60")  # it ends with the page
    page.locator("#analyse").click()
    playwright.expect(page.locator("#results .agent")).to_have_count(2)
    playwright.expect(page.locator("#results")).to_contain_text("certainty")
    shot(page, "analysis")
    page.locator("#board .can, #board [data-cell]").nth(30).click()
    playwright.expect(page.locator("#says")).to_contain_text("Seat 1 is to move")
