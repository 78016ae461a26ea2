"""Whole games played by clicks and keys in a real browser, against agents and by two people with links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.browsers import needs_chromium, shot
from turnier.arena.match_json import disagreement
from turnier.results.store.store import Store

from .served_board import ServedBoard, served_board

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('tables')}/games.db"


@pytest.fixture(scope="module")
def board(url: str) -> Iterator[ServedBoard]:
    with served_board(url) as served:
        yield served


def sit_down(page: Any, board: ServedBoard, game: str, *agents: str) -> None:
    page.goto(board.address)
    page.locator("#game").fill(game)
    page.locator("#game").dispatch_event("change")
    playwright.expect(page.locator("#seats input")).to_have_count(len(agents))
    for seat, agent in enumerate(agents):
        page.locator(f"#seat{seat}").fill(agent)
    page.locator("#begin").click()
    playwright.expect(page.locator("#board svg")).to_be_visible()


def click_a_move(page: Any, number: int) -> None:
    """Clicks on the board where that is possible, otherwise on a button."""
    cells, buttons = page.locator("#board .can"), page.locator("#actions button")
    page.locator("#board .can, #actions button").first.wait_for()
    found = cells if cells.count() else buttons
    found.nth(number % found.count()).click()


def play_by_clicks(page: Any) -> str:
    """Plays until the end; returns the id of the stored match."""
    number = 0
    finished, mine = page.locator("#replay"), page.locator("#says", has_text="Your move.")
    while True:
        finished.or_(mine).first.wait_for()
        if finished.count():
            return str(finished.get_attribute("href")).rpartition("/")[2]
        moves = page.locator("#moves span").count()
        click_a_move(page, 7 * number)
        number += 1
        page.locator("#moves span").nth(moves).or_(finished).first.wait_for()


@pytest.mark.parametrize(
    ("game", "agents"),
    [
        ("yavalath(players=3)", ["human(name=Ann)", "mcts(iterations=50)", "mcts(iterations=50)"]),
        ("hex(size=4)", ["mcts(iterations=50)", "human(name=Ann)"]),
        ("spe_ed(players=2,width=14,height=14)", ["human(name=Ann)", "basic"]),
        ("connect_four", ["human(name=Ann)", "mcts(iterations=50)"]),
    ],
)
def test_a_whole_game_by_clicks(page: Any, board: ServedBoard, url: str, game: str, agents: list[str]) -> None:
    sit_down(page, board, game, *agents)
    match = play_by_clicks(page)
    with Store.open(url, read_only=True) as store:
        record = store.record(match)
    assert disagreement(record) is None
    assert "human(name=Ann)" in record.spec.agents
    assert "won" in page.locator("#says").inner_text() or "draw" in page.locator("#says").inner_text()
    page.locator("#replay").click()
    playwright.expect(page.locator("#place")).to_contain_text(f"of {sum(record.decisions)}")


def test_seats_wait_for_their_game(page: Any, board: ServedBoard) -> None:
    page.goto(board.address)
    seat = page.locator("#seat0")
    playwright.expect(seat).to_have_value("human(name=Me)")

    held: list[Any] = []
    page.route("**/api/game?text=hex", lambda route: held.append(route))
    game = page.locator("#game")
    game.fill("hex")
    game.dispatch_event("change")
    playwright.expect(seat).to_be_disabled()
    game.fill("yavalath(players=3)")
    game.dispatch_event("change")
    playwright.expect(page.locator("#seats input")).to_have_count(3)
    seat.fill("human(name=Ann)")
    held[0].continue_()
    page.wait_for_timeout(300)
    playwright.expect(page.locator("#seats input")).to_have_count(3)
    playwright.expect(seat).to_have_value("human(name=Ann)")


def test_a_whole_game_of_2048_by_arrow_keys(page: Any, board: ServedBoard, url: str) -> None:
    sit_down(page, board, "2048(size=3)", "human(name=Ann)")
    finished = page.locator("#replay")
    for _ in range(400):
        for key in ("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp"):
            page.keyboard.press(key)
            page.wait_for_timeout(15)
        if finished.count():
            break
    playwright.expect(finished).to_be_visible()
    shot(page, "table_2048")
    with Store.open(url, read_only=True) as store:
        record = store.record(str(finished.get_attribute("href")).rpartition("/")[2])
    assert record.termination == "normal"
    assert f"{record.scores[0]:,.0f} points" in page.locator("#says").inner_text()


def test_a_move_of_two_clicks(page: Any, board: ServedBoard) -> None:
    pytest.importorskip("chess")
    sit_down(page, board, "chess", "human(name=Ann)", "random")
    page.locator('[data-cell="12"]').click()  # the pawn on e2
    playwright.expect(page.locator('[data-cell="12"].first')).to_be_visible()
    page.locator('[data-cell="28"]').click()
    playwright.expect(page.locator("#moves")).to_contain_text("1 e2e4")


def test_hint_undo_and_a_seat_given_away(page: Any, board: ServedBoard) -> None:
    sit_down(page, board, "yavalath", "human(name=Ann)", "mcts(iterations=50)")
    click_a_move(page, 30)
    playwright.expect(page.locator("#moves span")).to_have_count(2)
    page.locator("#hinting").fill("mcts(iterations=700)")
    page.locator("#hint").click()
    playwright.expect(page.locator("#hinted")).to_contain_text("Best:")
    shot(page, "table_yavalath")
    page.locator("#undo").click()
    playwright.expect(page.locator("#moves span")).to_have_count(0)
    page.on("dialog", lambda dialog: dialog.accept("human(name=Bo)"))
    page.get_by_role("button", name="Take over").click()
    playwright.expect(page.locator("#seats")).to_contain_text("Bo")


def test_two_people_by_links(browser: Any, page: Any, board: ServedBoard) -> None:
    sit_down(page, board, "tictactoe", "human(name=Ann)", "human(name=Bo)")
    table = page.url.partition("?")[0]
    key = page.evaluate("JSON.parse(sessionStorage.getItem('links of ' + location.pathname.split('/')[2]))[1]")
    other, onlooker = browser.new_page(), browser.new_page()
    other.goto(f"{table}?key={key}")
    onlooker.goto(table)
    playwright.expect(other.locator("#says")).to_have_text("Ann is to move.")
    click_a_move(page, 4)
    playwright.expect(other.locator("#says")).to_have_text("Your move.")
    playwright.expect(onlooker.locator("#says")).to_have_text("Bo is to move.")
    assert onlooker.locator("#undo").is_hidden()
    assert onlooker.locator("#board .can").count() == 0
    click_a_move(other, 0)
    playwright.expect(page.locator("#says")).to_have_text("Your move.")
    playwright.expect(onlooker.locator("#moves span")).to_have_count(2)
    other.close()
    onlooker.close()


def test_a_button_keeps_the_focus_while_others_move(page: Any, board: ServedBoard) -> None:
    """All are made anew at each move, and those of moves are away while others think."""
    sit_down(page, board, "spe_ed(players=2,width=14,height=14)", "human(name=Ann)", "basic")
    chosen = page.locator("#actions button", has_text="change nothing")
    chosen.focus()
    for moves in (2, 4, 6):
        page.keyboard.press("Enter")
        playwright.expect(page.locator("#moves span")).to_have_count(moves)
        playwright.expect(chosen).to_be_focused()
    page.keyboard.press("ArrowLeft")  # still a move
    playwright.expect(page.locator("#moves span")).to_have_count(8)
    change = page.locator("#seats button").first
    change.focus()
    page.keyboard.press("ArrowLeft")
    playwright.expect(page.locator("#moves span")).to_have_count(10)
    playwright.expect(change).to_be_focused()
    undo = page.locator("#undo")  # disabled while others think
    undo.focus()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#moves span")).to_have_count(8)
    page.keyboard.press("ArrowLeft")
    playwright.expect(page.locator("#moves span")).to_have_count(10)
    playwright.expect(undo).to_be_focused()
