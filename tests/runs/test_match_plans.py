"""Tournaments of any size: matches are made when they are played, and absurd sizes are refused."""

from __future__ import annotations

import hashlib
import itertools
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from turnier.agents.agent import Agent
from turnier.agents.registry import AGENTS
from turnier.arena.play import play_matches
from turnier.arena.schedules.duel import Duel
from turnier.arena.schedules.round_robin import MatchPlan, gauntlet, openings, round_robin
from turnier.arena.schedules.spec_columns import SpecColumns
from turnier.arena.workers.local import SerialExecutor, ThreadExecutor
from turnier.core.errors import UserError
from turnier.games.registry import GAMES
from turnier.results.frames import matches_frame
from turnier.results.store import match_blocks
from turnier.results.store.database import CHUNK
from turnier.results.store.store import Store
from turnier.runs.certainty import Certainty
from turnier.runs.play import play_plan
from turnier.runs.tournament import Tournament
from turnier.runs.training import Training
from turnier.search.study import read_games

TTT = GAMES.make("tictactoe")


def made(n: int) -> list[Agent]:
    return [AGENTS.make(f"mc(iterations={i + 1},score_method=2)") for i in range(n)]


PLANS: dict[str, tuple[Callable[[bool], MatchPlan], str, str]] = {  # digests of the ids, rounded up and exactly
    "round robin": (lambda e: round_robin(TTT, made(3), 333, 7, 0, e), "a7d727c2e64fa84f", "8ff25323d08f53f1"),
    "openings": (lambda e: round_robin(TTT, made(3), 333, 7, 1, e), "82a12382802cec26", "eadf1d61566bc2a6"),
    "three seats": (
        lambda e: gauntlet(GAMES.make("yavalath(players=3)"), made(5), 2, 50, 3, 0, e),
        "744a8c63967d2355",
        "20a8f83287de872d",
    ),
    "alone": (lambda e: round_robin(GAMES.make("2048"), made(2), 600, 5, 0, e), "bc739cd5136f5fa5", "bc739cd5136f5fa5"),
    "gauntlet": (lambda e: gauntlet(TTT, made(4), 2, 100, 9, 2, e), "527c954afbe598cf", "94ecac9f2ad68eb4"),
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("exactly", [False, True])
def test_matches_and_their_order_never_change(name: str, exactly: bool) -> None:
    """Ids are the identity of stored games: these are those of the first version of the store."""
    make, *digests = PLANS[name]
    plan = make(exactly)
    ids = " ".join(spec.id for spec in itertools.islice(plan, 1000))
    assert hashlib.sha256(ids.encode()).hexdigest()[:16] == digests[exactly]
    assert len(plan) == len(list(plan)) == len(set(plan))


@pytest.mark.parametrize("named", [[0, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1, 0]])
def test_an_agent_that_is_named_again_adds_no_match_twice(named: list[int]) -> None:
    plan = round_robin(TTT, [made(2)[i] for i in named], 10, 1)
    assert len(plan) == len(list(plan)) == len(set(plan))


@pytest.mark.parametrize("exactly", [False, True])
def test_a_trillion_games_take_no_memory(exactly: bool) -> None:
    tracemalloc.start()
    try:
        plan = round_robin(TTT, made(2), 10**12, 1, 1, exactly)
        first = list(itertools.islice(plan, 1000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(plan) == 10**12 and len(set(first)) == 1000
    assert first[:10] == list(itertools.islice(round_robin(TTT, made(2), 100, 1, 1, exactly), 10))
    assert peak < 5e6


def test_ten_million_games_begin_before_they_are_planned(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first games are stored when no more matches than a look-up's have been made; so they are after a stop."""
    plan, planned = round_robin(TTT, made(2), 10_000_000, 1), 0
    whole = MatchPlan.columns

    def counting(self: MatchPlan, size: int) -> Iterator[SpecColumns]:
        nonlocal planned
        for specs in whole(self, size):
            planned += len(specs)
            yield specs

    monkeypatch.setattr(MatchPlan, "columns", counting)
    store.begin_run("run", "tournament", "run", {})
    skipped: list[int] = []
    stored = 0
    for _ in range(2):
        planned = 0
        with SerialExecutor() as executor:
            for records in itertools.islice(play_plan(store, "run", plan, executor, skipped.append), 3):
                stored += len(records)
        assert 0 < planned <= 2 * CHUNK
    assert store.match_counts() == {"run": stored}
    expected = [spec.id for spec in itertools.islice(plan, stored)]
    assert store.played(expected) == set(expected) and 0 < sum(skipped) < stored


def test_large_blocks_are_not_read_to_stay_as_they_are(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_blocks, "MERGED", 3)
    monkeypatch.setattr(match_blocks, "MAX_MATCHES", 10)
    store.begin_run("run", "tournament", "run", {})
    records = play_matches(list(round_robin(TTT, made(2), 20, 1)))
    with monkeypatch.context() as patch:
        patch.setattr(store.blocks, "_checked", None)
        for first in range(0, 20, 5):
            store.append("run", records[first : first + 5])
    assert len(matches_frame(store, run="run")) == 2 * 20


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (
            lambda: Tournament("tictactoe", ["random", "random"], games=10**20),
            "games must be from 1 to 1,000,000,000,000",
        ),
        (lambda: Tournament("tictactoe", made(9), games=10**12), "games of a tournament, got 36,000,000,000,000"),
        (lambda: Tournament("tictactoe", made(4), games=10**9, format="swiss"), "at most 1,000,000 games of all"),
        (lambda: Tournament("tictactoe", made(4), rounds=10**20, format="swiss"), "at most 1,000,000,000,000 games"),
        (lambda: Tournament("tictactoe", made(4), games=10**20, format="adaptive"), "games must be from 1 to 1,000"),
        (lambda: Duel(TTT, made(2), 1, games=10**20), "at most 1,000,000,000,000 games of a comparison"),
        (lambda: Duel(TTT, made(2), 1, first_round=10**20), "at most 1,000,000 pairs of games"),
        (lambda: Certainty("tictactoe", made(1), games=10**20), "games must be from 1 to 1,000,000, got"),
        (lambda: Certainty("tictactoe", made(1), states=10**20), "at most 1,000,000 states"),
        (lambda: Certainty("tictactoe", made(1), repeats=10**20), "at most 1,000,000 searches"),
        (lambda: ThreadExecutor(10**20), "at most 10,000 workers"),
        (lambda: read_games(f"{10**20}games"), "at most 1,000,000,000,000 games of a search"),
        (
            lambda: Training("tictactoe", "ntuple", out="w.npz", games=10**20),
            "training: games must be from 0 to 1,000,000,000,000",
        ),
        (
            lambda: Training("tictactoe", "ntuple", out="w.npz", threads=10**20),
            "training: threads must be from 1 to 10,000",
        ),
        (lambda: openings(TTT, 99), "at most 100,000 openings, got more of tictactoe with 99 plies; choose at most 6"),
        (lambda: openings(GAMES.make("nim"), 10**20), "at most 100,000 openings"),
    ],
)
def test_absurd_sizes_are_refused_at_once(plan: Callable[[], object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        plan()
