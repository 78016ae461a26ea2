"""Questions of people who do not know the pages: each answer is text in view, a click from the run.

How far a run is, and which games failed, is asked of stores that have such runs: test_runs_page.py, test_failures.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from docs.screenshots import browser, served, settle
from tests.dashboards.drawn_pages import run_of
from tests.server.browsers import needs_chromium
from turnier.dashboards.links import run_address
from turnier.results.store.store import Store

pytestmark = needs_chromium
LATEST = 10_000  # ms from a click to the answer: a busy machine needs longer than people should wait
SEEN = """([tab, answer]) => {
    if (tab !== document.querySelector('.tabs [aria-current]')?.textContent) return false
    const wanted = new RegExp(answer, 'i')
    return [...document.querySelectorAll('main *')].some(one => {
        const box = one.getBoundingClientRect()
        return !one.children.length + one.matches('tr, .verdict, svg text, dl, p, td, pre, h2')
            && wanted.test(one.textContent) && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight
    })
}"""
QUESTIONS = {
    "which agent is best, how sure": ("tournament", "yavalath", "Result", r"leads: .*the best of these with .* %"),
    "did tuning help, significantly": ("study", "decided", "Result", r"held-out games.*wrong in at most"),
    "who beats whom": ("tournament", "yavalath", "Pairs", "Who beats whom"),
    "what did certainty show": ("certainty", "", "Result", r"is the most certain: .* %"),
    "what does this cost": ("tournament", "yavalath", "Cost", "time of its agents"),
    "which parameters matter": ("study", "tiny", "Search", "^Importance of parameters$"),
    "how do I use the winner": ("study", "decided", "Result", r"^mcts\("),
    "can I repeat it": ("comparison", "", "Origin", r"turnier \d.*python \d"),
}  # fmt: skip


@pytest.fixture(scope="module")
def page(url: str) -> Iterator[Any]:
    with served(url) as address, browser() as chromium:
        opened = chromium.new_page(viewport={"width": 1280, "height": 900})
        opened.base = address
        yield opened


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_in_view(page: Any, store: Store, question: str) -> None:
    kind, name, tab, answer = QUESTIONS[question]
    place = run_address(run_of(store, kind, name).id)
    page.goto(f"{page.base}{place}/{tab.lower() if tab != 'Result' else ''}".rstrip("/"))
    settle(page)  # so that what is measured is the page, not the reading of the store
    page.goto(f"{page.base}{place}")
    page.locator(".tabs").get_by_role("link", name=tab, exact=True).click()
    page.wait_for_function(SEEN, arg=[tab, answer], timeout=LATEST)
