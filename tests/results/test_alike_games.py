"""Large runs: games that are alike are kept once, and every figure is that of all games."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.results.made import DUEL, made
from turnier.arena.match import MatchRecord, Termination
from turnier.core.errors import UserError
from turnier.dashboards.summaries.matches import EXTREMES, extremes, spread
from turnier.results.alike_games import extreme_games, results_frame
from turnier.results.archive.restoring import as_store
from turnier.results.archive.writing import write_archive
from turnier.results.failures import list_failures
from turnier.results.frames import Standings, Terms, matches_frame, seat_summary, summary
from turnier.results.store.store import Store

AGENTS = ("random", "mc(iterations=1)", "mc(iterations=2)", "greedy")
STRENGTH = dict(zip(AGENTS, (0.1, 0.35, 0.4, 0.3), strict=True))


def games(seeds: int) -> list[MatchRecord]:
    """Returns games of all pairs in both orders, all on the same seeds, some drawn, failed, void or not measured."""
    random = [np.random.default_rng(i % 13) for i in range(seeds)]
    found = []
    for seed, (a, b) in itertools.product(range(seeds), itertools.combinations(AGENTS, 2)):
        for first, second in ((a, b), (b, a)):
            score = float(
                np.sign(random[seed].uniform(-1, 1) + 2 * (STRENGTH[first] - STRENGTH[second])) * (seed % 13 > 2)
            )
            times = (0.25, float("nan") if seed % 3 else 0.5)
            changes: dict[str, Any] = {"seat_seconds": times, "decisions": (3 + seed % 2, 4), "nodes": (seed, 1)}
            if (seed, first) == (2, AGENTS[1]):
                changes |= {"termination": Termination.CRASHED, "error": "seat 1, it: broke"}
                score = 1.0
            if (seed, first) == (3, AGENTS[2]):
                changes |= {"termination": Termination.ERROR, "error": "void"}
            found.append(made(10 * seed + AGENTS.index(a), (score, -score), (first, second), DUEL, **changes))
    return found


@pytest.fixture
def large(store: Store) -> Store:
    store.begin_run("run", "tournament", "a name", {})
    append(store, games(120), 700)
    return store


def append(store: Store, records: list[MatchRecord], size: int) -> None:
    for begin in range(0, len(records), size):
        store.append("run", records[begin : begin + size])


def tables(frame: pd.DataFrame) -> list[pd.DataFrame]:
    standings = Standings.of(frame, terms=Terms(anchor=AGENTS[0], nash=True))
    return [summary(frame), seat_summary(frame), spread(frame), *standings]


def test_figures_of_alike_games_are_those_of_all_games(large: Store, tmp_path: Path) -> None:
    whole = matches_frame(large, run="run", ids=False)
    few = results_frame(large, large=500)
    assert len(few) < len(whole) / 4 and int(few["times"].sum()) == len(whole)
    for found, wanted in zip(tables(few), tables(whole), strict=True):
        pd.testing.assert_frame_equal(found, wanted, rtol=1e-8, atol=1e-12)
        counts = [name for name in wanted if wanted[name].dtype.kind == "i"] + ["game"]
        pd.testing.assert_frame_equal(found[counts], wanted[counts])
    with as_store(write_archive(large, large.run("run"), tmp_path / "a.parquet")) as (archived, run):
        pd.testing.assert_frame_equal(results_frame(archived, run.id, large=500), few)
        failures, wanted = list_failures(archived, [run.id]), list_failures(large, ["run"])
    pd.testing.assert_frame_equal(failures.table, wanted.table)
    assert failures[1:] == wanted[1:] == (1440, 3, 3, False)


def test_the_games_at_the_ends_are_those_of_all_games(large: Store) -> None:
    append(large, [made(5000 + i, (score, -2.0), AGENTS[:2], DUEL) for i, score in enumerate((2.0, 1.5, 2.0))], 2)
    found, wanted = extremes(extreme_games(large, "run", EXTREMES)), extremes(matches_frame(large, "run", ids=False))
    assert wanted["score"].nunique() > 2 and wanted["score"].value_counts().max() > 1
    for name in wanted:
        assert found[name].tolist() == wanted[name].tolist()


def test_the_order_of_games_changes_nothing(large: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        other.begin_run("run", "tournament", "a name", {})
        append(other, games(120)[::-1], 1030)
        pd.testing.assert_frame_equal(results_frame(other, "run", large=500), results_frame(large, "run", large=500))


@pytest.mark.parametrize(
    ("agents", "scores"),
    [
        (("random",), lambda seed: (seed + 0.5,)),  # of one seat
        (("greedy", "alphabeta(depth=2)"), lambda seed: (1.0, -1.0)),  # which may repeat games
        (("random", "greedy"), lambda seed: (float(seed), -1.0)),  # no two are alike
    ],
)
def test_games_that_are_not_alike_are_read_as_they_are(store: Store, agents: tuple[str, ...], scores: Any) -> None:
    store.begin_run("run", "tournament", "a name", {})
    game = DUEL if len(agents) > 1 else "2048(size=4)"
    store.append("run", [made(seed, scores(seed), agents, game) for seed in range(40)])
    pd.testing.assert_frame_equal(results_frame(store, "run", large=10), matches_frame(store, run="run", ids=False))


def test_a_large_run_with_missing_games_is_damaged(large: Store) -> None:
    from sqlalchemy import delete, select

    from turnier.results.store.schema import match_columns

    with large.database.writing() as connection:
        first = connection.scalar(select(match_columns.c.number).where(match_columns.c.level >= 0).limit(1))
        connection.execute(delete(match_columns).where(match_columns.c.number == first))
    with pytest.raises(UserError, match="run"):
        results_frame(large, "run", large=1)
