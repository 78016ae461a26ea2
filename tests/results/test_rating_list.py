"""Rating lists: by hand, by points and not by wins, and with the likelihood to be better than the next."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.results.made import DUEL, GAME, made
from turnier.arena.match import MatchRecord, Termination
from turnier.results.frames import Standings, matches_frame, summary
from turnier.results.frames.rating_list import RATING_COLUMNS
from turnier.results.store.store import Store


def standings(folder: Path, records: list[MatchRecord]) -> Standings:
    with Store.open(f"sqlite:///{folder}/a.db") as store:
        store.begin_run("run", "tournament", "a tournament", {})
        store.append("run", records)
        return Standings.of(matches_frame(store, run="run"))


def games(first: str, second: str, won: int, drawn: int, lost: int, seed: int = 0) -> list[MatchRecord]:
    """Games with the agents in both orders of seats, in turn."""
    scores = [1.0] * won + [0.0] * drawn + [-1.0] * lost
    return [
        made(seed + i // 2, (s, -s), (first, second), DUEL)
        if i % 2
        else made(seed + i // 2, (-s, s), (second, first), DUEL)
        for i, s in enumerate(scores)
    ]


def test_a_draw_is_half_a_point_and_order_is_by_points(tmp_path: Path) -> None:
    """a won more games than b, but b has more points: 13-0-7 and 8-12-0 against c."""
    ratings, _, _ = standings(tmp_path, games("a", "c", 13, 0, 7) + games("b", "c", 8, 12, 0))
    assert tuple(ratings.columns) == RATING_COLUMNS
    assert ratings["agent"].tolist() == ["b", "a", "c"] and ratings["rank"].tolist() == [1, 2, 3]
    counts = ratings[["games", "wins", "draws", "losses", "points"]].to_numpy(float).tolist()
    assert counts == [[20, 8, 12, 0, 14], [20, 13, 0, 7, 13], [40, 7, 12, 21, 13]]
    assert ratings["points_share"].tolist() == [0.7, 0.65, 0.325] and ratings["draw_share"].tolist() == [0.6, 0, 0.3]
    b, a = (ratings["points_share_high"] - ratings["points_share_low"])[:2]
    assert 0 < b < a


def test_superiority_is_over_the_next_and_by_the_covariance_of_ratings(tmp_path: Path) -> None:
    records = games("a", "b", 9, 4, 7) + games("b", "c", 12, 3, 5, seed=50) + games("a", "c", 13, 2, 5, seed=90)
    ratings, pairs, _ = standings(tmp_path, records)
    likely = {(row["first"], row["second"]): row["superiority"] for row in pairs.to_dict("records")}
    order = ratings["agent"].tolist()
    expected = [likely[pair] if pair in likely else 1 - likely[pair[::-1]] for pair in itertools.pairwise(order)]
    assert ratings["superiority"].tolist()[:-1] == pytest.approx(expected) and min(expected) > 0.5
    assert np.isnan(ratings["superiority"].iloc[-1])


def test_agents_that_no_game_links_are_in_different_groups(tmp_path: Path) -> None:
    records = games("a", "b", 5, 0, 1) + games("c", "d", 4, 0, 2) + games("d", "e", 4, 0, 2)
    records += [made(99, (1.0, -1.0), ("f", "f"), DUEL)]
    ratings = standings(tmp_path, records).ratings.set_index("agent")
    assert ratings["group"].to_dict() == {"a": 2, "b": 2, "c": 1, "d": 1, "e": 1}  # f met nobody


def test_single_player_games_are_ranked_by_mean_score(tmp_path: Path) -> None:
    """On the same seeds means vary together; an agent with seeds of its own is compared without that."""
    rng = np.random.default_rng(1)
    luck = rng.normal(100, 30, 12)
    scores = {"a": luck + rng.normal(2, 1, 12), "b": luck, "c": rng.normal(50, 30, 12)}
    records = [
        made(seed + 100 * (agent == "c"), (float(score),), (agent,))
        for agent, its in scores.items()
        for seed, score in enumerate(its)
    ]
    records.append(made(500, (1e6,), ("b",), termination=Termination.ERROR, error="x"))
    ratings, pairs, _ = standings(tmp_path, records)
    assert ratings["game"].unique().tolist() == [GAME]
    assert ratings["agent"].tolist() == ["a", "b", "c"] and ratings["games"].tolist() == [12] * 3
    assert ratings["mean"].tolist() == pytest.approx([its.mean() for its in scores.values()])
    assert ratings[["elo", "points", "wins", "group"]].isna().all(axis=None)
    assert 0.98 < ratings["superiority"].iloc[0] < 1  # by their differences, which luck leaves alone
    assert 0.9 < ratings["superiority"].iloc[1] < ratings["superiority"].iloc[0]
    assert ratings["best_of_all"].sum() == pytest.approx(1) and ratings["best_of_all"].iloc[0] > 0.97
    assert ratings[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert pairs[["first", "second"]].to_numpy().tolist() == [["a", "b"]]


def test_summaries_count_points(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("run", "tournament", "a tournament", {})
        store.append("run", [*games("a", "b", 3, 4, 1), made(1)])
        table = summary(matches_frame(store)).set_index("agent")
    assert table.loc["a", ["points", "points_share"]].tolist() == [5, 5 / 8]
    assert table.loc["b", ["points", "wins", "draws", "losses"]].tolist() == [3, 1, 4, 3]
    assert table.loc["random", ["points", "points_share"]].isna().all()


def test_three_who_draw_share_one_point(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("run", "tournament", "a tournament", {})
        store.append("run", [made(1, (0.0, 0.0, 0.0), ("a", "b", "c"), "yavalath(players=3)")])
        frame = matches_frame(store)
    assert frame["points"].tolist() == pytest.approx([1 / 3] * 3)
    row = Standings.of(frame).ratings.iloc[0]
    assert (row["wins"], row["draws"], row["losses"], row["points"]) == (0, 1, 0, pytest.approx(1 / 3))
