"""Addresses that lead to runs, games and moves; and those that name a run which is not there."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from tests.dashboards.drawn_pages import look, texts
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
    assert run_address(study) == "studies?run=study%3Atiny"
    assert games_address("tournament:1", "mc(a=1,b=2)", "c&d") == (
        "replay?run=tournament%3A1&agent=mc%28a%3D1%2Cb%3D2%29&agent=c%26d"
    )
    assert match_address("study:a b", "3f", 0) == "replay?run=study%3Aa%20b&match=3f&move=0"


@pytest.mark.parametrize("name", ["scores", "tournament"])
def test_links_in_tables_lead_to_games(shown: str, store: Store, name: str) -> None:
    run = next(run.id for run in store.runs() if run.name == "yavalath(size=3)" and run.kind == "tournament")
    pair = {"run": run, "agent": "random", "against": "mc(iterations=5)"}
    page = look(name, **(pair if name == "tournament" else {"runs": run}))
    tables = [table.value for table in page.dataframe]
    links = [str(table["replay"].dropna().iloc[0]) for table in tables if "replay" in table]
    for link in links:
        to, _, query = link.partition("?")
        found = look(to, **{key: values[0] for key, values in parse_qs(query).items()})
        assert not found.error and "yavalath(size=3): " in texts(found), link
    assert links


@pytest.mark.parametrize(
    ("name", "key"),
    [("scores", "runs"), ("tournament", "run"), ("comparison", "run"), ("studies", "study"), ("replay", "run")],
)
def test_an_unknown_run_is_an_error_and_never_another_run(shown: str, name: str, key: str) -> None:
    page = look(name, **{key: "tournament:doesnotexist"})
    told = texts(page)
    assert "There is no run named 'tournament:doesnotexist'; the nearest are tournament:" in told
    assert len(told.splitlines()) == 1 and page.query_params[key] == "tournament:doesnotexist"


@pytest.mark.parametrize(("name", "key"), [("reports", "experiment"), ("reports", "document")])
def test_an_unknown_document_or_experiment_is_an_error_too(shown: str, name: str, key: str) -> None:
    told = texts(look(name, **{key: "nope"}))
    assert f"There is no {key} named 'nope'; " in told and len(told.splitlines()) == 1


def test_a_run_that_a_page_does_not_show_is_an_error(shown: str) -> None:
    told = texts(look("tournament", run="study:tiny"))
    assert "got the study study:tiny (tiny)" in told and len(told.splitlines()) == 1
    assert "shows a tournament that has results, got the comparison" in texts(look("tournament", run="comparison:"))


def test_a_match_alone_leads_to_a_run_that_has_it(shown: str, store: Store) -> None:
    run = next(run.id for run in store.runs() if run.name == "2048(size=3)" and run.kind == "tournament")
    match = next(record.spec.id for records in store.records_of_run(run) for record in records)
    page = look("replay", match=match)
    assert not page.error and store.run(page.selectbox(key="run").value).name == "2048(size=3)"
    assert "a match must be stored" in texts(look("replay", match="0" * 32))


def test_games_of_some_agents_are_listed_alone_and_another_run_shows_its_own(shown: str, store: Store) -> None:
    runs = {run.name: run for run in store.runs() if run.kind == "tournament"}
    agent = runs["2048(size=3)"].definition["agents"][0]
    page = look("replay", run=runs["2048(size=3)"].id, agent=agent)
    assert "all games of this run" in texts(page) and not page.error
    page.selectbox(key="run").set_value(runs["yavalath(size=3)"].id).run()
    assert "yavalath(size=3): " in texts(page) and "all games of this run" not in texts(page)
