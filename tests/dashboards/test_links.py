"""Addresses that lead to runs, games and moves; and those that name a run which is not there."""

from __future__ import annotations

import pytest

from tests.dashboards.test_pages import look, texts
from turnier.dashboards.links import games_address, match_address, pages_of, run_address
from turnier.results.store.store import Store


def test_every_run_has_a_page_of_its_own(store: Store) -> None:
    pages = {(run.kind, run.name): list(pages_of(run)) for run in store.runs()}
    assert pages["tournament", "2048(size=3)"] == ["Scores", "Tournament", "Replay"]
    assert pages["tournament", "yavalath(size=3)"] == ["Tournament", "Scores", "Replay"]
    firsts = {kind: names[0] for (kind, _), names in pages.items() if kind != "tournament"}
    own = {"comparison": "Comparison", "certainty": "Certainty", "training": "Training", "study": "Studies"}
    assert firsts == own | {"experiment": "Reports"}


def test_addresses_keep_what_agents_are_called(store: Store) -> None:
    study = next(run for run in store.runs() if run.name == "tiny")
    assert run_address(study) == "studies?study=tiny"
    assert games_address("tournament:1", "mc(a=1,b=2)", "c&d") == (
        "replay?run=tournament%3A1&agent=mc%28a%3D1%2Cb%3D2%29&agent=c%26d"
    )
    assert match_address("study:a b", "3f", 0) == "replay?run=study%3Aa%20b&match=3f&move=0"


@pytest.mark.parametrize(
    ("name", "key"), [("scores", "runs"), ("tournament", "run"), ("comparison", "run"), ("replay", "run")]
)
def test_an_unknown_run_is_an_error_and_never_another_run(shown: str, name: str, key: str) -> None:
    page = look(name, **{key: "tournament:doesnotexist"})
    told = texts(page)
    assert "There is no run named 'tournament:doesnotexist'; the nearest are tournament:" in told
    assert len(told.splitlines()) == 1 and page.query_params[key] == "tournament:doesnotexist"


def test_a_run_that_a_page_does_not_show_is_an_error(shown: str) -> None:
    told = texts(look("tournament", run="study:tiny"))
    assert "got the study study:tiny (tiny)" in told and len(told.splitlines()) == 1
    assert "shows a tournament that has results, got the comparison" in texts(look("tournament", run="comparison:"))
