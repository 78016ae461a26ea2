"""The pages of the dashboards; a new one is one line here."""

from __future__ import annotations

from turnier.dashboards.pages import certainty as certainty_page
from turnier.dashboards.pages import replay as replay_page
from turnier.dashboards.pages import reports as reports_page
from turnier.dashboards.pages import runs as runs_page
from turnier.dashboards.pages import scores as scores_page
from turnier.dashboards.pages import studies as studies_page
from turnier.dashboards.pages import tournament as tournament_page
from turnier.dashboards.pages import training as training_page

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
