"""Who failed, how and why: counted for the failing seat alone, and said in sentences, tables and JSON."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.results.made import DUEL, GAME, made
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.commands.app import app
from turnier.core.errors import AgentsFailed
from turnier.dashboards.kinds.games import score_table
from turnier.results.failures import UNKNOWN, VOID, failures_text, list_failures, reason_of, store_option
from turnier.results.frames import Standings, json_rows, matches_frame, summary
from turnier.results.store.store import Store
from turnier.runs.results import RunResults

BOT = "bot.py:Bot@3f9a1c2"
RAISED = "ValueError: I lost my table (bot.py, line 12)"


def lost(seed: int, seat: int, termination: Termination, error: str = "") -> MatchRecord:
    """A duel that the bot lost in a seat."""
    agents, scores = ((BOT, "random"), (-1.0, 1.0)) if seat == 0 else (("random", BOT), (1.0, -1.0))
    return made(seed, scores, agents, DUEL, termination=termination, error=error)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Ten duels: the bot crashed in three, moved illegally in one, resigned in one and won two; three are void."""
    ends = Termination
    crashed = [
        lost(1, 0, ends.CRASHED, f"seat 0, {BOT}: {RAISED}"),
        lost(2, 1, ends.CRASHED, f"seat 1, {BOT}: {RAISED}"),
        lost(3, 1, ends.CRASHED, f"seat 1, {BOT}: KeyError: 7 (bot.py, line 3)"),
    ]
    others = [
        lost(4, 0, ends.ILLEGAL_MOVE, f"seat 0, {BOT}: 77 is no legal action"),
        lost(5, 1, ends.RESIGNED),
        *(made(seed, (1.0, -1.0), (BOT, "random"), DUEL) for seed in (6, 7)),
        made(8, (0.0, 0.0), (BOT, "random"), DUEL, termination=ends.ERROR, error="ZeroDivisionError: in step 31"),
        made(9, (0.0, 0.0), (BOT, "random"), DUEL, termination=ends.ERROR, error="ZeroDivisionError: in step 5"),
        made(10, (0.0, 0.0), (BOT, "random"), DUEL, termination=ends.ILLEGAL_ACTION),
    ]
    with Store.open(f"sqlite:///{tmp_path}/failures.db") as opened:
        opened.begin_run("tournament:1", "tournament", DUEL, {"game": DUEL})
        opened.append("tournament:1", [*crashed, *others])
        yield opened


def test_only_the_seat_that_failed_counts_and_resigning_is_no_failure(store: Store) -> None:
    frame = matches_frame(store)
    failed = frame[frame["failed"]]
    assert set(failed["agent"]) == {BOT} and sorted(failed["seat"]) == [0, 0, 1, 1]
    rows = {row["agent"]: row for row in json_rows(summary(frame))}
    assert [rows[BOT][name] for name in ("games", "failures", "void", "wins", "losses")] == [10, 4, 3, 2, 5]
    assert [rows["random"][name] for name in ("games", "failures", "void", "wins", "losses")] == [10, 0, 3, 5, 2]


def test_in_a_game_of_many_only_the_least_seat_failed(store: Store) -> None:
    agents = ("random", BOT, "random")
    record = made(1, (0.5, -1.0, 0.5), agents, "spe_ed(players=3)", termination=Termination.STALLED)
    store.begin_run("play:3", "play", "three", {})
    store.append("play:3", [record])
    assert matches_frame(store, run="play:3")["failed"].tolist() == [False, True, False]


def test_failures_are_listed_by_agent_cause_and_reason(store: Store) -> None:
    found = list_failures(store, ["tournament:1"])
    assert (found.games, found.failed, found.void, found.text) == (10, 4, 3, "4 failed (40 %), 3 void")
    assert failures_text(store, "tournament:1") == found.text
    rows = [
        tuple(row[name] for name in ("agent", "seats", "cause", "reason", "games")) for row in json_rows(found.table)
    ]
    assert rows == [
        (BOT, "0, 1", "crashed", RAISED, 2),
        (BOT, "1", "crashed", "KeyError: 7 (bot.py, line 3)", 1),
        (BOT, "0", "illegal_move", "77 is no legal action", 1),
        ("", "", VOID, found.table["reason"].iloc[3], 2),
        ("", "", VOID, UNKNOWN, 1),
    ]
    assert found.table["share"].tolist() == [0.2, 0.1, 0.1, 0.2, 0.1]
    assert store.record(found.table["match"].iloc[0]).spec.seed in (1, 2)
    assert found.table["reason"].iloc[3] in ("ZeroDivisionError: in step 31", "ZeroDivisionError: in step 5")


def test_a_run_is_told_in_sentences_that_name_a_replay(store: Store) -> None:
    found = list_failures(store, ["tournament:1"])
    match, void = found.table["match"].iloc[0][:12], found.table["match"].iloc[3][:12]
    assert found.sentences() == [
        f"{BOT} failed in 4 of 10 games (40 %) and lost them: 3 crashed ({RAISED}, and 1 other reason), 1 illegal move;"
        f" turnier show {match} shows one.",
        f"3 games are void and do not count, such as {void}: {found.table['reason'].iloc[3]}, and 1 other reason;"
        " repeat the command to play anew.",
    ]
    first, second = found.sentences(store_option(store))
    assert f"turnier show {match} --store {store.shown_url} shows one." in first and second == found.sentences()[1]


