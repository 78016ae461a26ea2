"""Views of runs: described once in sections, drawn in the terminal, on pages, in reports and in notebooks.

Sentences and tables need the base install only. Code that draws pictures or serves pages begins with
`require_pictures`.
"""

from turnier.core.errors import require_extra

PACKAGES = (
    *("a2wsgi", "altair", "cachetools", "markdown_it", "optuna_dashboard", "PIL", "starlette", "uvicorn", "vl_convert"),
)


def require_pictures() -> None:
    """Raises UserError if the packages that draw pictures and serve pages are not installed."""
    require_extra("a dashboard, report or picture", "dashboard", *PACKAGES)
