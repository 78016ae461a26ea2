"""The live page in a real browser: a game watched to its end, paused, slowed down, gone through by hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.server.browsers import needs_chromium, shot
from tests.server.spe_ed.served import Served, eventually, rules, say, served, state
from turnier.server.spe_ed.configuration import Limits
from turnier.server.spe_ed.official_log import read_log
from turnier.server.spe_ed.traffic import LimitedProtocol

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = needs_chromium


def test_a_game_is_watched_to_its_end(browser: Any) -> None:
    with served(rules(players=3, side=14), own=("basic", "basic")) as server:
        page = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=2)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://{server.address}/")
        playwright.expect(page.locator("#lobby")).to_contain_text("0 of 1 places taken")
        with server.join() as client:
            state(client)
            playwright.expect(page.locator("#says")).to_have_text("round 0")
            for number in (1, 2, 3):
                say(client)
                state(client)
                playwright.expect(page.locator("#says")).to_have_text(f"round {number}")
            shot(page, "running")
            page.get_by_label("pause").click()
            say(client)
            running = state(client)["running"]
            eventually(lambda: len(page.evaluate("rounds")) == 5)
            page.wait_for_timeout(300)
            assert page.locator("#says").inner_text() == "round 3"  # it stays
            page.get_by_label("resume").click()
            playwright.expect(page.locator("#says")).to_contain_text("round 4")
            while running:
                say(client)
                running = state(client)["running"]
        record = eventually(lambda: server.records)[0]
        rounds = int(record.facts["rounds"])
        playwright.expect(page.locator("#says")).to_contain_text(f"round {rounds} — over" if rounds % 6 else "over")
        items = page.locator("#players li")
        assert items.count() == 3
        out = server.out()
        for number, reason in out.items():
            playwright.expect(items.nth(int(number) - 1)).to_contain_text(reason)
        shot(page, "over")
        page.get_by_label("one round back").click()
        playwright.expect(page.locator("#says")).to_contain_text(f"round {rounds - 1}")
        page.locator("#round").fill("0")
        playwright.expect(page.locator("#says")).to_have_text("round 0")
        start = server.lobby.rooms[0].live.rounds[0]["cells"]
        assert page.evaluate("Array.from(cells).filter(c => c).length") == len(start) == 3
        page.locator("#speed").select_option("16")
        page.get_by_label("resume").click()
        playwright.expect(page.locator("#says")).to_contain_text("over")
        final = server.get("/games/0")[2]
        last = {cell: value for played in final["rounds"] for cell, value in played["cells"]}
        assert page.evaluate("Array.from(cells).filter(c => c).length") == len(last)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390  # nothing sticks out on a phone
        assert not errors
        page.close()


def test_several_games_can_be_chosen(browser: Any) -> None:
    with served(rules(players=2, side=14), own=("basic",)) as server:
        for moves in range(3):
            with server.join() as client:
                for _ in range(moves):
                    state(client)
                    say(client)
                state(client)
            eventually(lambda: not server.lobby.clients and not server.lobby.tasks)
        assert [record.facts["rounds"] for record in server.records] == [1, 2, 3]
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        page.goto(f"http://{server.address}/")
        buttons = page.locator("#games button")
        playwright.expect(buttons).to_have_count(3)
        for index, number in ((0, 2), (2, 0)):
            buttons.nth(index).click()
            rounds = int(server.records[number].facts["rounds"])
            playwright.expect(page.locator("#says")).to_contain_text(f"round {rounds}")
        shot(page, "wide")
        page.close()


def test_the_button_of_a_game_keeps_the_focus_while_another_game_is_played(browser: Any) -> None:
    with served(rules(players=2, side=14), own=("basic",)) as server:
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        with server.join() as client:
            state(client)
        eventually(lambda: server.records)
        page.goto(f"http://{server.address}/")
        first = page.locator("#games button", has_text="game 0")
        first.focus()
        with server.join() as client:
            state(client)
            for number in (0, 1, 2):
                playwright.expect(page.locator("#games button").first).to_contain_text(f"game 1: round {number}")
                playwright.expect(first).to_be_focused()
                say(client)
                state(client)
        page.keyboard.press("Enter")
        playwright.expect(page.locator("#says")).to_contain_text("over")
        playwright.expect(first).to_be_focused()
        assert first.get_attribute("aria-current") == "true"
        page.close()


def test_the_round_is_timed_and_keys_step_through_a_game_that_is_then_saved(browser: Any) -> None:
    with served(rules(players=2, side=14, timeout=60), own=("basic",)) as server:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://{server.address}/")
        with server.join() as client:
            state(client)
            clock = page.locator("#clock")
            playwright.expect(clock).to_have_text(re.compile(r"^5\d s left, waiting for name1$"))
            playwright.expect(page.locator("#players li").nth(0)).to_contain_text("thinking")
            playwright.expect(page.locator("#players li").nth(1)).to_contain_text(
                re.compile(r"answered after \d+\.\d+ s")
            )
            shot(page, "timed")
            running = True
            while running:
                say(client)
                running = state(client)["running"]
        eventually(lambda: server.records)
        says = page.locator("#says")
        playwright.expect(says).to_contain_text("over")
        last = int(server.records[0].facts["rounds"])
        for key, number in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last)):
            page.keyboard.press(key)
            playwright.expect(says).to_contain_text(f"round {number}")
        with page.expect_download() as log:
            page.get_by_text("Save the log").click()
        names, states = read_log(Path(log.value.path()))
        assert names == ["name1", "basic"] and len(states) == 1 + last
        page.locator("#speed").select_option("16")
        with page.expect_download() as video:
            page.get_by_text("Save a video").click()
        assert Path(video.value.path()).stat().st_size > 1000
        assert not errors
        page.close()


def test_a_hundred_pages_of_one_address_take_nothing_from_the_players() -> None:
    limits = Limits(requests_per_second=0.01, request_burst=110)
    with served(rules(players=2, side=60), limits=limits) as server, contextlib.ExitStack() as pages:
        viewers = [pages.enter_context(watching(server)) for _ in range(100)]
        clients = [server.join(f"key{number}") for number in (1, 2)]
        for _ in range(20):
            for client in clients:
                state(client)
            for client in clients:
                say(client)
            assert server.get("/spe_ed_time")[0] == 200
        for viewer in viewers:
            viewer.send('{"game":0,"from":5}')
        for viewer in viewers:
            seen: dict[str, Any] = {}
            while "rounds" not in seen:
                seen = json.loads(viewer.recv(timeout=20))
            assert (seen["game"], seen["from"]) == (0, 5) and seen["rounds"][0]["cells"]
        refused = [server.get("/games") for _ in range(30)][-1]
        assert refused[0] == 429 and refused[1]["Retry-After"] == "1"
        assert server.get("/spe_ed_time")[0] == 200  # players are not refused with them


@pytest.mark.parametrize("message", ["x", "[]", '{"game":"0","from":0}', '{"game":0,"from":-1}', b"\x00"])
def test_a_page_that_says_something_else_is_cut_off(message: str | bytes) -> None:
    with served(rules(players=2)) as server, watching(server) as viewer:
        viewer.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            list(viewer)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008


def watching(server: Served) -> ClientConnection:
    return connect(f"ws://{server.address}/watch", compression=None, ping_interval=None, proxy=None)


def test_a_page_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    takes = LimitedProtocol.send

    async def stuck(connection: LimitedProtocol, message: Any) -> None:
        """As with a full buffer, which no reader empties."""
        if message["type"] == "websocket.send":
            await asyncio.Event().wait()
        await takes(connection, message)

    monkeypatch.setattr(LimitedProtocol, "send", stuck)
    with served(rules(players=2), limits=Limits(send_seconds=0.2)) as server, watching(server) as viewer:
        with pytest.raises(ConnectionClosed) as closed:
            list(viewer)
        assert closed.value.rcvd is not None and closed.value.rcvd.reason == "nothing read for 0.2 s"


def test_more_pages_than_may_watch_are_told_to_come_again() -> None:
    with served(rules(players=2), limits=Limits(viewers=1)) as server:
        with watching(server):
            with pytest.raises(InvalidStatus) as refused, watching(server):
                pass
            assert refused.value.response.status_code == 503
            assert refused.value.response.headers["Retry-After"] == "10"
        eventually(lambda: admitted(server))


def admitted(server: Served) -> bool:
    """Whether a page may watch."""
    with contextlib.suppress(InvalidStatus), watching(server):
        return True
    return False
