"""Ratings and who beats whom, from the store: by hand, and against simulated agents of known strength."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.results.made import DUEL, GAME, made
from turnier.arena.match import MatchRecord, Termination
from turnier.dashboards.kinds.tournament import with_standings
from turnier.results.frames.matches import MATCH_COLUMNS, json_rows, matches_frame, summary
from turnier.results.frames.rating_list import RATING_COLUMNS
from turnier.results.frames.standings import PAIR_COLUMNS, Standings
from turnier.results.store.store import Store
from turnier.statistics.ratings import ELO

HEX3 = "yavalath(size=5,players=3,swap=false)"


def stored(tmp_path: Any, records: list[MatchRecord]) -> pd.DataFrame:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("run", "tournament", "a tournament", {})
        store.append("run", records)
        return matches_frame(store, run="run")


def pair(seed: int, a: str, b: str, first: float, second: float) -> list[MatchRecord]:
    """Both games of a pair, by the scores of a."""
    return [made(seed, (first, -first), (a, b), DUEL), made(seed, (-second, second), (b, a), DUEL)]


def test_pairs_by_hand(tmp_path: Any) -> None:
    """a against b: pairs 2-0, 1½-½, 0-2, 2-0; one pair with b against c; a failure that counts nowhere."""
    results = [(1.0, 1.0), (1.0, 0.0), (-1.0, -1.0), (1.0, 1.0)]
    records = [game for seed, result in enumerate(results) for game in pair(seed, "a", "b", *result)]
    records += pair(0, "b", "c", 1.0, -1.0)
    records.append(made(9, (0.0, 0.0), ("a", "c"), DUEL, termination=Termination.ERROR, error="x"))
    table = Standings.of(stored(tmp_path, records)).pairs
    assert tuple(table.columns) == PAIR_COLUMNS
    ab, bc = table.to_dict("records")
    assert (ab["first"], ab["second"], ab["games"], ab["pairs"]) == ("a", "b", 8, 4)
    assert (ab["wins"], ab["draws"], ab["losses"], ab["win_rate"]) == (5, 1, 2, 5 / 8)
    assert (ab["points"], ab["points_share"]) == (5.5, 5.5 / 8)
    assert ab["win_rate_low"] < ab["points_share_low"] < 5.5 / 8 < ab["points_share_high"] < ab["win_rate_high"] + 0.05
    # Four seeds and two virtual ones: 3.5 of 6, Student's t of 5 degrees of freedom.
    squares = np.mean([1, 0.25, 0, 1, 1, 0]) - (3.5 / 6) ** 2
    assert ab["win_rate_low"] == pytest.approx(3.5 / 6 - 2.570582 * np.sqrt(squares / 6), abs=1e-5)
    assert ab["difference"] == pytest.approx((1 + 0.5 - 1 + 1) / 4)
    half = 3.182446 * np.std([1, 0.5, -1, 1], ddof=1) / 2  # Student's t, 3 degrees of freedom
    assert (ab["difference_low"], ab["difference_high"]) == pytest.approx((0.375 - half, 0.375 + half), abs=1e-5)
    assert ab["p_holm"] == pytest.approx(min(1, 2 * ab["p"])) and 0.5 < ab["superiority"] < 0.9
    assert (bc["games"], bc["pairs"], bc["difference"], bc["p"]) == (2, 1, 0.0, 1.0)


def test_single_games_are_no_surer_than_their_number_allows(tmp_path: Any) -> None:
    """Ten games won without changing seats: equal agents do that once in 512 times."""
    (row,) = Standings.of(stored(tmp_path, [made(n, (1.0, -1.0), ("a", "b"), DUEL) for n in range(10)])).pairs.to_dict(
        "records"
    )
    assert (row["pairs"], row["p"]) == (10, 2 / 2**10)


def test_alone_only_shared_seeds_are_compared(tmp_path: Any) -> None:
    scores = {"a": [5.0, 9.0, 7.0, 4.0], "b": [4.0, 6.0, 7.0]}
    records = [made(seed, (score,), (agent,)) for agent, its in scores.items() for seed, score in enumerate(its)]
    frame = stored(tmp_path, records)
    (row,) = Standings.of(frame).pairs.to_dict("records")
    assert (row["games"], row["pairs"], row["wins"], row["draws"], row["losses"]) == (3, 3, 2, 1, 0)
    assert row["difference"] == pytest.approx(4 / 3)
    assert 0.5 < row["superiority"] < 1 - row["p"] / 2  # of two agents that hardly differ, a large one is rather luck


def test_ratings_and_pairs_cover_known_strengths() -> None:
    """Four agents of known strength, 30 tournaments: 90 to 100 % of 120 and 180 intervals."""
    rng, own, pairs = np.random.default_rng(1), [], []
    names = np.array(["a", "b", "c", "d"])
    for _ in range(30):
        elo = rng.normal(0, 80, 4)
        rows = []
        for i in range(4):
            for j in range(i + 1, 4):
                won = 1 / (1 + np.exp((elo[j] - elo[i]) / ELO))
                for seed in range(30):
                    for first, second in ((i, j), (j, i)):
                        result = 1.0 if rng.random() < (won if first == i else 1 - won) else -1.0
                        match = f"{i}{j}{seed}{first}"
                        rows += [(match, 0, names[first], seed, result), (match, 1, names[second], seed, -result)]
        frame = pd.DataFrame(rows, columns=["match", "seat", "agent", "seed", "score"])
        frame = frame.assign(game=DUEL, termination="normal", seats=2)
        rated = Standings.of(frame).ratings.set_index("agent").loc[names]
        truth = elo - elo.mean()
        own.append((rated["elo_low"] <= truth) & (truth <= rated["elo_high"]))
        for row in Standings.of(frame).pairs.to_dict("records"):
            i, j = (int(np.flatnonzero(names == row[side])[0]) for side in ("first", "second"))
            expected = 2 / (1 + np.exp((elo[j] - elo[i]) / ELO)) - 1
            pairs.append(row["difference_low"] <= expected <= row["difference_high"])
    assert 0.90 <= np.mean(own) <= 0.995
    assert 0.90 <= np.mean(pairs) <= 0.995


RATED = ("agent", "elo", "elo_low", "live_mu", "live_sigma")


def test_three_seats_are_rated_by_all_pairs_of_seats_and_live(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    records = []
    for seed in range(40):
        seats = [str(agent) for agent in rng.permutation(["a", "b", "c"])]
        winner = max(seats, key=lambda agent: {"a": 2.0, "b": 1.0, "c": 0.0}[agent] + rng.normal(0, 1))
        records.append(made(seed, [1.0 if agent == winner else -0.5 for agent in seats], seats, HEX3))
    frame = stored(tmp_path, records)
    table = Standings.of(frame).ratings
    assert table["agent"].tolist() == ["a", "b", "c"] and table["games"].tolist() == [40] * 3
    assert table["elo"].sum() == pytest.approx(0) and (table["elo_low"] < table["elo"]).all()
    assert table["live_mu"].is_monotonic_decreasing and (table["live_sigma"] < 25 / 3).all()
    assert Standings.of(frame).pairs["games"].tolist() == [40] * 3
    with Store.open(f"sqlite:///{tmp_path}/order.db") as store:  # ids or their beginnings, in whichever order played
        store.begin_run("run", "tournament", "t", {})
        store.append("run", [records[i] for i in rng.permutation(20)])
        store.append("run", [records[20 + i] for i in rng.permutation(20)])
        other = Standings.of(matches_frame(store, ids=False)).ratings
    pd.testing.assert_frame_equal(other[list(RATED)], table[list(RATED)])


def test_nothing_to_compare(tmp_path: Any) -> None:
    frame = stored(tmp_path, [made(1), made(2, (0.0, 0.0), ("a", "a"), DUEL)])
    assert Standings.of(frame).ratings.empty and Standings.of(frame).pairs.empty
    assert tuple(Standings.of(frame).ratings.columns) == RATING_COLUMNS
    empty = pd.DataFrame(columns=list(MATCH_COLUMNS))
    assert Standings.of(empty).ratings.empty and Standings.of(empty).pairs.empty


def many(agents: int) -> list[MatchRecord]:
    """The earlier in the alphabet always wins, and scores more alone."""
    names = "abcdefgh"[:agents]
    found = [
        made(seed, (float(100 * seed - 7 * i - seed * i),), (a,)) for seed in range(9) for i, a in enumerate(names)
    ]
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            found += [game for seed in range(13) for game in pair(seed, a, b, 1.0, 1.0)]
    return found


def test_json_has_ratings_and_pairs_besides_the_summary(tmp_path: Any) -> None:
    frame = stored(tmp_path, many(3))
    rows = with_standings(json_rows(summary(frame)), Standings.of(frame))
    found = {(row["game"], row["agent"]): row for row in json.loads(json.dumps(rows, allow_nan=False))}
    best = found[DUEL, "a"]
    assert best["elo"] > best["elo_low"] > 0 and best["live_mu"] is None
    assert [(p["second"], p["wins"]) for p in best["pairs"]] == [("b", 26), ("c", 26)]
    assert found[DUEL, "c"]["pairs"] == []
    assert found[GAME, "a"]["elo"] is None and found[GAME, "a"]["pairs"][0]["difference"] == pytest.approx(11.0)
    assert not math.isnan(found[GAME, "a"]["pairs"][0]["p_holm"])
