"""Statements of documents: tests with a known error, about rows that exist, played by a campaign until they decide."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.arena.workers.local import SerialExecutor
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment, play_experiment
from turnier.runs.experiments.row import Measurement, Row
from turnier.statistics.intervals import mean_interval
from turnier.studies.campaigns import campaign as campaigns
from turnier.studies.campaigns.campaign import FIRST_GAMES, Campaign
from turnier.studies.campaigns.figures import STATEMENTS, figures
from turnier.studies.campaigns.outlook import Spec, outlooks
from turnier.studies.campaigns.statement_page import NOTE, write_statements
from turnier.studies.campaigns.statements import (
    FAILS,
    HOLDS,
    LEAST_GAMES,
    LOOKS,
    OPEN,
    Claim,
    Statement,
    alike,
    at_least,
    at_most,
    best,
    higher,
    increasing,
    judge,
    next_look,
)


def figure(value: float, half: float, games: int = 100) -> Measurement:
    return Measurement(value, value - half, value + half, games, 1.0)


def saying(*claims: Claim) -> Statement:
    return Statement("G1", "1", "So it is.", "guide:first", claims)


def test_statements_are_about_rows_that_exist() -> None:
    rows = {f.run_id.removesuffix("-paper"): untangled(f.rows) for f in figures()}
    assert len({statement.name for statement in STATEMENTS}) == len(STATEMENTS)
    for statement in STATEMENTS:
        known = rows[statement.experiment]
        assert statement.claims and set(statement.rows) <= set(known), statement.name
        assert all(known[label].extended for label in statement.rows), "so that more games count"


def untangled(rows) -> dict[str, Row]:  # type: ignore[no-untyped-def]
    found = [row if isinstance(row, Row) else row.row for row in rows]
    return {row.label: row for row in found}


@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        ((higher("b", "a"),), HOLDS),  # 10 ± 1.4 and, for LOOKS, 1.9
        ((higher("a", "b"),), FAILS),
        ((higher("c", "b"),), OPEN),  # 1 ± 1.9
        (increasing("a", "b", "c"), OPEN),
        (increasing("b", "c", "a"), FAILS),  # one claim is refuted, the other not decided
        (alike("b", "c"), HOLDS),  # by 10 %
        (alike("a", "b", within=0.05), FAILS),
        (best("b", "a", "c", within=0.02), OPEN),  # 110 against 0.98 * 111
        ((at_least("a", 98.0), at_most("a", 102.0)), HOLDS),
        ((at_most("a", 98.0),), FAILS),
        ((higher("b", "unplayed"),), OPEN),
    ],
)
def test_claims_are_judged_by_their_intervals(claims: tuple[Claim, ...], verdict: str) -> None:
    measured = {"a": figure(100, 1), "b": figure(110, 1), "c": figure(111, 1), "unplayed": figure(np.nan, np.nan, 0)}
    assert judge(saying(*claims), measured).verdict == verdict


def test_what_is_open_tells_the_games_that_would_decide() -> None:
    judged = judge(saying(higher("b", "a")), {"a": figure(100, 4), "b": figure(103, 3)})
    assert judged.rows == ["b", "a"] and judged.evidence.startswith("b minus a: 3")
    wide = 5 * 2.6901 / 1.9600  # of seven looks
    assert judged.games == pytest.approx(2 * 100 * (wide / 3) ** 2, abs=2)
    few = judge(saying(higher("b", "a")), {"a": figure(100, 4, games=19), "b": figure(103, 3)})
    assert few == (OPEN, "fewer than 20 games yet: a (19)", ["a"], math.inf, 0)


def test_one_refuted_claim_decides_but_all_must_be_shown() -> None:
    measured = {"a": figure(100, 4), "b": figure(103, 3), "c": figure(101, 3), "d": figure(104, 3)}
    far = judge(saying(higher("b", "a"), higher("c", "a")), measured)
    assert far.times == pytest.approx(25 * (2.6901 / 1.9600) ** 2, rel=0.01)
    assert far.games == pytest.approx(300 * far.times, rel=0.01)
    refuted = judge(saying(higher("a", "d"), higher("c", "a")), measured)
    assert refuted.times == pytest.approx((5 * 2.9134 / 1.9600 / 4) ** 2, rel=0.01), "the error is shared by two claims"
    assert refuted.games == pytest.approx(200 * refuted.times, rel=0.01) and refuted.rows == ["a", "d", "c"]
    same = judge(saying(higher("b", "a"), higher("c", "c2")), {**measured, "c2": figure(101, 3)})
    assert same.times == math.inf and same.games == 0


def test_claims_about_a_few_games_are_not_tested() -> None:
    """Two games that are nearly alike would show anything."""
    measured = {"a": figure(100, 1), "b": figure(110, 1), "c": figure(200, 0.1, games=2)}
    assert judge(saying(higher("c", "a"), higher("a", "c")), measured).verdict == OPEN
    assert judge(saying(higher("a", "b"), higher("c", "a")), measured).verdict == FAILS, "whatever c has"


def test_further_looks_are_at_twice_the_games() -> None:
    assert [next_look(50, played) for played in (0, 50, 92, 100, 250, 3200)] == [100, 100, 100, 200, 400, 0]


def test_the_error_holds_over_all_looks() -> None:
    """Two equal agents: that the first is higher is neither true nor false, so each verdict is an error."""
    rng, ended = np.random.default_rng(1), {HOLDS: 0, FAILS: 0, OPEN: 0}
    looks = [LEAST_GAMES, *(50 * 2**look for look in range(LOOKS))]
    for _ in range(2000):
        games = {label: rng.gamma(4.0, 5000.0, looks[-1]) for label in "ab"}
        for look in looks:
            means = {label: mean_interval(values[:look]) for label, values in games.items()}
            measured = {label: figure(*mean, games=look) for label, mean in means.items()}
            verdict = judge(saying(higher("a", "b")), measured).verdict
            if verdict != OPEN:
                break
        ended[verdict] += 1
    assert max(ended[HOLDS], ended[FAILS]) <= 0.025 * 2000 + 3 * (0.025 * 2000) ** 0.5
    assert min(ended[HOLDS], ended[FAILS]) >= 10, "nor are the intervals far too wide"


BETTER, WORSE = "mc(iterations=10,rollout_depth=9)", "random"
ROWS = tuple(
    dataclasses.replace(Row(label, "tictactoe", (agent, WORSE), 8), extended=True)
    for label, agent in (("search", BETTER), ("none", WORSE), ("other", "mc(iterations=11,rollout_depth=9)"))
)
EXPERIMENT = Experiment("guide", "first-paper", "First", "Text.", (*ROWS, Row("x", "tictactoe", ("greedy",) * 2, 6)))


def test_a_campaign_plays_until_statements_are_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [
        Statement("G1", "1", "Search helps.", "guide:first", (higher("search", "none"),)),
        Statement("G2", "2", "One iteration more helps.", "guide:first", (higher("other", "search"),), "small"),
    ]

    def of(run_id: str) -> list[Statement]:
        return said if run_id == EXPERIMENT.run_id else []

    monkeypatch.setattr(campaigns, "statements_of", of)
    monkeypatch.setattr(campaigns, "SLICE_SECONDS", 5.0)  # five games
    monkeypatch.setattr("turnier.studies.campaigns.outlook.cpu_seconds", lambda _: 1.0)
    monkeypatch.setattr("turnier.studies.campaigns.statement_page.statements_of", of)
    monkeypatch.setattr("turnier.studies.campaigns.statement_page.STATEMENTS", said)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        whole = Campaign(store, [EXPERIMENT], tmp_path)
        assert all(row.decides for row in whole.rows), "x has no games yet, and a figure needs all of its points"
        whole.run(pool)
        played = [row.played for row in whole.rows]
        assert played[0] == played[2] == 8 * 2 ** (LOOKS - 1), "never decided, so all looks"
        assert played[1] in [8 * 2**look for look in range(1, LOOKS - 1)], "not decided between two looks"
        assert played[3] == 6
        page, html = write_statements(outlooks([EXPERIMENT], store), tmp_path)
        again = Campaign(store, [EXPERIMENT], tmp_path)
        assert not any(row.missing for row in again.rows) and not again.seconds_left
    text = page.read_text()
    assert NOTE in text and "| guide | 2 | 1 | 0 | 1 |" in text and html.exists()
    assert "| G1 | Search helps. (1) | holds | search minus none: " in text
    assert "| G2 | One iteration more helps. (2; small) | not decided" in text


def test_rows_keep_their_place_until_they_are_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All experiments are judged after every slice, and a statement is as far from its verdict as before."""
    said = [Statement("G1", "1", "One iteration more helps.", "guide:first", (higher("other", "search"),))]
    monkeypatch.setattr(campaigns, "statements_of", lambda _: said)
    rows = tuple(dataclasses.replace(row, games=30) for row in ROWS)
    experiment = dataclasses.replace(EXPERIMENT, rows=rows)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        list(play_experiment(experiment, store, pool))
        campaign = Campaign(store, [experiment], tmp_path)
        at_first = list(campaign.rows)
        assert [row.asked for row in at_first] == [60, 0, 60]
        assert at_first[0].seconds_ahead > at_first[0].seconds_left, "of both rows, and until it may be decided"
        campaign._judge(experiment)
        assert campaign.rows == at_first
        said[0] = dataclasses.replace(said[0], claims=(higher("other", "search", by=0.5),))
        campaign._judge(experiment)
        assert campaign.rows == at_first, "it may be decided by luck until all games of its look are played"
        assert not any(row.missing for row in Campaign(store, [experiment], tmp_path).rows), "decided at the last look"


