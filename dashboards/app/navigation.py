"""The pages of the dashboards; a new one is one line here."""

from __future__ import annotations

from turnier.dashboards.pages import certainty, comparison, replay, reports, runs, scores, studies, tournament, training

PAGES = {  # address -> title, icon, what draws it
    "runs": ("Runs", "monitoring", runs.draw),
    "scores": ("Scores", "bar_chart", scores.draw),
    "tournament": ("Tournament", "trophy", tournament.draw),
    "comparison": ("Comparison", "balance", comparison.draw),
    "certainty": ("Certainty", "grid_on", certainty.draw),
    "studies": ("Studies", "tune", studies.draw),
    "training": ("Training", "school", training.draw),
    "replay": ("Replay", "play_circle", replay.draw),
    "reports": ("Reports", "article", reports.draw),
}
