"""Repeats by construction count once in every kind of run, whoever plays; repeats by chance count each time."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.schedules.adaptive import AdaptiveTournament
from turnier.arena.workers.where import Where
from turnier.core.outside.trust import trusting
from turnier.dashboards.kinds.games import score_table
from turnier.results.frames import by_opponent, matches_frame, seat_summary, summary
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.tournament import Tournament
from turnier.statistics.sprt import Verdict

BOT = '''
from dataclasses import dataclass
import random
import numpy as np
from turnier import parameter
from turnier.agents.agent import Agent, Decision


@dataclass(frozen=True)
class Bot(Agent):
    """Plays the last legal action; in one of `each` games, random ones from its third move on."""

    each: int = parameter(0, "how many games there are for one with random moves, 0 = none have any", low=0, high=100)

    def start(self, game, seat=0, seed=0):
        return Player(self.each and seed % self.each == 0, random.Random(seed), game.num_actions)


class Player:
    def __init__(self, draws, random, num_actions):
        self.draws, self.random, self.none = draws, random, np.zeros(num_actions)

    def act(self, position):
        legal = position.legal_actions()
        late = len(legal) < 6 and self.draws
        return Decision(self.random.choice(legal) if late else legal[-1], self.none, self.none, 1, 0.0)
'''
PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "move":
        print(json.dumps({"action": message["legal"][len(message["legal"]) // 2]}), flush=True)
    elif message["type"] == "quit":
        break
"""
GREEDY, DEEPER, MCTS, OTHER = "greedy", "alphabeta(depth=2)", "mcts(iterations=1)", "mcts(iterations=2)"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "bot.py").write_text(BOT)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as opened, trusting():
        yield opened


@pytest.fixture
def bot(tmp_path: Path) -> str:
    return f"{tmp_path}/bot.py:Bot"


def frame(store: Store, *agents: str, **options: object) -> pd.DataFrame:
    tournament = Tournament("tictactoe", agents, **options)  # type: ignore[arg-type]
    return tournament.run(store, where=Where("serial"), progress=False).frame()


def compared(store: Store, *agents: str, **options: object) -> ComparisonResults:
    comparison = Comparison(*agents, game="tictactoe", **options)  # type: ignore[arg-type]
    results = comparison.run(store, where=Where("serial"), progress=False)
    again = ComparisonResults.find(store, results.id)
    assert (again.sentence, again.meaning, again.duel.looks) == (results.sentence, results.meaning, results.duel.looks)
    return results