def test_one_seat_that_failed_got_the_least_score(store: Store) -> None:
    store.begin_run("tournament:2", "tournament", GAME, {})
    store.append(
        "tournament:2", [made(1), made(2, (0.0,), termination=Termination.TIMEOUT, error="seat 0, random: 9 s")]
    )
    found = list_failures(store, ["tournament:2"])
    begin = "random failed in 1 of 2 games (50 %) and had the least score in it: 1 too late (9 s); turnier show "
    assert found.sentences()[0].startswith(begin)
    both = list_failures(store, ["tournament:1", "tournament:2"])
    assert (both.games, both.failed, both.void) == (12, 5, 3)
    assert list_failures(store, ["tournament:1", "tournament:2"], [GAME]).text == "1 failed (50 %)"


def test_games_that_went_well_say_nothing(store: Store) -> None:
    store.begin_run("tournament:2", "tournament", GAME, {})
    found = list_failures(store, ["tournament:2"])
    assert (found.text, found.sentences(), len(found.table)) == ("", [], 0)
    store.append("tournament:2", [made(1), made(2, termination=Termination.LIMIT)])
    assert list_failures(store, ["tournament:2"]).text == failures_text(store, "tournament:2") == ""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("", UNKNOWN),
        (f"{BOT}: ValueError: no", "ValueError: no"),
        ("It has ended. Its last lines:\nTraceback", "It has ended"),
        ("no file bot.py, line 3", "no file bot.py, line 3"),
        ("x" * 400, "x" * 300 + " ..."),
    ],
)
def test_a_reason_is_the_first_sentence(error: str, reason: str) -> None:
    assert reason_of(error, BOT) == reason


def test_an_agent_that_failed_in_every_game_before_it_decided_has_a_summary(store: Store) -> None:
    crashed = {"termination": Termination.CRASHED, "decisions": (0, 3), "nodes": (0, 0), "seat_seconds": (0.0, 0.1)}
    store.begin_run("tournament:3", "tournament", DUEL, {})
    store.append("tournament:3", [made(seed, (-1.0, 1.0), (BOT, "random"), DUEL, **crashed) for seed in range(20, 24)])
    crashed |= {"decisions": (0,), "nodes": (0,), "seat_seconds": (0.1,)}
    store.append("tournament:3", [made(seed, (0.0,), **crashed) for seed in range(4)])
    frame = matches_frame(store, run="tournament:3")
    rows = {(row["game"], row["agent"]): row for row in json_rows(summary(frame))}
    mine = rows[DUEL, BOT]
    assert (mine["failures"], mine["points_share"], mine["mean"], mine["losses"]) == (4, 0.0, -1.0, 4)
    assert (rows[GAME, "random"]["failures"], rows[GAME, "random"]["mean"], rows[GAME, "random"]["best"]) == (
        4,
        0.0,
        0.0,
    )
    for game, part in summary(frame).groupby("game"):
        text = score_table(part).texts().to_string()
        assert "failed" in text and "inf" not in text and "nan" not in text.lower(), game
    assert BOT not in set(Standings.of(frame).ratings["agent"])  # who never played is not rated


def test_results_carry_failures_and_warn_once(store: Store) -> None:
    results = RunResults.find(store, "tournament:1")

    def run() -> None:
        results.warn_of_failures()

    assert results.failures()["games"].sum() == 7 and results.warnings()[0].startswith(f"{BOT} failed in 4 of 10")
    with pytest.warns(AgentsFailed) as said:
        run()
    assert [str(one.message) for one in said] == results.warnings() and said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = results._repr_html_().replace("\N{NO-BREAK SPACE}", " ")
    assert shown.index("4 failed (40 %), 3 void") < shown.index("I lost my table") < shown.index("points, %")


def test_a_replay_ends_with_who_failed(store: Store) -> None:
    played = play_match(MatchSpec(DUEL, ("random", "random"), 1, max_plies=3))
    error = f"seat 1, random: {RAISED}"
    store.append("tournament:1", [replace(played, termination=Termination.CRASHED, scores=(1.0, -1.0), error=error)])
    words = ["show", played.spec.id, "--store", store.url]
    assert CliRunner().invoke(app, words, catch_exceptions=False).output.splitlines()[-3:] == [
        error,
        "seat 0: random, 1",
        "seat 1: random, -1",
    ]


@pytest.mark.parametrize("chosen", [["tournament:1"], [], [DUEL, "--min-games", "1"]])
def test_results_end_with_what_failed(store: Store, chosen: list[str]) -> None:
    def told(*words: str) -> str:
        done = CliRunner().invoke(app, ["show", *chosen, *words, "--store", store.url], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    said = " ".join(told().split())
    assert 0 < said.find(f"{BOT} failed in 4 of 10 games (40 %)") < said.find("3 games are void")
    rows: dict[str, Any] = {row["agent"]: row for row in json.loads(told("--json"))}
    assert [(rows[one]["failures"], rows[one]["void"]) for one in (BOT, "random")] == [(4, 3), (0, 3)]
    if DUEL not in chosen:
        assert [one["cause"] for one in rows[BOT]["failed_because"]] == ["crashed", "crashed", "illegal_move"]
    assert not any(math.isnan(value) for value in rows[BOT].values() if isinstance(value, float))
