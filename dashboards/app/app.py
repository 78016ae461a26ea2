"""The dashboards: the script that Streamlit runs for every view of a page; `turnier dashboard` starts it."""

from __future__ import annotations

import streamlit as st

from turnier.dashboards.app.navigation import PAGES
from turnier.dashboards.app.widgets import begin_page, show_errors
from turnier.games.drawing import squares

ICON = squares([1, 0, 2, 0, 1, 2, 0, 0, 1], 3)
STYLE = """<style>
.block-container { padding: 4.5rem 2rem 4rem; max-width: 1500px }
@media (max-width: 640px) { .block-container { padding: 4rem 0.9rem 3rem } }
.title h1 { font-size: 1.6rem; padding: 0; overflow-wrap: anywhere } .title h1 span { font-weight: 400 }
[data-testid=stHtml] a { color: light-dark(#0063a5, #7cc4f5); text-underline-offset: 0.2em }
.title nav { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem }
[data-testid=stVerticalBlock]:empty { display: none }
.facts { display: flex; flex-wrap: wrap; gap: 0.4rem 2.2rem } .facts div { display: flex; flex-direction: column }
.facts small { opacity: 0.72; font-size: 0.85rem } .facts b { font-size: 1.35rem; font-weight: 500 }
</style>"""


def main() -> None:
    st.set_page_config("Turnier", ICON, layout="wide")
    pages = [
        st.Page(show_errors(draw), title=title, icon=f":material/{icon}:", url_path=address, default=address == "runs")
        for address, (title, icon, draw) in PAGES.items()
    ]
    chosen = st.navigation(pages, position="top")
    st.html(STYLE)
    begin_page(chosen.title)
    chosen.run()


main()
