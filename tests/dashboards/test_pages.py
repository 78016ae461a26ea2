"""Every page without a browser: what it shows of a real store, its filters, and what it says when there is nothing."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.dashboards.drawn_pages import charts, draw, look, show_store, texts
from tests.results.made import GAME, made
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.workers.where import Where
from turnier.dashboards.app import preload
from turnier.dashboards.figures.replay import board_svg
from turnier.dashboards.kinds import tournament
from turnier.dashboards.pages import replay as replay_page
from turnier.results.store.store import Store
from turnier.runs.people.hosted_games import store_game
from turnier.runs.results import RunResults
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.tournament import Tournament
from turnier.search.storage.studies import stored_verdict


@pytest.mark.parametrize(
    ("name", "titles", "fewest"),
    [
        ("runs", ["Past runs", "Nothing is running"], 0),
        ("scores", ["Points", "Points against cost"], 2),
        ("tournament", ["Rating list", "Who beats whom", "Ratings", "Points by seat", "All pairs of agents"], 3),
        ("comparison", ["Evidence", "Tests", "Pairs by outcome", "Agents"], 2),
        ("certainty", ["Normalised, by agent", "Normalised, by iterations", "mc(iterations=40): normalised"], 5),
        ("studies", ["Generations", "Spread of the candidates", "Importance of parameters", "What is tuned"], 7),
        ("training", ["Training games", "Evaluations during training"], 2),
        ("replay", ["yavalath(size=3): ", "Move 1: seat 0"], 0),
        ("reports", ["A small question", "undecided"], 1),
    ],
)
def test_pages_show_what_is_stored(shown: str, name: str, titles: list[str], fewest: int) -> None:
    page = look(name)
    told = texts(page)
    assert not page.error and not page.warning, told
    assert [title for title in titles if title not in told] == []
    assert charts(page) >= fewest


def test_what_was_read_ahead_is_not_read_again(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = tournament.read

    def read_and_noted(results: RunResults) -> tournament.Data:
        read.append(results.id)
        return original(results)

    monkeypatch.setattr(tournament, "read", read_and_noted)
    preload.read_ahead()
    ahead = list(read)
    look("tournament")
    assert ahead == read and len(read) == 1


def test_scores_of_one_seat_have_distributions_and_milestones_of_the_chosen_agents(shown: str, store: Store) -> None:
    run = next(run.id for run in store.runs() if run.kind == "tournament" and run.name == "2048(size=3)")
    page = look("scores", runs=run)
    assert "Scores of single games" in texts(page) and "Mean scores" in texts(page)
    assert list(page.dataframe[0].value["agent"]) == ["mc(iterations=40)", "greedy", "random"]
    page = look("scores", runs=run, agents="greedy")
    assert list(page.dataframe[0].value["agent"]) == ["greedy"]


def test_a_study_begins_with_its_verdict_and_the_agent_to_copy(shown: str, store: Store) -> None:
    page = look("studies", study="decided")
    verdict = stored_verdict(store, "decided")
    assert verdict is not None and verdict.sentence in html_of(page) and page.code[0].value == verdict.agent
    held_out = page.dataframe[0].value
    assert held_out["finalist"].iloc[0] == "start" and {"luck", "minus start", "replay"} <= set(held_out)
    link = next(element for element in page.get("link_button"))
    assert link.proto.url.endswith("/dashboard/studies/3")


def test_a_search_without_a_verdict_and_a_front_say_what_is_known(shown: str) -> None:
    page = look("studies", study="tiny")
    assert "Not yet verified" in html_of(page) and page.code[0].value.startswith("mctse(")
    page = look("studies", study="front")
    assert "are beaten by none at both" in html_of(page) and "Strength against time in held-out games" in texts(page)


def test_studies_of_one_unit_are_compared(shown: str) -> None:
    page = look("studies", study="tiny")
    page.multiselect(key="compare").set_value(["front"]).run()
    assert not page.exception and "Studies by games played" in texts(page)
    assert list(page.dataframe[-1].value["study"]) == ["tiny", "front"]


def html_of(page: AppTest) -> str:
    return "\n".join(html.unescape(element.proto.body) for element in page.get("html"))


def test_another_run_brings_its_own_agents(shown: str, store: Store) -> None:
    runs = {run.name: run.id for run in store.runs() if run.kind == "tournament"}
    page = look("scores", runs=runs["2048(size=3)"], agents="greedy")
    page.multiselect(key="runs").set_value([runs["yavalath(size=3)"]]).run()
    assert not page.exception
    assert set(page.dataframe[0].value["agent"]) == {"mcts(iterations=40)", "mc(iterations=5)", "random"}


def test_a_pair_of_agents_shows_its_games_with_replays(shown: str, store: Store) -> None:
    run = next(run.id for run in store.runs() if run.kind == "tournament" and run.name == "yavalath(size=3)")
    page = look("tournament", run=run, agent="random", against="mc(iterations=5)")
    assert "Games of random and mc(iterations=5)" in texts(page)
    games = next(table.value for table in page.dataframe if "replay" in table.value)
    assert len(games) == 6 and games["game"].str.contains("random").all()
    assert games["replay"].str.startswith(f"replay?run={run.replace(':', '%3A')}&match=").all()
    page.selectbox(key="against").set_value(None).run()
    assert "Choose a cell" in texts(page)
    assert "Choose a cell" in texts(look("tournament", run=run, agent="nobody", against="random"))


def test_agents_are_rated_over_all_tournaments_of_a_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(show_store(f"sqlite:///{tmp_path}/two.db", monkeypatch)) as store:
        for other in ("greedy", "mc(iterations=5)"):
            Tournament("tictactoe", ["random", other], games=4).run(store, where=Where("threads", 1), progress=False)
        store_game(store, play_match(MatchSpec("tictactoe", ("random", "greedy"), 5)))  # as people play on the board
        page = look("tournament")
        assert len(page.dataframe[0].value) == 2
        page.segmented_control(key="rated").set_value("all tournaments of the game").run()
        listed = page.dataframe[0].value
        assert set(listed["agent"]) == {"random", "greedy", "mc(iterations=5)"}
        assert listed.set_index("agent")["games"].to_dict() == {"random": 8, "greedy": 4, "mc(iterations=5)": 4}


def test_a_run_that_is_incomplete_says_so_and_shows_agents_that_come_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_store(f"sqlite:///{tmp_path}/live.db", monkeypatch)
    whole = Tournament("2048(size=3)", ["greedy", "mc(iterations=5)", "random"], games=3)
    records = [play_match(spec) for spec in whole.plan or ()]
    with Store.open(f"sqlite:///{tmp_path}/live.db") as store:
        store.begin_run(whole.run_id, "tournament", "2048(size=3)", whole.definition)
        store.append(whole.run_id, [record for record in records if record.spec.agents != ("random",)])
        page = look("scores")
        assert "No games yet: random." in texts(page)
        assert list(page.dataframe[0].value["agent"]) == ["mc(iterations=5)", "greedy"]
        store.append(whole.run_id, [record for record in records if record.spec.agents == ("random",)])
        st.cache_data.clear()
        page.run()
        assert "No games yet" not in texts(page) and "random" in list(page.dataframe[0].value["agent"])


def test_several_runs_are_told_apart(shown: str, store: Store) -> None:
    runs = [run.id for run in store.runs() if run.kind in ("tournament", "certainty") and run.name == "2048(size=3)"]
    page = AppTest.from_function(draw, args=("scores",), default_timeout=60)
    page.query_params["runs"] = runs
    page.run()
    assert not page.exception
    names = list(page.dataframe[0].value["agent"])
    assert len(names) == len(set(names)) == 4  # three of the tournament, and who collected positions


def test_networks_whose_files_share_a_name_are_chosen_and_missed_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_store(f"sqlite:///{tmp_path}/two.db", monkeypatch)
    agents = [f"greedy(evaluator=ntuple(file={file}))" for file in ("a/g.npz,digest=1", "b/g.npz,digest=2")]
    names = [agent.replace(f",digest={number}", "") for number, agent in enumerate(agents, 1)]
    with Store.open(f"sqlite:///{tmp_path}/two.db") as store:
        store.begin_run("tournament:1", "tournament", "2048", {"game": GAME, "agents": agents})
        store.append("tournament:1", [made(seed, (1.0,), agents[:1]) for seed in range(3)])
        assert f"No games yet: {names[1]}." in texts(look("scores"))
        store.append("tournament:1", [made(seed, (2.0,), agents[1:]) for seed in range(3)])
        st.cache_data.clear()
        for name, score in zip(names, (1.0, 2.0), strict=True):
            page = look("scores", agents=name)
            assert page.multiselect(key="agents").options == names[::-1]
            listed = page.dataframe[0].value
            assert list(listed["agent"]) == [name] and list(listed["mean score"]) == [score]
        page = look("tournament", agent=names[0], against=names[1])
        assert page.selectbox(key="agent").options == names[::-1]
        assert f"{names[1]} leads: " in texts(look("runs"))


def test_the_address_leads_to_one_move_of_one_match(shown: str, store: Store) -> None:
    run = next(run.id for run in store.runs() if run.kind == "tournament" and run.name == "yavalath(size=3)")
    records = [record for records in store.records_of_run(run) for record in records]
    chosen = next(r for r in records if "mcts" in r.spec.agents[0] and sum(r.decisions) > 4)
    page = look("replay", run=run, match=chosen.spec.id, move="2")
    assert "Move 3: seat 0, **mcts(iterations=40)**" in texts(page)
    assert "it makes the same choice" in texts(page)
    page.button(key="chevron_right").click().run()
    assert page.slider(key="move").value == 3 and "Move 4: seat 1" in texts(page)
    page.button(key="last_page").click().run()
    assert "The end" in texts(page)


def test_boards_of_spe_ed_show_what_the_agent_knew(shown: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = next(run.id for run in store.runs() if run.name.startswith("spe_ed"))
    records = [record for records in store.records_of_run(run) for record in records]
    chosen = next(record for record in records if record.spec.agents[0].startswith("combi"))
    drawn: list[str] = []
    draws = board_svg
    monkeypatch.setattr(replay_page, "board_svg", lambda *words: drawn.append(draws(*words)) or drawn[-1])
    page = look("replay", run=run, match=chosen.spec.id, move="4")
    assert "seat 0, **combi(" in texts(page) and "it makes the same choice" in texts(page)
    assert "entered by others" in drawn[-1] and "polyline" in drawn[-1]
    page.button(key="switch paths").click().run()
    assert "entered by others" in drawn[-1] and "polyline" not in drawn[-1]
    page.button(key="switch probabilities").click().run()
    assert "entered by others" not in drawn[-1]
    page = look("replay", run=run, match=chosen.spec.id, move="5", probabilities="off")
    assert "seat 1, **rollouts(" in texts(page) and "polyline" in drawn[-1]
    page.button(key="last_page").click().run()
    assert "The end" in texts(page) and "polyline" not in drawn[-1]


def test_an_agent_that_takes_long_is_asked_from_the_start_on_demand(
    shown: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_page, "PATIENCE", 0.0)
    run = next(run.id for run in store.runs() if run.name.startswith("spe_ed"))
    page = look("replay", run=run, move="6")
    assert "Asked only here" in texts(page)
    next(button for button in page.button if button.label.startswith("Ask again from the first move")).click().run()
    assert "it makes the same choice" in texts(page) and "Asked only here" not in texts(page)
    page.button(key="chevron_right").click().run()
    assert "Move 8: " in texts(page) and "it makes the same choice" in texts(page)


@pytest.mark.parametrize(("name", "title"), [("scores", "Points"), ("tournament", "Who beats whom")])
def test_results_of_spe_ed_are_shown(shown: str, store: Store, name: str, title: str) -> None:
    run = next(run.id for run in store.runs() if run.name.startswith("spe_ed"))
    page = look(name, runs=run)
    assert not page.error and not page.warning and title in texts(page) and charts(page)


def test_streamlit_finds_no_scripts_of_pages_next_to_the_app() -> None:
    """It would run `pages/scores.py` alone, and show nothing, when somebody opens that address first."""
    folder = Path(preload.__file__).parent
    assert (folder / "app.py").exists() and not (folder / "pages").exists()


def test_a_comparison_page_leads_with_the_verdict_of_the_terminal(shown: str, store: Store) -> None:
    run = next(run for run in store.runs() if run.kind == "comparison")
    results = ComparisonResults.find(store, run.id)
    page = look("comparison", run=run.id)
    shown_html = "".join(str(block.proto.body) for block in page.get("html"))
    assert "tictactoe, mcts(iterations=16) and mcts(iterations=17)" in shown_html
    assert results.sentence in shown_html and results.meaning in shown_html
    assert "equal at tictactoe within 90 Elo" in results.sentence  # not the default margin
    assert f"<b>{results.estimate_text}</b>" in shown_html and f"<b>{results.duel.games:,}</b>" in shown_html
    assert "p-value" not in texts(page)
