"""The pages of the dashboards; a new one is one line here."""

from __future__ import annotations

from turnier.dashboards import (
    certainty_page,
    replay_page,
    reports_page,
    runs_page,
    scores_page,
    studies_page,
    tournament_page,
    training_page,
)

PAGES = {  # address -> title, icon, what draws it
    "runs": ("Runs", "monitoring", runs_page.draw),
    "scores": ("Scores", "bar_chart", scores_page.draw),
    "tournament": ("Tournament", "trophy", tournament_page.draw),
    "certainty": ("Certainty", "grid_on", certainty_page.draw),
    "studies": ("Studies", "tune", studies_page.draw),
    "training": ("Training", "school", training_page.draw),
    "replay": ("Replay", "play_circle", replay_page.draw),
    "reports": ("Reports", "article", reports_page.draw),
}
