"""The first page: what each kind of run says at a glance, links, filters, notes, and runs that come and go."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from tests.dashboards.conftest import DECIDED, TINY
from tests.dashboards.drawn_pages import look, show_store, texts
from tests.results.made import GAME
from tests.results.test_certainty import voted
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.dashboards.kinds.certainty import agents_table
from turnier.dashboards.links import run_address
from turnier.dashboards.sections import Head, head
from turnier.results.frames.certainty import position_certainty, searches_of_runs
from turnier.results.store.annotations import NOTE
from turnier.results.store.run_changes import delete_run
from turnier.results.store.store import Run, Store
from turnier.runs.certainty import Certainty
from turnier.runs.comparison import Comparison
from turnier.runs.results import RunResults
from turnier.runs.stored.comparison import ComparisonResults
from turnier.search.storage.studies import stored_verdict
from turnier.search.study_run import StudyRun


@pytest.fixture
def copied(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of the store, which tests may change; the pages show it."""
    whole, own = (sqlite3.connect(path) for path in (url.removeprefix("sqlite:///"), tmp_path / "copy.db"))
    with closing(whole), closing(own):
        whole.backup(own)  # with what is still in the write-ahead log
    return show_store(f"sqlite:///{tmp_path}/copy.db", monkeypatch)


def glance(store: Store, run: Run) -> Head:
    return head(RunResults.find(store, run.id))


def results(store: Store) -> dict[str, str]:
    return {f"{run.kind} {run.name}": glance(store, run).sentence for run in store.runs()}


def test_a_tournament_shows_its_leader_with_points_or_mean(store: Store) -> None:
    said = results(store)
    assert re.fullmatch(
        r"mc\(iterations=40\) leads: [\d,]+ ± \d+, 12 games; the best of these with .* % probability",
        said["tournament 2048(size=3)"],
    )
    assert re.fullmatch(
        r"mc.* leads: \d+(\.\d)? % \(\d.* to \d.*\) of the points, \d+ games; the best of these .*",
        said["tournament yavalath(size=3)"],
    )
    best_first = next(glance(store, run).agents for run in store.runs() if run.name == "2048(size=3)")
    assert best_first[0] == "mc(iterations=40)"


def test_a_tournament_says_which_agents_are_yet_to_play(copied: str) -> None:
    with Store.open(copied) as store:
        run = next(run for run in store.runs() if (run.kind, run.name) == ("tournament", "2048(size=3)"))
        assert glance(store, run).unplayed == ()
        planned = {**run.definition, "agents": [*run.definition["agents"], "mc(iterations=500)"]}
        store.begin_run("tournament:later", "tournament", run.name, planned)
        store.append("tournament:later", [record for records in store.records_of_run(run.id) for record in records])
        seen = glance(store, store.run("tournament:later"))
    assert seen.unplayed == ("mc(iterations=500)",) == seen.agents[-1:]
    assert "leads so far:" in seen.sentence and seen.sentence.endswith("; yet to play: mc(iterations=500)")


def test_other_kinds_show_what_they_measured(store: Store) -> None:
    said = results(store)
    assert re.search(
        r"mc\(iterations=\d+\) is the most certain: .* % (\(.* to .*\) )?normalised in \d+ pos",
        said["certainty 2048(size=3)"],
    )
    assert re.match(r"after 400 training games: .*, 6 evaluation games", said["training tictactoe"])
    assert said["experiment A small question"].startswith("2 rows: ")
    assert "candidates" in said["study tiny"] or "ecommended" in said["study tiny"]


def test_certainty_is_the_mean_over_groups_of_any_size_with_its_interval(copied: str) -> None:
    """Two groups have 25 % and 62.5 %: 43.75 %, not the 37.5 % of all six positions."""
    votes = {1: ("aaab", 2), 2: ("aabb", 2), 3: ("aaab", 2), 4: ("aabb", 2), 5: ("aaaa", 3), 6: ("aabb", 3)}
    records = [record for state, (actions, legal) in votes.items() for record in voted(state, actions, legal)]
    with Store.open(copied) as store:
        planned = Certainty(GAME, ["random"], states=3, repeats=4, games=1, collector="random")
        store.begin_run("certainty:1", "certainty", GAME, planned.definition)
        store.searches.append("certainty:1", records)
        seen = glance(store, store.run("certainty:1"))
        shown = agents_table(position_certainty(searches_of_runs(store, ["certainty:1"]))).texts().iloc[0]
    mean, _, interval = shown["normalised, %"].partition(" ")
    assert float(mean) == pytest.approx(43.75, abs=1)
    assert seen.sentence == f"random is the most certain: {mean} % {interval} normalised in 6 positions"


