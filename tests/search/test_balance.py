"""A search for balance: what it proposes and says, counted anew from its games; resuming; mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import turnier
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search.balance.plan import Balance, halving, variants_of
from turnier.search.balance.results import BALANCED, UNBALANCED, UNDECIDED, games_for_balance, verdict_of
from turnier.statistics.intervals import Interval

QUIET: dict[str, Any] = {"where": Where("serial"), "progress": False}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "balance.db") as opened:
        yield opened


def small(**options: Any) -> Balance:
    return Balance(
        "nim(piles=1;2;3)",
        "mcts(iterations=200)",
        **{"parameters": "piles=1;2;3|1;2;4|2;3", "balance": 5.0, "budget": 60} | options,
    )


def test_rounds_share_the_budget_and_keep_half() -> None:
    assert halving(3, 60) == [(3, 10), (2, 25)] and halving(2, 10) == [(2, 5)]
    for variants, budget in ((5, 400), (8, 1000), (33, 5000)):
        rounds, before = halving(variants, budget), 0
        spent = 0
        for left, games in rounds:
            spent += left * (games - before)
            before = games
        assert 0.9 * budget <= spent <= budget and rounds[0][0] == variants and rounds[-1][0] == 2


def test_the_proposal_and_its_share_are_those_of_the_games(store: Store) -> None:
    """The first seat loses nim 1, 2, 3 and wins the others: no variant is balanced, and all verdicts say so."""
    results = small().run(store, **QUIET)
    records = [record for some in store.records_of_run(results.id) for record in some]
    assert len(records) == results.balance.total == 60 + 2 * 30
    rows = results.held_out().to_dict("records")
    for row in rows:
        plan = results.balance.held_out(turnier.make_game(row["variant"]))
        ids = {spec.id for spec in plan}
        own = [record for record in records if record.spec.id in ids]
        assert len(own) == row["games"] == 30
        assert row["first"] == pytest.approx(np.mean([record.points[0] for record in own]))
        assert row["verdict"] == UNBALANCED
    assert results.sentence.startswith("Not balanced: nim(piles=")
    assert results.variants()["variant"][0] == rows[0]["variant"]


def test_no_held_out_game_was_seen_by_the_search() -> None:
    plan = small()
    for variant in plan.variants:
        seen = {spec.seed for spec in plan.searched(variant, 25)}
        assert not seen & {spec.seed for spec in plan.held_out(variant)}


def test_more_held_out_games_resume_a_search(store: Store) -> None:
    first = small().run(store, **QUIET)
    plan = small(verify=2.0)
    again = plan.run(store, **QUIET)
    assert again.id == first.id and plan.skipped == 120 and again.held_out()["games"].tolist() == [60, 60]
    assert again.proposed == first.proposed


def test_a_game_that_is_always_won_is_not_balanced(store: Store) -> None:
    """Without swap the first seat of hex(size=2) wins; with it, the second seat does."""
    options: dict[str, Any] = {"parameters": "swap", "balance": 5.0, "budget": 80}
    results = Balance("hex(size=2)", "mcts(iterations=500)", **options).run(store, **QUIET)
    shares = results.variants().set_index("variant")["first"]
    assert shares["hex(size=2)"] == 1.0 and set(results.held_out()["verdict"]) == {UNBALANCED}


def test_verdicts_of_intervals() -> None:
    assert verdict_of(Interval(0.51, 0.47, 0.54), 0.5, 0.05) == BALANCED
    assert verdict_of(Interval(0.52, 0.505, 0.535), 0.5, 0.05) == BALANCED, "a small difference is within the margin"
    assert verdict_of(Interval(0.51, 0.45, 0.56), 0.5, 0.05) == UNDECIDED
    assert verdict_of(Interval(0.56, 0.52, 0.60), 0.5, 0.05) == UNBALANCED
    assert games_for_balance(Interval(51, 41, 61), 50, 5, 100) == 700
    assert games_for_balance(Interval(56, 46, 66), 50, 5, 100) == 0


def test_a_balanced_verdict_is_rarely_wrong() -> None:
    """Shares at the margin: at most 2.5 % of studies of 400 games may call them balanced, within sampling error."""
    from turnier.statistics.intervals import shares_of_units

    draws, wrong = np.random.default_rng(1), 0
    for _ in range(400):
        won = draws.random(400) < 0.60
        ends = shares_of_units(won.astype(float), np.arange(400))
        wrong += verdict_of(Interval(*(float(end[0]) for end in ends)), 0.5, 0.10) == BALANCED
    assert wrong <= 400 * 0.025 + 3 * (400 * 0.025) ** 0.5


@pytest.mark.parametrize(
    ("game", "parameters", "sentence"),
    [
        ("2048", "size=2..4", "two or more seats"),
        ("go(size=5)", "komi=0.5..24.5", "must have values to try"),
        ("hex(size=3)", "swep", "swap"),
        ("go(size=5,komi=0.5)", "komi=0.5..60.5:0.5,superko,size=5..9", "at most 1,000"),
    ],
)
def test_mistakes_are_sentences(game: str, parameters: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        Balance(game, "mcts(iterations=10)", parameters=parameters, balance=5.0)


def test_variants_that_the_game_refuses_are_left_out() -> None:
    found = variants_of(turnier.make_game("go(size=5,komi=0.5)"), ["komi=0.5|0.7|1.5"])
    assert [str(game) for game in found] == ["go(size=5,komi=0.5)", "go(size=5,komi=1.5)"]
    with pytest.raises(UserError, match=r"multiple of 0\.5"):
        variants_of(turnier.make_game("go(size=5,komi=0.5)"), ["komi=0.5|0.7"])
