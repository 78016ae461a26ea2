"""Win rates by parameter, opponent and number of players, against counts by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from turnier.arena.match import MatchRecord, MatchSpec, Termination, pack_plies
from turnier.results.frames.breakdown import by_opponent, by_parameter, by_players
from turnier.results.frames.matches import matches_frame
from turnier.results.store.store import Store

GAMES = (
    # agents, their scores
    (("combi(filter_value=0.5)", "basic"), (1.0, -1.0)),
    (("basic", "combi(filter_value=0.5)"), (1.0, -1.0)),
    (("combi", "basic"), (1.0, -1.0)),
    (("combi", "remote(name=ann)"), (0.0, 0.0)),
    (("combi", "basic", "basic"), (-1.0, 1.0, -1.0)),
)


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    store = Store.open(f"sqlite:///{tmp_path}/t.db")
    store.begin_run("server:1", "server", "spe_ed", {})
    for seed, (agents, scores) in enumerate(GAMES):
        n = len(agents)
        spec = MatchSpec(f"spe_ed(players={n})", agents, seed)
        plies = pack_plies(np.zeros(0, np.int64))
        record = MatchRecord(spec, Termination.NORMAL, scores, (1,) * n, (1,) * n, (0.1,) * n, 1.0, plies, {})
        store.append("server:1", [record])
    return matches_frame(store, "server:1")


def rows(table: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    return list(table[list(columns)].itertuples(index=False, name=None))


def test_by_parameter(frame: pd.DataFrame) -> None:
    found = by_parameter(frame, "filter_value")
    assert rows(found, "game", "name", "filter_value", "games", "wins", "draws", "losses") == [
        ("spe_ed(players=2)", "combi", 0.5, 2, 1, 0, 1),
        ("spe_ed(players=2)", "combi", 0.69, 2, 1, 1, 0),
        ("spe_ed(players=3)", "combi", 0.69, 1, 0, 0, 1),
    ]
    assert 0 <= found["win_rate_low"][0] < found["win_rate"][0] == 0.5 < found["win_rate_high"][0] <= 1
    assert by_parameter(frame, "nothing").empty


def test_by_opponent(frame: pd.DataFrame) -> None:
    found = by_opponent(frame)
    three = found[found["game"] == "spe_ed(players=3)"]
    assert rows(three, "label", "opponent", "games", "wins", "losses") == [
        ("basic", "basic", 2, 1, 1),
        ("basic", "combi", 2, 1, 1),
        ("combi", "basic", 1, 0, 1),  # two of them, but one game
    ]
    drawn = found[found["opponent"] == "remote(name=ann)"]
    assert rows(drawn, "label", "games", "draws") == [("combi", 1, 1)]


def test_by_players(frame: pd.DataFrame) -> None:
    found = by_players(frame)
    assert rows(found[found["label"] == "combi"], "seats", "games", "wins") == [(2, 2, 1), (3, 1, 0)]
