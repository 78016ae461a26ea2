"""The Streamlit app: what serves the pages. Not next to `pages`, which Streamlit would take for scripts of its own."""

from turnier.dashboards import require_pictures

require_pictures()
