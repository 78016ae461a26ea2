"""What failed is said with every run, in red, with a table that leads to the games; nothing else is red."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.dashboards.drawn_pages import Pages
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.dashboards.kinds.games import score_table
from turnier.dashboards.links import match_address, run_address
from turnier.dashboards.markup import failed as failed_html
from turnier.dashboards.reports.run import run_page
from turnier.dashboards.sections import failed_table
from turnier.dashboards.summaries.matches import TIME, costs_of, scores
from turnier.results.failures import failure_of, failures_text, list_failures
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.runs.experiments.experiment import Experiment, row_matches
from turnier.runs.experiments.row import Row
from turnier.studies.campaigns.document import write_report

RUN, TEXT, REASON = "tournament:fa11", "2 failed (25 %), 1 void", "ValueError: I lost <my> table (bot.py, line 12)"
COMPARED = Comparison("random", "greedy", game="tictactoe", games=64, first_round=4)


def spoiled(record: MatchRecord, place: int) -> MatchRecord:
    """The first two are lost by a random agent that crashes, the third is void."""
    seat = record.spec.agents.index("random()") if "random()" in record.spec.agents else 0
    lost = tuple(-1.0 if one == seat else 1.0 for one in range(2))
    if place < 2:
        error = f"seat {seat}, {record.spec.agents[seat]}: {REASON}"
        return replace(record, termination=Termination.CRASHED, scores=lost, error=error)
    return replace(record, termination=Termination.ERROR, scores=(0.0, 0.0), error="It broke") if place == 2 else record


@pytest.fixture
def failed(tmp_path: Path) -> Iterator[Store]:
    """A tournament and a comparison, each with two crashes and a void game of eight."""
    url = f"sqlite:///{tmp_path}/failed.db"
    agents = ("random()", "greedy(evaluator=score())")
    with Store.open(url) as store:
        specs = [MatchSpec("tictactoe()", agents[:: 1 - 2 * (seed % 2)], seed) for seed in range(8)]
        played = [spoiled(play_match(spec), place) for place, spec in enumerate(specs)]
        store.begin_run(RUN, "tournament", "tictactoe", {"game": "tictactoe()", "agents": list(agents)})
        store.append(RUN, played)
        store.begin_run(COMPARED.run_id, "comparison", "tictactoe", COMPARED.definition)
        store.annotations.set(COMPARED.run_id, SETTINGS, json.dumps(COMPARED.settings))
        paired = [spoiled(play_match(spec), place) for place, spec in enumerate(next(COMPARED.schedule().rounds()))]
        store.append(COMPARED.run_id, paired)
        yield store


@pytest.fixture
def pages(failed: Store) -> Pages:
    """The pages of that store."""
    return Pages(failed.url)


def test_a_tournament_says_what_failed(failed: Store, pages: Pages) -> None:
    place = run_address(RUN)
    assert failed_html(TEXT) in pages.look().html
    page = pages.look(place)
    assert failed_html(TEXT) in page.html and f"{place}/failures" in page.links and "Failures" in page.tabs
    page = pages.look(f"{place}/failures")
    table = page.tables["Failed"]
    assert failed_html(TEXT) in page.html and table["failed"].tolist() == ["2", "1"]
    assert table["cause"].tolist() == ["crashed", "void"] and table["reason"].tolist() == [REASON, "It broke"]
    match = list_failures(failed, [RUN]).table["match"].iloc[0]
    assert match_address(RUN, match) in page.links
    every = f"{place}/games?result=failed"
    games = pages.look(every).tables["Games"]
    assert every in page.links and len(games) == 3 and set(games["end"]) == {"crashed", "void"}
    for agent, number in (("random", 3), ("greedy", 1)):  # a void game is nobody's fault
        shown = pages.look(run_address(RUN, "games", agent=agent, result="failed"))
        assert len(shown.tables["Games"]) == number, agent
    listed = pages.look(place).tables["Scores and costs"].set_index("agent")
    assert listed["failed"].to_dict() == {"random": "2", "greedy": "0"} and listed["void"].tolist() == ["1", "1"]


def test_the_board_says_who_failed_how_and_why(failed: Store, pages: Pages) -> None:
    told = {one.spec.id: failure_of(one) for part in failed.records_of_run(RUN) for one in part}
    assert sorted(filter(None, told.values())) == [
        f"Seat 0, random, failed here and lost (crashed): {REASON}.",
        f"Seat 1, random, failed here and lost (crashed): {REASON}.",
        "Void: It broke.",
    ]
    assert all(pages.ask(f"/api/matches/{match}").json["failure"] == sentence for match, sentence in told.items())
    assert run_address(RUN) in pages.look("/?state=with%20failures").links


def test_a_comparison_says_what_failed_beside_its_verdict(pages: Pages) -> None:
    page = pages.look(run_address(COMPARED.run_id))
    assert failed_html(TEXT) in page.html and "(4 pairs, 1 of them void)" in page.text
    agents = page.tables["Agents"]
    assert agents["failed"].astype(int).sum() == 2 and agents["void"].tolist() == ["1", "1"]


def test_a_report_says_what_failed(failed: Store) -> None:
    for run in failed.runs():
        page = run_page(failed, run).decode()
        assert failed_html(TEXT) in page and "I lost &lt;my&gt; table" in page


def test_an_experiment_says_what_failed_on_its_page_and_in_its_document(failed: Store, tmp_path: Path) -> None:
    experiment = Experiment("guide", "small", "Small", "Text.", (Row("one", "tictactoe", ("random", "greedy"), 8),))
    failed.begin_run(experiment.run_id, "experiment", experiment.name, experiment.definition())
    records = [play_match(spec) for spec in row_matches(experiment.rows[0], experiment.seed)]
    failed.append(experiment.run_id, [spoiled(record, place) for place, record in enumerate(records)])
    page = Pages(failed.url).look(run_address(experiment.run_id))
    assert failed_html(TEXT) in page.html and "Failures" in page.tabs
    markdown, _ = write_report(failed, "guide", tmp_path)
    assert f"**Failed or void: {TEXT}.**" in markdown.read_text()


def test_the_note_says_only_what_there_is(failed: Store) -> None:
    found = list_failures(failed, [RUN])
    assert "lost" in failed_table(found).note and "Void" in failed_table(found).note
    assert "Void" not in failed_table(found._replace(void=0)).note
    assert "lost" not in failed_table(found._replace(failed=0)).note


def test_runs_without_failures_say_nothing(url: str, store: Store) -> None:
    pages = Pages(url)
    for run in store.runs():
        assert failures_text(store, run.id) == "" and 'class="failed"' not in run_page(store, run).decode()
        page = pages.look(run_address(run.id))
        assert 'class="failed"' not in page.html and "Failures" not in page.tabs, run.id
        assert "no tab named" in pages.look(run_address(run.id, "failures")).trouble
    assert "No run is like that." in pages.look("/?state=with%20failures").text
    assert 'class="failed"' not in pages.look().html


def test_the_table_of_scores_has_what_failed(failed: Store) -> None:
    table = score_table(scores(failed, RUN).summary).numbers().set_index("agent")
    assert table["failed"].to_dict() == {"random": 2, "greedy": 0} and table["void"].tolist() == [1, 1]


def test_an_agent_that_never_decided_has_no_time(failed: Store) -> None:
    summary = scores(failed, RUN).summary.assign(decisions_per_second=[0.0, 50.0])
    assert np.isnan(costs_of(summary)[TIME].iloc[0]) and costs_of(summary)[TIME].iloc[1] == 20_000


def test_what_failed_is_text_and_empty_where_all_went_well(failed: Store) -> None:
    assert failed_html("") == "" and "&lt;b&gt;" in failed_html("<b>")
    assert failed_table(list_failures(failed, [RUN], only=[])).frame.empty
