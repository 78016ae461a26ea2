"""Words that are explained where they stand, and numbers that keep their units."""

from __future__ import annotations

import re

from tests.dashboards.drawn_pages import Pages
from turnier.dashboards.glossary import IN_SENTENCES, MEANINGS
from turnier.dashboards.links import run_address
from turnier.dashboards.markup import prose
from turnier.results.store.store import Store

SPLIT = re.compile(r"\d (%|±|Elo\b|[mµn]?s\b)|± \d")


def test_a_sentence_explains_a_word_once_and_keeps_numbers_with_their_units() -> None:
    html = prose("Better: +26.4 % <b> in 28 held-out games, 3 held-out ones; not-held-out.")
    assert html.count("<dfn") == 1 and MEANINGS["held-out"] in html and "&lt;b&gt;" in html
    assert not SPLIT.search(html) and "28 <dfn" in html
    assert {*IN_SENTENCES} <= {*MEANINGS}


def test_no_page_parts_a_number_from_its_unit(pages: Pages, store: Store) -> None:
    for run in store.runs():
        for tab in ("", "cost"):
            html = pages.ask(run_address(run.id, tab)).body.decode()
            shown = re.sub(r"<script.*?</script>|<[^>]*>", "\n", html, flags=re.DOTALL)
            assert [line for line in shown.splitlines() if SPLIT.search(line)] == [], (run.id, tab)
