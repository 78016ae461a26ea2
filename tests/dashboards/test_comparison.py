"""The figures of a comparison: evidence against its bounds, pairs by outcome, and the state of both tests."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from turnier.arena.workers.where import Where
from turnier.dashboards.colours import VERDICT_COLOURS
from turnier.dashboards.figures.comparison import evidence_chart, outcome_bars, race_chart
from turnier.dashboards.figures.figure import image
from turnier.dashboards.kinds import race
from turnier.dashboards.kinds.comparison import agents_table, evidence_table, facts, head, to_play_on
from turnier.dashboards.markup import banner, unbroken
from turnier.results.store import manifest
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison, Race
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.stored.race import RaceResults
from turnier.statistics.sprt import Verdict

STRONG = ("mc(iterations=20)", "random")
CLOSE = ("mcts(iterations=16)", "mcts(iterations=17)")


def played(folder: Path, *agents: str, game: str = "tictactoe", **options: float) -> ComparisonResults:
    comparison = Comparison(*agents, game=game, **options)  # type: ignore[arg-type]
    with Store.open(f"sqlite:///{folder}/a.db") as store:
        return comparison.run(store, where=Where("serial"), progress=False)


@pytest.mark.parametrize(
    ("agents", "options", "verdict", "states"),
    [
        (STRONG, {}, Verdict.STRONGER, ["shown", "ruled out"]),
        (STRONG[::-1], {}, Verdict.WEAKER, ["ruled out", "shown"]),
        (CLOSE, {"margin": 150}, Verdict.EQUAL, ["ruled out", "ruled out"]),
        (CLOSE, {"margin": 1, "games": 64}, Verdict.UNDECIDED, ["open", "open"]),
    ],
)
def test_both_tests_agree_with_the_verdict(
    tmp_path: Path, agents: tuple[str, str], options: dict[str, float], verdict: Verdict, states: list[str]
) -> None:
    results = played(tmp_path, *agents, **options)
    assert results.verdict is verdict
    assert evidence_table(results).frame["state"].tolist() == states
    shown = banner(head(results))
    assert VERDICT_COLOURS[verdict] in shown and unbroken(results.meaning) in shown
    known = facts(results)
    assert known["games"] == str(results.duel.games) and (known["expected games left"] == "0") == (
        verdict is not Verdict.UNDECIDED
    )


def test_an_undecided_one_says_how_to_play_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["turnier", "compare", *CLOSE, "--game", "tictactoe", "--games", "64", "--margin", "1"]
    monkeypatch.setattr(manifest, "_command", words)
    undecided, decided = played(tmp_path, *CLOSE, margin=1, games=64), played(tmp_path, *STRONG)
    with Store.open(f"sqlite:///{tmp_path}/a.db", read_only=True) as store:
        *told, games, option, where = shlex.split(to_play_on(ComparisonResults.find(store, undecided.id)))
        assert [*told, option] == [*words[:6], *words[8:], "--games", "--store"] and store.url.endswith(where[-20:])
        assert int(games) > 64 + undecided.games_to_verdict
        assert not to_play_on(ComparisonResults.find(store, decided.id))


def test_the_figures_are_drawn_with_their_data(tmp_path: Path) -> None:
    results = played(tmp_path, *CLOSE, margin=1, games=300)
    evidence, outcomes = evidence_chart(results), outcome_bars(results)
    assert evidence is not None and outcomes is not None
    for figure in (evidence, outcomes):
        assert image(figure, "svg").startswith(b"<svg")
    assert evidence.data["games"].max() == results.duel.games
    assert outcomes.data["pairs"].sum() == results.duel.pairs and outcomes.data["percent"].sum() == pytest.approx(100)
    table = agents_table(results).numbers()
    assert (table[["won", "drawn", "lost"]].sum(axis=1) == 300).all()
    assert table["won"].tolist() == table["lost"].tolist()[::-1]


def test_nothing_is_drawn_before_the_first_look(tmp_path: Path) -> None:
    comparison = Comparison(*STRONG, game="tictactoe")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run(comparison.run_id, "comparison", "tictactoe", comparison.definition)
        results = comparison.results(store)
        assert evidence_chart(results) is None and outcome_bars(results) is None
        assert "no round of games has ended yet" in banner(head(results))
        assert facts(results)["expected games left"] == "not known yet"


def test_the_verdict_tells_networks_apart_whose_files_share_a_name(tmp_path: Path) -> None:
    agents = [f"greedy(evaluator=ntuple(file={file}))" for file in ("a/g.npz,digest=1", "b/g.npz,digest=2")]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        comparison = Comparison(*agents, game="2048")
        store.begin_run(comparison.run_id, "comparison", "2048", comparison.definition)
        shown = head(ComparisonResults.find(store, comparison.run_id)).sentence
    assert "greedy(evaluator=ntuple(file=a/g.npz)) and greedy(evaluator=ntuple(file=b/g.npz)) at 2048" in shown


@pytest.mark.parametrize(("game", "margin"), [("tictactoe", 200.0), ("2048(size=2)", 60.0)])
def test_a_race_shows_every_agent_beside_the_base(game: str, margin: float, tmp_path: Path) -> None:
    plan = Race(["random", "mc(iterations=30)", "greedy"], base="mc(iterations=3)", game=game, margin=margin, games=64)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run(plan.run_id, "race", game, plan.definition)
        begun = RaceResults.find(store, plan.run_id)
        assert race_chart(begun) is None and "no round of games has ended yet" in banner(race.head(begun))
        results = plan.run(store, where=Where("serial"), progress=False)
        chart, table = race_chart(results), race.agents_table(results)
    assert chart is not None and image(chart, "svg").startswith(b"<svg")
    shown, agents = table.numbers(), results.agents()
    assert chart.data["agent"].tolist() == shown["agent"].tolist() == agents["label"].tolist()
    assert chart.data["low"].lt(chart.data["value"]).all() and unbroken(results.sentence) in banner(race.head(results))
    behind = agents["ahead"] != ""
    assert shown["verdict"][behind].tolist() == [f"behind {each}" for each in agents["ahead"][behind]]
