"""What a reader does on a page stays while news comes in: the focus and its place, ticks, texts, choices, lists."""

from __future__ import annotations

from typing import Any

import pytest

from docs.screenshots import addresses, settle
from tests.server.browsers import needs_chromium

pytestmark = needs_chromium

# The elements of a page that a reader may use, the last of each kind.
KINDS = ("a[href]", "[data-sort]", "input[type=search]", "input[type=checkbox]", "summary", "select")
# Uses an element, as if every block had changed meanwhile, and lets news come in.
USE = """selector => {
    window.used = [...document.querySelectorAll('#main .block ' + selector)].filter(one => one.checkVisibility()).at(-1)
    if (!used) return null
    used.scrollIntoView({block: 'center'})
    used.focus()
    if (used.type === 'search') {
        used.value = 'qq'
        used.setSelectionRange(1, 1)
        used.dispatchEvent(new Event('input', {bubbles: true}))
    }
    if (used.type === 'checkbox') used.checked = true
    if (used.tagName === 'SUMMARY') used.parentElement.open = true
    if (used.tagName === 'SELECT') used.selectedIndex = used.length - 1
    window.was = STATE(used)
    document.querySelectorAll('#main .block').forEach(block => { block.dataset.hash = 'another' })
    document.getElementById('main').dataset.live = '/nothing'
    document.dispatchEvent(new Event('visibilitychange'))
    return was
}"""
STATE = """(one => ({
    what: one.tagName + one.textContent.slice(0, 40) + (one.getAttribute('href') || one.name || ''),
    text: one.value || '', checked: !!one.checked, open: !!one.parentElement.open,
    from: one.type === 'search' ? one.selectionStart : 0,
    hidden: document.querySelectorAll('#main tr[hidden]').length, top: Math.round(one.getBoundingClientRect().top),
}))"""
RENEWED = """() => !used.isConnected
    && [...document.querySelectorAll('#main .block')].every(one => one.dataset.hash !== 'another')"""

MOVED = 40  # px: a chart that is drawn again may take a little more room than was left for it
DRAWN = "() => [...document.querySelectorAll('figure.chart')].every(one => one.dataset.drawn)"


@pytest.mark.parametrize("name", ["runs", "search", "certainty"])
def test_what_a_reader_does_stays_while_news_comes_in(chromium: Any, address: str, url: str, name: str) -> None:
    page = chromium.new_page()
    seen = 0
    for kind in KINDS:
        page.set_viewport_size({"width": 1280, "height": 6000})
        page.goto(f"{address}{addresses(url)[name]}")
        settle(page)
        page.wait_for_function(DRAWN)  # as those out of view are not at once, whose heights change then
        page.set_viewport_size({"width": 1280, "height": 900})
        before = page.evaluate(USE.replace("STATE", STATE), kind)
        if before is None:
            continue
        page.wait_for_function(RENEWED)
        settle(page)
        after = page.evaluate(f"{STATE}(document.activeElement)")
        moved = abs(after.pop("top") - before.pop("top"))
        assert moved <= MOVED, kind
        hidden = before.pop("hidden"), after.pop("hidden")
        assert after == before and (kind != "input[type=search]" or hidden[1] > 0), kind
        seen += 1
    page.close()
    assert seen >= 3
