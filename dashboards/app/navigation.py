"""The pages of the dashboards: those of kinds of runs, declared in `dashboards/kinds`, and others, a line each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from turnier.dashboards.pages import replay, reports, run, runs, scores
from turnier.dashboards.sections import kinds_with, page_of

PAGES: dict[str, tuple[str, str, Callable[[], None]]] = {  # address -> title, icon, function that draws it
    "runs": ("Runs", "monitoring", runs.draw),
    "scores": ("Scores", "bar_chart", scores.draw),
    **{
        page.address: (page.title, page.icon, partial(run.draw, kind))
        for kind in kinds_with("PAGE")
        if (page := page_of(kind))
    },
    "replay": ("Replay", "play_circle", replay.draw),
    "reports": ("Reports", "article", reports.draw),
}