def different(table: pd.DataFrame) -> list[tuple[int, int]]:
    return list(table[["games", "different"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("form", ["round_robin", "gauntlet", "swiss", "adaptive"])
def test_in_every_format_own_agents_that_draw_nothing_count_once(store: Store, form: str) -> None:
    games = {"games": 60, "top": 1} if form == "adaptive" else {"games": 6}
    found = frame(store, GREEDY, DEEPER, MCTS, format=form, **games)
    drawn = {match for match, part in found.groupby("match") if MCTS in set(part["label"])}
    assert not found[found["match"].isin(drawn)]["repeat"].any()
    of_both = found[~found["match"].isin(drawn)]
    assert len(of_both) == 2 * 2 + 2 * of_both[of_both["repeat"]]["match"].nunique()
    rows = summary(found).set_index("label")
    assert (
        rows["different"]
        == rows["games"] - found[found["repeat"]].groupby("label").size().reindex(rows.index).fillna(0)
    ).all()
    assert (rows[["wins", "draws", "losses"]].sum(axis=1) == rows["different"]).all()


def test_a_bot_that_draws_nothing_counts_once_and_one_that_draws_each_time(store: Store, bot: str) -> None:
    some, all_games = (frame(store, agent, GREEDY, games=40) for agent in (bot, f"{bot}(each=10)"))
    assert different(summary(some)) == [(40, 2)] * 2 and different(seat_summary(some)) == [(20, 1)] * 4
    assert different(by_opponent(some)) == [(40, 2)] * 2
    first = some[~some["repeat"]]
    assert first["seed"].nunique() == 1 and first["seed"].iloc[0] == some["seed"].min(), "so that pairs stay pairs"
    assert different(summary(all_games)) == [(40, 40)] * 2
    equal = all_games.groupby(["agent", "seat"])["decisions"].value_counts().max()
    assert equal > 10, "most of these games are the same"
    both = matches_frame(store, agent=f"{bot}(each=10)")
    assert not both["repeat"].any() and matches_frame(store, agent=bot)["repeat"].sum() == 38


def test_agents_that_draw_repeat_games_by_chance_only(store: Store) -> None:
    """Of many games between random players of nim some are the same; each counts."""
    found = frame(store, "random", MCTS, games=200)
    assert different(summary(found)) == [(200, 200)] * 2


def test_a_program_is_seen_to_draw_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "bot_of_lines.py").write_text(PROGRAM)
    program = f'json(command="{sys.executable} {tmp_path}/bot_of_lines.py")'
    results = compared(store, program, GREEDY, games=200, first_round=20)
    assert (results.duel.games, results.duel.different, results.duel.test.units) == (40, 2, 1)
    assert "after 40 games, 2 different (20 pairs): neither draws random numbers; start from" in results.sentence


def test_a_comparison_ends_where_further_games_would_repeat_these(store: Store, bot: str) -> None:
    results = compared(store, bot, GREEDY)
    assert results.verdict is Verdict.UNDECIDED and results.duel.games == 64 and results.void_pairs == 0
    assert results.sentence.endswith(
        "undecided after 64 games, 2 different (32 pairs): neither draws random numbers; start from positions that"
        " differ: --openings 4."
    )
    assert different(results.agents()) == [(64, 2)] * 2
    assert pd.isna(results.duel.games_left) and pd.isna(results.games_to_verdict)
    assert "every further game would repeat" in results.meaning
    openings = compared(store, bot, GREEDY, openings=1)  # which has ten
    assert openings.duel.exhausted and openings.duel.test.units == 10 == len(openings.duel.outcomes)
    assert openings.sentence.endswith("start from more positions: --openings 4.")
    assert compared(store, bot, "mcts(iterations=200)").duel.different >= 48


def test_pairs_count_after_all_once_an_agent_is_seen_to_draw(store: Store, bot: str) -> None:
    """Then the comparison goes on as between agents that are known to draw."""
    results = compared(store, f"{bot}(each=24)", GREEDY, first_round=10, games=120)
    looks = results.duel.looks
    assert 1 in looks and looks[-1] == results.duel.pairs == results.duel.test.units > 24
    assert results.duel.repeated == 0 and not results.duel.exhausted
    assert results.evidence()["games"].max() == results.duel.games


def test_agents_whose_games_repeat_do_not_meet_again_in_an_adaptive_tournament(store: Store, bot: str) -> None:
    options = {"games": 500, "format": "adaptive", "top": 1}
    ended = Tournament("tictactoe", [GREEDY, DEEPER, bot], **options).run(store, where=Where("serial"), progress=False)
    assert isinstance(ended.adaptive, AdaptiveTournament) and ended.adaptive.games < 200, "nothing new can come"
    found = frame(store, GREEDY, DEEPER, bot, MCTS, **options)
    met = found.groupby("match")["label"].agg(frozenset).value_counts()
    assert met[frozenset({GREEDY, DEEPER})] < 40 and all(met[pair] < 80 for pair in met.index if MCTS not in pair)
    assert not found[found["match"].isin(found[found["label"] == MCTS]["match"])]["repeat"].any()


def test_tables_show_how_many_games_are_different(store: Store) -> None:
    found = frame(store, GREEDY, DEEPER, games=2000)
    table = score_table(summary(found)).texts()
    assert table["games"].tolist() == ["2,000"] * 2 and table["different"].tolist() == ["2"] * 2
    json.dumps(found["repeat"].tolist())


def test_rows_of_experiments_count_them_once_too(store: Store) -> None:
    def games(agents: Sequence[str]) -> int:
        row = Row("one", "tictactoe", tuple(make_agent(agent).full_text() for agent in agents), 20)
        experiment = Experiment("document", f"repeats-{agents[1]}", "Repeats", "", (row,))
        return int(experiment.run(store, where=Where("serial"), progress=False).table()["games"].iloc[0])

    assert (games((GREEDY, DEEPER)), games((GREEDY, MCTS))) == (2, 20)


def test_a_comparison_looks_at_its_own_games_alone(store: Store, bot: str) -> None:
    """The run may have games of a longer one; what repeats those only is no repeat."""
    longer = compared(store, bot, GREEDY, first_round=200)
    shorter = compared(store, bot, GREEDY, first_round=20)
    assert (longer.duel.games, shorter.duel.games) == (400, 40) and longer.id == shorter.id
    assert different(shorter.agents()) == [(40, 2)] * 2 and different(longer.agents()) == [(400, 2)] * 2