def test_a_comparison_shows_its_verdict_in_its_colour(copied: str) -> None:
    with Store.open(copied) as store:
        Comparison("mc(iterations=20)", "random", game="tictactoe", games=400).run(store, progress=False)
        seen = glance(store, store.find_run("last"))
    assert (
        re.match(r"mc\(iterations=20\) is stronger than random at tictactoe after \d+ games .* Elo", seen.sentence)
        and seen.colour
    )
    assert f"border-color: {seen.colour}" in texts(look("runs"))


def test_a_comparison_that_is_repeated_with_another_margin_shows_the_new_verdict(copied: str) -> None:
    agents = "mcts(iterations=16)", "mcts(iterations=17)"
    with Store.open(copied) as store:
        run = next(run.id for run in store.runs() if run.kind == "comparison")
        games = ComparisonResults.find(store, run).duel.games
        for margin, verdict in ((1.0, "undecided"), (90.0, "equal")):
            again = Comparison(*agents, game="tictactoe", margin=margin, games=games, seed=3)
            again.run(store, progress=False)
            assert again.run_id == run
            assert f" are {verdict} " in texts(look("runs", kind="comparison"))


def test_a_study_that_gains_a_verdict_without_a_game_shows_it(copied: str) -> None:
    assert "No verdict yet" in texts(look("runs", kind="study"))
    with Store.open(copied) as store:
        verdict = stored_verdict(store, DECIDED)
        assert verdict is not None
        StudyRun(store, TINY, progress=False).store_verdict(verdict)
    assert "No verdict yet" not in texts(look("runs", kind="study"))


def test_every_run_is_a_link_to_its_page(shown: str, store: Store) -> None:
    told = texts(look("runs"))
    links = re.findall(r'href="([^"]+)"', told.replace("&amp;", "&"))
    assert sorted(links) == sorted(["./", *(run_address(run) for run in store.runs())][1:])


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"kind": "study"}, lambda run: run.kind == "study"),
        ({"kind": "study", "state": "stopped"}, lambda run: False),
        ({"game": "spe_ed"}, lambda run: run.name.startswith("spe_ed")),
    ],
)
def test_runs_are_filtered_by_game_kind_and_state(
    shown: str, store: Store, filters: dict[str, str], kept: Callable[[Run], bool]
) -> None:
    told = texts(look("runs", **filters))
    found = {run.id for run in store.runs() if f"{run.id}</small>" in told}
    assert found == {run.id for run in store.runs() if kept(run)}


def test_notes_are_shown_as_text_and_runs_that_go_vanish(copied: str) -> None:
    page = look("runs")
    with Store.open(copied) as store:
        store.annotations.set("study:tiny", NOTE, "first <b>try</b>")
        delete_run(store, store.run("study:front"))
    st.cache_data.clear()
    told = texts(page.run())
    assert "first &lt;b&gt;try&lt;/b&gt;" in told and "study:front" not in told


def test_a_run_that_cannot_be_read_says_so_and_the_others_are_shown(copied: str) -> None:
    with Store.open(copied) as store:
        store.begin_run(
            "comparison:old",
            "comparison",
            "gone",
            {"game": "gone", "agents": ["gone", "random"], "seed": 1, "openings": 0},
        )
    told = texts(look("runs"))
    assert "no game named" in told and "study:tiny" in told


def test_games_of_a_server_are_replayed_though_its_clients_cannot_be_asked(copied: str) -> None:
    played = play_match(MatchSpec("spe_ed(width=12,height=12,players=2)", ("random", "random"), 5))
    clients = replace(played, spec=replace(played.spec, agents=("alice", "bob")))
    with Store.open(copied) as store:
        store.begin_run("server:1", "server", "spe_ed", {"rules": "", "seed": 1})
        store.append("server:1", [clients])
    assert 'href="replay?run=server%3A1"' in texts(look("runs", kind="server"))
    told = texts(look("replay", run="server:1"))
    assert "seat 0, **alice**" in told and "The agent cannot be asked again" in told
