"""The Streamlit app, which serves the pages; apart from `pages`, which Streamlit would take for scripts of its own."""

from turnier.dashboards import require_pictures

require_pictures()
