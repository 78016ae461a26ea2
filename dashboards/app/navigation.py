"""The pages of the dashboards; a new one is one line here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from turnier.dashboards.pages import replay, reports, run, runs, scores

PAGES: dict[str, tuple[str, str, Callable[[], None]]] = {  # address -> title, icon, what draws it
    "runs": ("Runs", "monitoring", runs.draw),
    "scores": ("Scores", "bar_chart", scores.draw),
    "tournament": ("Tournament", "trophy", partial(run.draw, "tournament")),
    "comparison": ("Comparison", "balance", partial(run.draw, "comparison")),
    "certainty": ("Certainty", "grid_on", partial(run.draw, "certainty")),
    "judging": ("Judging", "gavel", partial(run.draw, "judging")),
    "studies": ("Studies", "tune", partial(run.draw, "study")),
    "training": ("Training", "school", partial(run.draw, "training")),
    "replay": ("Replay", "play_circle", replay.draw),
    "reports": ("Reports", "article", reports.draw),
}
