"""The live page in a real browser: a game watched to its end, paused, slowed down, gone through by hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.spe_ed.served import eventually, rules, say, served, state

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def shot(page: Any, name: str) -> None:
    """Keeps a picture where TURNIER_SCREENSHOTS names a folder."""
    if os.environ.get("TURNIER_SCREENSHOTS"):
        page.screenshot(path=Path(os.environ["TURNIER_SCREENSHOTS"]) / f"{name}.png", full_page=True)


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
        playwright.expect(page.locator("#says")).to_contain_text("over", timeout=20_000)
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