def test_all_points_get_the_least_games_before_one_gets_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements about points with fewer games cannot be tested; here, all games take as long."""
    monkeypatch.setattr("turnier.studies.campaigns.outlook.cpu_seconds", lambda _: 1.0)
    agents = {f"{n}": f"mc(iterations={n},rollout_depth=9)" for n in (2, 3, 40)}
    rows = tuple(Row(n, "tictactoe", (agent, WORSE), 50, extended=n != "40") for n, agent in agents.items())
    figure = dataclasses.replace(EXPERIMENT, rows=rows)
    said = [Statement("G1", "1", "One iteration more helps.", "guide:first", (higher("3", "2"),))]
    monkeypatch.setattr(campaigns, "statements_of", lambda _: said)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        campaign, counts = Campaign(store, [figure], tmp_path), list[list[int]]()
        slices = campaign._slice

        def noted(*args: Any) -> Sequence[Spec]:
            counts.append([row.played for row in campaign.rows])
            return slices(*args)

        campaign._slice = noted  # type: ignore[method-assign]
        campaign.run(pool)
    assert all(min(played) >= LEAST_GAMES for played in counts if max(played) > LEAST_GAMES)
    assert counts[3] == [FIRST_GAMES] * 3 and counts[6] == [LEAST_GAMES] * 3 and max(counts[7]) == 50
