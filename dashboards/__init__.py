"""The dashboards: figures from frames, pages and reports made of figures, and the Streamlit app of the pages.

Only `cached_store` asks the store, only `figures.charts` knows how to draw; figures need no browser.
"""

from turnier.core.errors import require_extra

require_extra(
    "a dashboard, report or picture",
    "dashboard",
    *("altair", "markdown_it", "optuna_dashboard", "PIL", "streamlit", "vl_convert"),
)

STORE_VARIABLE = "TURNIER_DASHBOARD_STORE"  # the store's URL, for the process that serves the pages
