"""Every page without a browser: what it shows of a real store, its choices, and what it says when there is nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dashboards.drawn_pages import Pages, run_of, url_of
from tests.results.made import GAME, made
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.workers.where import Where
from turnier.dashboards.kinds import tournament
from turnier.dashboards.links import match_address, run_address
from turnier.dashboards.markup import unbroken
from turnier.dashboards.pages.page import MENU, Block, spread
from turnier.dashboards.pages.tables import short_number
from turnier.dashboards.sections import kind_of
from turnier.results.store.store import Store
from turnier.runs.people.hosted_games import store_game
from turnier.runs.results import RunResults
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.tournament import Tournament
from turnier.search.storage.studies import stored_verdict

YAVALATH = "tournament", "yavalath"


@pytest.mark.parametrize(
    ("kind", "name", "tab", "titles", "fewest"),
    [
        ("tournament", "yavalath", "", ["Rating list", "Ratings", "Points", "Scores and costs"], 2),
        (
            "tournament",
            "yavalath",
            "pairs",
            ["Who beats whom", "3 pairs of agents differ", "by seat", "All pairs"],
            2,
        ),
        ("tournament", "yavalath", "games", ["Games", "18 games."], 0),
        ("tournament", "yavalath", "cost", ["Points against cost", "Cost by agent", "CPU time per move, µs"], 1),
        (
            "tournament",
            "yavalath",
            "origin",
            ["Settings", "To check it by playing some of its games again:", "as one HTML file"],
            0,
        ),
        ("tournament", "2048", "", ["Mean scores", "Scores of single games", "Largest and smallest scores"], 3),
        ("tournament", "spe_ed", "", ["Rating list", "Points"], 2),
        ("tournament", "spe_ed", "pairs", ["Who beats whom"], 1),
        ("comparison", "", "", ["Evidence", "Tests", "Pairs by outcome", "Agents"], 2),
        ("certainty", "", "", ["Normalised, by agent", "Normalised, by iterations", "mc(iterations=40): "], 5),
        ("study", "tiny", "", ["What is tuned", "Searched parameters"], 0),
        ("study", "tiny", "search", ["Generations", "Step size sigma", "Importance of parameters"], 6),
        ("study", "decided", "search", ["Generations", "Spread of the candidates", "exploration by iterations"], 6),
        ("training", "", "", ["Training games", "Evaluations during training"], 2),
        ("experiment", "", "", ["A small question", "undecided"], 1),
    ],
)
def test_tabs_show_what_is_stored(
    pages: Pages, store: Store, kind: str, name: str, tab: str, titles: list[str], fewest: int
) -> None:
    run = run_of(store, kind, name)
    page = pages.look(run_address(run.id, tab))
    assert [title for title in titles if title not in page.text] == []
    assert len(page.figures) >= fewest and not page.trouble
    assert (tab or "result").capitalize() in page.tabs and page.tabs[0] == "Result" and page.tabs[-1] == "Origin"


def test_the_other_pages_are_shown(pages: Pages) -> None:
    assert "Past runs" in pages.look("/").text
    assert "Their games" in pages.look("/league").text
    for board in ("/play", "/analyse"):
        page = pages.look(board)
        assert {"/", "/league", "/play", "/analyse"} <= set(page.links) and "/static/main.js" in page.fetched


def test_what_is_read_of_a_run_is_read_once(url: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = tournament.read

    def read_and_noted(results: RunResults) -> tournament.Data:
        read.append(results.id)
        return original(results)

    monkeypatch.setattr(tournament, "read", read_and_noted)
    run, own = run_of(store, *YAVALATH).id, Pages(url)
    for address in (run_address(run), run_address(run, "pairs"), run_address(run, "cost"), run_address(run)):
        own.look_later(address)
    assert read == [run]


def test_a_head_from_data_that_were_read_is_the_head_of_lists(store: Store) -> None:
    runs = [run for run in store.runs() if hasattr(kind_of(run.kind), "head_of")]
    assert {run.name.partition("(")[0] for run in runs} >= {"yavalath", "2048"}
    for run in runs:
        kind, results = kind_of(run.kind), RunResults.find(store, run.id)
        assert kind.head_of(results, kind.read(results)) == kind.head(results)


def test_scores_are_of_the_chosen_agents(pages: Pages, store: Store) -> None:
    listed = pages.look(run_address(run_of(store, "tournament", "2048").id)).table("Scores and costs")
    assert list(listed["agent"]) == ["mc(iterations=40)", "greedy", "random"]
    certainty = run_address(run_of(store, "certainty").id, agents="random")
    assert list(pages.look(certainty).tables["Agents"]["agent"]) == ["random"]
    training = run_address(run_of(store, "training").id, "games")
    assert len(pages.look(training).choices["agent"]) > 2


def test_a_study_begins_with_its_verdict_and_the_agent_to_copy(pages: Pages, store: Store) -> None:
    page = pages.look(run_address("study:decided"))
    verdict = stored_verdict(store, "decided")
    assert verdict is not None and verdict.sentence in page.text and page.copied[0] == verdict.agent
    assert page.text.index(verdict.sentence) < page.text.index(verdict.agent + "\n") < page.text.index("Held-out games")
    held_out = page.tables["Held-out games"]
    assert held_out["finalist"].iloc[0] == "start" and {"luck, %", "minus start, %", "replay"} <= set(held_out)
    assert "/dashboard/studies/3" in page.links


def test_a_candidate_leads_to_its_games(pages: Pages, store: Store) -> None:
    run = run_of(store, "study", "tiny").id
    assert f'data-to="{run_address(run, "candidate")}/"' in pages.look(run_address(run, "search")).html
    answer = pages.ask(f"{run_address(run, 'candidate')}/3")
    assert answer.status == 307 and answer.headers["location"].startswith(f"{run_address(run, 'games')}?agent=mctse")
    assert "3 games" in pages.look(answer.headers["location"]).text
    assert "must be finished, got number 99" in pages.look(f"{run_address(run, 'candidate')}/99").trouble
    assert pages.ask(f"{run_address(run_of(store, 'training').id, 'candidate')}/1").status == 404


def test_a_search_without_a_verdict_and_a_front_say_what_is_known(pages: Pages) -> None:
    page = pages.look(run_address("study:tiny"))
    assert "Not yet verified" in page.text and page.copied[0].startswith("mctse(")
    page = pages.look(run_address("study:front"))
    assert "beaten by none at both" in page.text and "Strength against time in held-out games" in page.figures


def test_studies_of_one_unit_are_compared(pages: Pages) -> None:
    page = pages.look(run_address("study:tiny", "search"))
    assert page.choices["compare"] == ["front"] and "Verdicts" not in page.tables
    page = pages.look(run_address("study:tiny", "search", compare="front"))
    assert "Studies by games played" in page.figures and list(page.tables["Verdicts"]["study"]) == ["tiny", "front"]


def test_a_parameter_is_chosen_and_keeps_the_choice_of_another_one(pages: Pages) -> None:
    names = "evaluator.corner", "evaluator.merge"
    page = pages.look(run_address("study:tiny", "search", parameter=names[0], second=names[1]))
    assert {f"By {names[0]}", " by ".join(names[::-1])} <= set(page.figures)
    assert names[0] in page.choices["parameter"] and names[0] not in page.choices["second"]
    assert f'<input type="hidden" name="parameter" value="{names[0]}">' in page.html


def test_a_pair_of_agents_shows_its_games_beside_the_table(pages: Pages, store: Store) -> None:
    run = run_of(store, *YAVALATH).id
    place = run_address(run, "pairs")
    assert 'class="panel"' not in pages.look(place).html
    page = pages.look(run_address(run, "pairs", agent="random", against="mc(iterations=5)"))
    panel = page.html.partition('class="panel"')[2]
    assert "random against mc(iterations=5)" in page.text and f'class="close" href="{place}"' in panel
    games = page.tables["Games"]
    assert len(games) == 6 and games["score and agent of each seat"].str.contains("random").all()
    assert games["board"].str.startswith("/match/").all() and panel.count("/board.svg") == 6
    alone = run_of(store, "tournament", "2048").id
    page = pages.look(run_address(alone, "pairs", agent="random", against="greedy"))
    assert page.html.partition('class="panel"')[2].count("All 12 games, with filters") == 2


def test_agents_are_rated_over_all_tournaments_of_a_game(tmp_path: Path) -> None:
    with Store.open(url_of(tmp_path / "two.db")) as store:
        for other in ("greedy", "mc(iterations=5)"):
            Tournament("tictactoe", ["random", other], games=4).run(store, where=Where("threads", 1), progress=False)
        run = run_of(store, "tournament").id
        people = tuple(make_agent(text).full_text() for text in ("random", "greedy"))
        store_game(store, play_match(MatchSpec("tictactoe", people, 5)))  # as on the board
        pages = Pages(store.url)
        assert len(pages.look(run_address(run)).tables["Rating list"]) == 2
        listed = pages.look(run_address(run, rated="all tournaments of the game")).tables["Rating list"]
        assert set(listed["agent"]) == {"random", "greedy", "mc(iterations=5)"}
        games = {"random": "8", "greedy": "4", "mc(iterations=5)": "4"}
        assert listed.set_index("agent")["games"].to_dict() == games
        league = pages.look("/league/tictactoe")
        own = league.table("tictactoe").set_index("agent")["games"].astype(int).to_dict()
        assert own == {"random": 9, "greedy": 5, "mc(iterations=5)": 4}  # games of people count
        assert set(league.tables["The best of every family"]["family"]) == {"random", "greedy", "mc"}


def test_a_run_that_is_incomplete_says_so_and_shows_agents_that_come_later(tmp_path: Path) -> None:
    whole = Tournament("2048(size=3)", ["greedy", "mc(iterations=5)", "random"], games=3)
    records = [play_match(spec) for spec in whole.plan or ()]
    with Store.open(url_of(tmp_path / "live.db")) as store:
        store.begin_run(whole.run_id, "tournament", "2048(size=3)", whole.definition)
        store.append(whole.run_id, [record for record in records if record.spec.agents != ("random",)])
        pages, place = Pages(store.url), run_address(whole.run_id)
        page = pages.look(place)
        assert "No games yet: random." in page.text
        assert list(page.tables["Scores and costs"]["agent"]) == ["mc(iterations=5)", "greedy"]
        store.append(whole.run_id, [record for record in records if record.spec.agents == ("random",)])
        page = pages.look_later(place)
        assert "No games yet" not in page.text and "random" in list(page.tables["Scores and costs"]["agent"])


def test_several_runs_stand_side_by_side(pages: Pages, store: Store) -> None:
    runs = [run.id for run in store.runs() if run.kind in ("tournament", "certainty") and run.name == "2048(size=3)"]
    page = pages.look(f"/compare?run={runs[0]}&run={runs[1]}")
    searched, rated = (next(part for title, part in page.tables.items() if title.endswith(end)) for end in (
        ": Agents", ": Rating list by mean score"
    ))  # fmt: skip
    assert "normalised, %" in searched and {"random", "mc(iterations=40)"} <= {*searched["agent"]} & {*rated["agent"]}
    assert [page.text.count(run) > 0 for run in runs] == [True, True]
    differing = page.tables["Settings that differ"].set_index("setting")
    assert set(differing) == set(runs) and differing.loc["games", runs[0]] != differing.loc["games", runs[1]]


def test_agents_of_two_tournaments_are_compared(pages: Pages, store: Store) -> None:
    runs = [run.id for run in store.runs() if run.kind in ("tournament", "comparison")]
    page = pages.look("/compare?" + "&".join(f"run={run}" for run in runs))
    assert len(page.tables["Scores and costs"]) > 1


def test_agents_whose_files_share_a_name_are_told_apart(tmp_path: Path) -> None:
    agents = [f"greedy(evaluator=ntuple(file={file}))" for file in ("a/g.npz,digest=1", "b/g.npz,digest=2")]
    names = [agent.replace(f",digest={number}", "") for number, agent in enumerate(agents, 1)]
    place = run_address("tournament:1")
    with Store.open(url_of(tmp_path / "two.db")) as store:
        store.begin_run("tournament:1", "tournament", "2048", {"game": GAME, "agents": agents})
        store.append("tournament:1", [made(seed, (1.0,), agents[:1]) for seed in range(3)])
        pages = Pages(store.url)
        assert f"No games yet: {names[1]}." in pages.look(place).text
        store.append("tournament:1", [made(seed, (2.0,), agents[1:]) for seed in range(3)])
        listed = pages.look_later(place).tables["Scores and costs"].set_index("agent")
        assert list(listed.index) == names[::-1] and list(listed["mean score"]) == ["2 ± 0", "1 ± 0"]
        met = pages.look(run_address("tournament:1", "pairs", agent=names[0], against=names[1]))
        assert met.choices["agent"] == ["", *names[::-1]] and len(met.tables["Games"]) == 3
        games = pages.look(run_address("tournament:1", "games", agent=names[0]))
        assert games.tables["Games"]["score and agent of each seat"].str.endswith(names[0]).all()
        assert f"{names[1]} leads: " in pages.look("/").text


def test_the_address_leads_to_one_move_of_one_match(pages: Pages, store: Store) -> None:
    run = run_of(store, *YAVALATH).id
    match = next(record for records in store.records_of_run(run) for record in records).spec.id
    assert match_address(run, match, 2) == f"/match/{match}?run={run.replace(':', '%3A')}#move=3"
    assert "/static/main.js" in pages.look(match_address(run, match, 2)).fetched
    read = pages.ask(f"/api/matches/{match}")
    assert read.status == 200 and read.json["run"] == run and read.json["id"] == match
    assert pages.ask(f"/api/matches/{match}/board.svg").body.startswith(b"<svg")


def test_the_menu_marks_where_one_is(pages: Pages) -> None:
    for address in (*MENU.values(), "/?kind=study", "/league/yavalath(size=3)"):
        (marked,) = re.findall(
            r'<a href="([^"]+)" aria-current="page">', pages.look(address).html.partition("</header>")[0]
        )
        assert address.startswith(marked) and (marked != "/" or address[:2] in ("/", "/?"))
    assert "aria-current" not in pages.look("/nowhere").html.partition("</header>")[0]


def test_numbers_that_only_identify_are_short_with_all_of_them_to_copy(pages: Pages, store: Store) -> None:
    run = run_of(store, *YAVALATH)
    [*_, records] = store.records_of_run(run.id)
    seed, html = str(records[-1].spec.seed), pages.look(run_address(run.id, "games")).html
    assert len(seed) > 15 and f'title="{seed}">{seed[:6]}… <button type="button" data-copy="{seed}"' in html
    assert short_number("123456") == "123456" and short_number("seed 12345678901234") == "seed 12345678901234"


def test_games_are_filtered_by_agents_result_and_order(pages: Pages, store: Store) -> None:
    run = run_of(store, *YAVALATH).id

    def games(**query: str) -> list[str]:
        table = pages.look(run_address(run, "games", **query)).tables.get("Games")
        return [] if table is None else list(table["score and agent of each seat"])

    assert len(games()) == 18 and len(games(agent="random")) == 12
    assert len(games(agent="random", against="mc(iterations=5)")) == 6
    ends = [games(agent="random", result=result) for result in ("won", "drawn", "lost")]
    assert sum(map(len, ends)) == 12 and all("1 random" in game for game in ends[0])
    assert all("-1 random" in game or "0 random" in game for game in ends[2])
    lengths = [
        pages.look(run_address(run, "games", order=order)).tables["Games"]["moves"].astype(int).tolist()
        for order in ("longest", "shortest")
    ]
    assert lengths[0] == sorted(lengths[0], reverse=True) and lengths[1] == sorted(lengths[1])
    assert (
        games(result="failed") == []
        and "No game is like that." in pages.look(run_address(run, "games", result="failed")).text
    )
    first = pages.look(run_address(run, "games", most="5"))
    assert len(first.tables["Games"]) == 5 and "5 of 18 games." in first.text and "More games" in first.text


def test_a_comparison_page_leads_with_the_verdict_of_the_terminal(pages: Pages, store: Store) -> None:
    run = run_of(store, "comparison")
    results = ComparisonResults.find(store, run.id)
    page = pages.look(run_address(run.id))
    assert page.title == "tictactoe, mcts(iterations=16) and mcts(iterations=17) · Turnier"
    assert results.sentence in page.text and results.meaning in page.text
    assert "equal at tictactoe within 90 Elo" in results.sentence  # not the default margin
    estimate = unbroken(results.estimate_text)
    assert f"<dd>{estimate}</dd>" in page.html and f"<dd>{results.duel.games:,}</dd>" in page.html
    assert "p-value" not in page.text


def test_data_are_what_pages_show(pages: Pages, store: Store) -> None:
    listed = pages.ask("/api/runs").json
    assert [one["id"] for one in listed] == [run.id for run in reversed(store.runs())]
    run = run_of(store, *YAVALATH)
    one = pages.ask(f"/api/runs/{run.id}").json
    assert one["definition"] == run.definition and one["sentence"] in pages.look(run_address(run.id)).text
    assert {row["agent"].partition("(")[0] for row in one["result"]} == {"mcts", "mc", "random"}
    figures = pages.ask(f"/api/runs/{run.id}/figures").json
    assert {"Ratings", "Who beats whom"} <= {figure["title"] for figure in figures}
    assert all(figure["data"] and figure["spec"]["$schema"] for figure in figures)
    assert "one 'nobody'" in pages.ask("/api/runs/nobody").json["error"] or pages.ask("/api/runs/nobody").status == 400


def test_blocks_have_keys_of_their_own_and_none_stands_half_alone() -> None:
    shown = spread(
        [Block("a", "1", half=True), Block("b", "2"), Block("a", "3", half=True), Block("a", "4", half=True)]
    )
    assert [(block.key, block.half) for block in shown] == [("a", False), ("b", False), ("a 2", True), ("a 3", True)]
