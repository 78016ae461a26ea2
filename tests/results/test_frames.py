"""Tables against numbers worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import delete, func, select

from tests.results.made import DUEL, GAME, ids, made
from turnier.agents.registry import AGENTS
from turnier.arena.match import Termination
from turnier.core.errors import UserError
from turnier.results.frames.matches import MATCH_COLUMNS, json_rows, matches_frame, runs_frame, seat_summary, summary
from turnier.results.store.columns import Texts
from turnier.results.store.schema import match_columns
from turnier.results.store.store import Store

MC = AGENTS.make("mc(iterations=5)").full_text()
SCORES = (1.0, 2.0, 3.0, 4.0, 10.0)
TILES = (512, 1024, 2048, 2048, 4096)


@pytest.fixture
def store(tmp_path: Any) -> Any:
    """A tournament with five games of 2048 and six duels, and a study that shares a match."""
    with Store.open(f"sqlite:///{tmp_path}/a.db") as opened:
        opened.begin_run("run", "tournament", "a tournament", {"seed": 1})
        opened.begin_run("study", "study", "a study", {"seed": 2})
        games = zip(SCORES, TILES, strict=True)
        opened.append("run", [made(i, (s,), facts={"max_tile": tile}) for i, (s, tile) in enumerate(games)])
        opened.append("run", duels())
        opened.append("study", [made(0), made(99, (5.0,))])
        yield opened


def duels() -> list[Any]:
    """From the view of random: two wins, a draw, a loss, a void game, and a draw by the limit."""
    results = [(1.0, -1.0), (1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)]
    records = [made(i, scores, ("random", "greedy"), DUEL) for i, scores in enumerate(results)]
    records.append(made(7, (0.0, 0.0), ("random", "greedy"), DUEL, termination=Termination.ERROR, error="x"))
    records.append(made(8, (0.0, 0.0), ("random", "greedy"), DUEL, termination=Termination.LIMIT))
    return records


def rows(table: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["game"], row["agent"]): dict(row) for _, row in table.iterrows()}


def test_one_row_per_match_and_seat(store: Store) -> None:
    frame = matches_frame(store)
    assert len(frame) == 5 + 2 * 6
    assert tuple(frame.columns) == (*MATCH_COLUMNS, "max_tile")
    assert json_rows(frame)[0] == {
        "match": made(0).spec.id,
        "run": "run",
        "game": GAME,
        "seat": 0,
        "agent": "random",
        "label": "random",
        "seed": 0,
        "score": 1.0,
        "result": None,
        "points": None,
        "decisions": 10,
        "nodes": 7,
        "seat_seconds": 0.5,
        "seat_cpu_seconds": None,
        "seconds": 0.5,
        "termination": "normal",
        "seats": 1,
        "failed": False,
        "repeat": False,
        "max_tile": 512.0,
    }
    duel = frame[frame["match"] == duels()[0].spec.id]
    assert duel[["seat", "agent", "score", "result", "decisions", "seats", "seat_seconds"]].to_numpy().tolist() == [
        [0, "random", 1.0, "win", 10, 2, 0.25],
        [1, "greedy", -1.0, "loss", 11, 2, 0.25],
    ]
    assert duel["max_tile"].isna().all()


def test_results_of_three_seats(store: Store) -> None:
    def results(seed: int, *scores: float) -> list[str]:
        record = made(seed, scores, ("random", "greedy", "random"), "three", facts={})
        store.append("run", [record])
        frame = matches_frame(store, game="three")
        return list(frame[frame["match"] == record.spec.id]["result"])

    assert results(1, 5.0, 3.0, 4.0) == ["win", "loss", "loss"]
    assert results(2, 3.0, 1.0, 3.0) == ["draw", "loss", "draw"]
    assert results(3, 0.0, 0.0, 0.0) == ["draw", "draw", "draw"]


def test_filters(store: Store) -> None:
    assert set(matches_frame(store, run="study")["match"]) == {made(0).spec.id, made(99).spec.id}
    assert set(matches_frame(store, run="run", kind="study")["run"]) == {"run"}
    assert list(matches_frame(store, kind="study")["score"]) == [1.0, 5.0]  # the match as it was stored first
    everything = matches_frame(store, kind=None)
    assert len(everything) == 18
    assert list(everything[everything["match"] == made(0).spec.id]["run"]) == ["run"]  # once, under the older run
    assert set(matches_frame(store, game="2048")["game"]) == {GAME}
    greedy = matches_frame(store, agent="greedy")
    assert set(greedy["agent"]) == {"greedy"}
    assert list(greedy.sort_values("seed")["result"].astype(object).fillna("none")) == [
        "loss",
        "loss",
        "draw",
        "win",
        "none",
        "draw",
    ]
    with pytest.raises(UserError, match="the nearest is study"):
        matches_frame(store, run="studie")


def test_agents_are_named_short_and_found_by_any_form(store: Store) -> None:
    store.append("run", [made(1, agents=(MC,)), made(2, agents=("long_gone(x=1)",))])
    found = matches_frame(store, agent="mc(iterations=5)")
    assert list(found["agent"]) == [MC]
    assert list(found["label"]) == ["mc(iterations=5)"]
    assert list(matches_frame(store, agent="long_gone(x=1)")["label"]) == ["long_gone(x=1)"]


def test_a_fact_never_hides_a_column(store: Store) -> None:
    store.append("run", [made(1, (8.0,), game="odd", facts={"score": 3, "goals": 4})])
    row = matches_frame(store, game="odd").iloc[0]
    assert (row["score"], row["score (fact)"], row["goals"]) == (8.0, 3, 4)


def test_summary_of_scores_and_milestones(store: Store) -> None:
    row = rows(summary(matches_frame(store)))[GAME, "random"]
    deviation = math.sqrt(50 / 4)  # of 1, 2, 3, 4, 10 about 4
    assert (row["label"], row["games"], row["mean"], row["median"], row["best"]) == ("random", 5, 4.0, 3.0, 10.0)
    assert math.isnan(row["median_low"]) and math.isnan(row["median_high"])  # five games are too few
    assert row["std"] == pytest.approx(deviation)
    student = 2.7764451 * deviation / math.sqrt(5)  # t table, 4 degrees of freedom
    skewness = 36 / 10**1.5 * math.sqrt(20) / 3  # mean cube and square, adjusted for 5 values
    assert row["half_width"] == pytest.approx(student * (1 + 1.0801 * skewness**2 / 5), rel=1e-4)
    assert row["decisions_per_second"] == pytest.approx(10 / 0.5)
    assert (row["failures"], row["unfinished"]) == (0, 0)
    reached = [row[f"max_tile>={tile}"] for tile in (1024, 2048, 4096, 8192)]
    assert reached == [0.8, 0.6, 0.2, 0.0]
    # Wilson, published for 0 and 1 of 5 (R: prop.test(x, 5, correct = FALSE)).
    assert (row["max_tile>=8192_low"], row["max_tile>=8192_high"]) == pytest.approx((0.0, 0.4344825), abs=1e-6)
    assert (row["max_tile>=4096_low"], row["max_tile>=4096_high"]) == pytest.approx((0.0362241, 0.6244654), abs=1e-6)
    assert all(pd.isna(row[name]) for name in ("wins", "draws", "losses", "win_rate", "win_rate_low", "win_rate_high"))


def test_summary_by_seat(store: Store) -> None:
    """The seats of an agent add up to its summary; games of one seat have none."""
    frame = matches_frame(store)
    table = seat_summary(frame)
    assert set(table["game"]) == {DUEL}
    whole = rows(summary(frame))
    for agent, part in table.groupby("agent"):
        for column in ("games", "wins", "draws", "losses"):
            assert part[column].sum() == whole[DUEL, agent][column]
    first = table[(table["agent"] == "random") & (table["seat"] == 0)].iloc[0]
    part = frame[(frame["game"] == DUEL) & (frame["agent"] == "random") & (frame["seat"] == 0)]
    assert first["wins"] == (part["result"] == "win").sum() and first["games"] == len(part)
    decided = part["result"].notna().sum()
    assert first["win_rate_low"] < first["win_rate"] == first["wins"] / decided < first["win_rate_high"]
    assert seat_summary(frame[frame["game"] == GAME]).empty


def test_a_void_game_has_no_score(tmp_path: Path) -> None:
    broken = made(2, (9000.0,), termination=Termination.ERROR, error="x", facts={"max_tile": 2048})
    with Store.open(f"sqlite:///{tmp_path}/b.db") as store:
        store.begin_run("run", "tournament", "run", {})
        store.append("run", [made(0, (10.0,)), made(1, (20.0,)), broken])
        (row,) = json_rows(summary(matches_frame(store)))
    assert [row[name] for name in ("games", "failures", "void", "mean", "best")] == [3, 0, 1, 15.0, 20.0]
    assert row["max_tile>=2048"] == 0.0


def test_summary_of_duels(store: Store) -> None:
    table = summary(matches_frame(store))
    mine, theirs = rows(table)[DUEL, "random"], rows(table)[DUEL, "greedy"]
    assert [mine[name] for name in ("games", "wins", "draws", "losses", "void", "unfinished")] == [6, 2, 2, 1, 1, 1]
    assert mine["failures"] == theirs["failures"] == 0
    assert [theirs[name] for name in ("wins", "draws", "losses")] == [1, 2, 2]
    assert mine["win_rate"] == pytest.approx(2 / 5)  # the void game has no result
    # By hand: seeds of games (2 wins of 5) as units, and two virtual ones; Student's t of n + 1 degrees of freedom.
    assert (mine["win_rate_low"], mine["win_rate_high"]) == pytest.approx((0.0, 0.8862514), abs=1e-6)
    assert mine["decisions_per_second"] == pytest.approx(10 / 0.25)  # its own time, not the match's
    assert theirs["decisions_per_second"] == pytest.approx(11 / 0.25)
    assert mine["nodes_per_decision"] == pytest.approx(7 / 10)
    assert math.isnan(mine["max_tile>=2048"]) and math.isnan(mine["cpu_seconds_per_decision"])


def test_cpu_time_is_that_of_the_matches_where_it_was_measured(store: Store) -> None:
    measured = made(5, (1.0, -1.0), ("mc", "random"), DUEL, seat_cpu_seconds=(0.125, 0.25))
    store.append("run", [measured])
    assert store.record(measured.spec.id).seat_cpu_seconds == (0.125, 0.25)
    assert store.record(duels()[0].spec.id).seat_cpu_seconds == ()
    found = rows(summary(matches_frame(store)))
    assert found[DUEL, "mc"]["cpu_seconds_per_decision"] == pytest.approx(0.125 / 10)
    assert found[DUEL, "random"]["cpu_seconds_per_decision"] == pytest.approx(0.25 / 11)
    assert math.isnan(found[DUEL, "greedy"]["cpu_seconds_per_decision"])


def test_what_an_older_version_played_has_no_time(store: Store) -> None:
    store.append("run", [made(5, (1.0, -1.0), ("mc", "random"), DUEL, seat_seconds=(math.nan, math.nan))])
    found = rows(summary(matches_frame(store)))
    assert math.isnan(found[DUEL, "mc"]["decisions_per_second"])
    assert found[DUEL, "random"]["decisions_per_second"] == pytest.approx(10 / 0.25)


def test_an_agent_that_plays_itself_counts_once_a_seat(store: Store) -> None:
    store.begin_run("mirror", "tournament", "m", {})
    store.append("mirror", [made(3, (1.0, -1.0), ("random", "random"), DUEL)])
    row = rows(summary(matches_frame(store, run="mirror")))[DUEL, "random"]
    assert (row["games"], row["wins"], row["losses"]) == (2, 1, 1)
    assert row["decisions_per_second"] == pytest.approx((10 + 11) / 0.5)


def test_one_game_has_no_interval_and_json_has_none_for_it(store: Store) -> None:
    table = json_rows(summary(matches_frame(store, run="study", game="2048")[:1]))
    (row,) = json.loads(json.dumps(table, allow_nan=False))
    assert (row["games"], row["mean"], row["std"], row["half_width"]) == (1, 1.0, None, None)
    assert (row["wins"], row["win_rate"]) == (None, None)
    duel = json_rows(summary(matches_frame(store, game=DUEL)))[0]
    assert (duel["agent"], duel["wins"], type(duel["wins"])) == ("greedy", 1, int)


def test_an_empty_store_has_empty_tables_with_columns(tmp_path: Any) -> None:
    with Store.open(f"sqlite:///{tmp_path}/empty.db") as empty:
        frame = matches_frame(empty)
        table = summary(frame)
        assert (len(frame), len(table), len(runs_frame(empty))) == (0, 0, 0)
    assert tuple(frame.columns) == MATCH_COLUMNS
    assert list(table.columns)[:6] == ["game", "agent", "label", "games", "different", "mean"]
    assert json_rows(table) == []


def test_runs(store: Store) -> None:
    store.begin_run("empty", "tournament", "nothing yet", {})
    frame = runs_frame(store)
    assert frame[["run", "kind", "name", "matches"]].to_numpy().tolist() == [
        ["run", "tournament", "a tournament", 11],
        ["study", "study", "a study", 2],
        ["empty", "tournament", "nothing yet", 0],
    ]
    assert list(frame["definition"]) == [{"seed": 1}, {"seed": 2}, {}]
    assert frame["created"].is_monotonic_increasing
    assert json.loads(json.dumps(json_rows(frame)))[0]["created"].endswith("+00:00")


def test_tables_are_the_same_on_postgresql(store: Store, postgres_url: str) -> None:
    with Store.open(postgres_url) as other:
        for run in store.runs():
            other.begin_run(run.id, run.kind, run.name, run.definition)
            frame = matches_frame(store, run=run.id)
            other.append(run.id, store.records(frame["match"].unique()))
        order = ["run", "match", "seat"]
        here, there = (matches_frame(s, kind=None).sort_values(order, ignore_index=True) for s in (store, other))
        pd.testing.assert_frame_equal(here, there)
        complete = [record for record in duels() if record.termination.has_result]
        assert other.played(ids(duels())) == set(ids(complete))


def test_columns_hold_what_rows_hold(store: Store) -> None:
    """Merged, linked, failed and removed: what a run's columns say is what its rows say, whoever wrote them."""
    failed = [made(i, (0.0, 0.0), ("random", "greedy"), DUEL, termination=Termination.ERROR) for i in (30, 31)]
    for i in range(40):
        untimed = made(200 + i, (float(i), -1.0), ("random", MC), DUEL, seat_seconds=(0.1, math.nan))
        store.append("run", [made(100 + i, (float(i),)), untimed])
    store.append("study", [*failed, made(100), made(300)])
    store.link("run", ids(failed))
    assert store.append("study", [made(30, (1.0, 0.0), ("random", "greedy"), DUEL)]) == 1
    with store.database.reading() as connection:
        parts = select(func.count()).where(match_columns.c.run_id == "run")
        assert connection.scalar(parts) < 20
        columns = [store.blocks.of_run(connection, run) for run in ("run", "study")]
    with store.database.writing() as connection:
        connection.execute(delete(match_columns))
        for name in ("run", "study"):
            store.blocks.begin(connection, name)  # from the rows
    with store.database.reading() as connection:
        rows = [store.blocks.of_run(connection, run) for run in ("run", "study")]
    assert [len(part.number) for part in columns] == [5 + 6 + 80 + 2, 6]
    for run in zip(columns, rows, strict=True):
        assert [_listed(value) for value in run[0]] == [_listed(value) for value in run[1]]


def _listed(value: Any) -> list[str]:
    return [str(one) for one in (value.values[value.codes] if isinstance(value, Texts) else value).tolist()]
