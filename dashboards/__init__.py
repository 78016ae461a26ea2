"""The dashboards: figures from frames (*_figures.py), pages of them (*_page.py), and the Streamlit app of the pages.

`reading` is all that asks the store, `charts` all that knows how to draw; figures need no browser.
"""

STORE_VARIABLE = "TURNIER_DASHBOARD_STORE"  # the store's URL, for the process that serves the pages
