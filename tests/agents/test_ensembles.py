"""Ensembles: the vote and its early end against the full count, sums by hand, the same decisions in threads."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.agents.agent_cases import law_sentence
from turnier.agents.agent import Decision
from turnier.agents.ensembles.majority import Majority, decided_after
from turnier.agents.ensembles.pool import Pool, SearchJob, SerialPool, ThreadPool, search_first
from turnier.agents.ensembles.root_parallel import RootParallel
from turnier.agents.registry import make_agent
from turnier.agents.seats.seating import start_player
from turnier.arena.match import MatchSpec, Termination
from turnier.arena.play import play_match
from turnier.contract import agents as contract
from turnier.core.errors import UserError
from turnier.core.rng import stream
from turnier.games.registry import make_game

SEARCH = "mctse(iterations=40,rollout_depth=5)"
ENSEMBLES = [
    f"majority(agent={SEARCH},members=5)",
    f"root_parallel(agent={SEARCH},members=3)",
    f"root_parallel(agent={SEARCH},members=3,final=robust)",
    f"majority(agent=root_parallel(agent={SEARCH},members=2),members=3)",
]
VOTES = st.lists(st.integers(0, 3), min_size=1, max_size=9)


def said(
    action: int, visits: Sequence[float] = (0,) * 4, values: Sequence[float] = (0,) * 4, nodes: int = 1
) -> Decision:
    return Decision(action, np.array(visits, float), np.array(values, float), nodes, 0.0)


def winners(votes: Iterable[int]) -> set[int]:
    counts = Counter(votes)
    return {vote for vote, count in counts.items() if count == max(counts.values())}


class Scripted(Pool):
    """Answers the i-th job with the i-th vote, in an order of completion of its own, and counts what was begun."""

    def __init__(self, workers: int, votes: list[int], order: Any) -> None:
        super().__init__(workers)
        self.votes, self.order = votes, order
        self.begun: list[int] = []
        self.dropped: list[int] = []

    def submit(self, job: SearchJob) -> int:
        self.begun.append(job.seed)
        return job.seed

    def wait(self, tickets: list[int]) -> list[tuple[int, Decision]]:
        ticket = self.order.choice(tickets)
        return [(ticket, said(self.votes[ticket]))]

    def drop(self, tickets: list[int]) -> None:
        self.dropped += tickets

    def close(self) -> None:
        pass


def numbered(count: int) -> list[SearchJob]:
    return [SearchJob("2048", "random", np.zeros(2, np.int64), np.zeros(1), 0, i) for i in range(count)]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=7))
@settings(max_examples=100)
def test_the_vote_ends_where_no_rest_can_change_it_or_make_a_tie(votes: list[int]) -> None:
    """By the definition: the smallest prefix all of whose completions have one and the same winner."""
    n = len(votes)

    def settled(prefix: list[int]) -> bool:
        first = winners(prefix)
        rests = itertools.product(range(3), repeat=n - len(prefix))
        return len(first) == 1 and all(winners([*prefix, *rest]) == first for rest in rests)

    assert decided_after(votes) == next((k for k in range(1, n) if settled(votes[:k])), n)


@given(VOTES, st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_early_end_equals_the_full_vote(votes: list[int], workers: int, order: Any) -> None:
    """Whatever finishes first, the votes that count are the same, and few others are begun."""
    majority = Majority(members=len(votes))
    pool = Scripted(workers, votes, order)
    found = search_first(pool, numbered(len(votes)), majority.needed)
    counted = decided_after(votes)
    assert [decision.action for decision in found] == votes[:counted]
    assert pool.begun == list(range(len(pool.begun)))
    assert len(pool.begun) < counted + workers, "no more than fills a round"
    assert len(pool.begun) == counted or workers > 1
    assert set(pool.dropped) <= set(range(counted, len(votes)))
    assert majority.combine(found, stream(1))[0] in winners(votes)


def test_majorities_values_and_the_random_choice_between_ties() -> None:
    found = [
        said(2, (0, 9, 1, 0), (0, 5, 3, 0)),
        said(1, (0, 4, 4, 0), (0, 7, 1, 0)),
        said(1),
        said(2),
        said(0),
    ]
    action, votes, values = Majority().combine(found, stream(1))
    assert votes.tolist() == [1, 2, 2, 0] and values.tolist() == [0, 6, 2, 0]
    rng = stream(1)
    drawn = Counter(Majority().combine(found, rng)[0] for _ in range(400))
    assert set(drawn) == {1, 2} and min(drawn.values()) > 150, "either winner of a tie is as likely as the other"
    assert Majority().combine(found, stream(1))[0] == action


def test_root_parallel_adds_visits_and_values() -> None:
    found = [said(0, (6, 3, 1, 0), (0.5, 0.2, 0.9, 0)), said(1, (2, 5, 0, 0), (0.1, 0.6, 0, 0))]
    action, visits, values = RootParallel().combine(found, stream(1))
    assert visits.tolist() == [8, 8, 1, 0]
    assert values == pytest.approx([(6 * 0.5 + 2 * 0.1) / 8, (3 * 0.2 + 5 * 0.6) / 8, 0.9, 0])
    assert action == 2
    assert RootParallel(final="robust").combine(found, stream(1))[0] == 1, "of equal visits the better mean"
    equal = [said(3, (0, 2, 2, 0), (0, -0.5, -0.5, 0))]
    assert [RootParallel(final=final).combine(equal, stream(1))[0] for final in ("max", "robust")] == [1, 1]
    assert RootParallel().combine([said(3), said(2)], stream(1))[0] == 3, "without visits the first member decides"


def test_a_member_is_a_new_player_with_its_own_seed() -> None:
    """One member's decision is that of a player of the inner agent; two members do not search alike."""
    game = make_game("2048")
    position = game.start(3)
    seeds: list[int] = []

    class Noting(SerialPool):
        def submit(self, job: SearchJob) -> SearchJob:
            seeds.append(job.seed)
            return super().submit(job)

    inner = make_agent(SEARCH)
    ensemble = RootParallel(agent=inner, members=2)
    player = ensemble.start(game, 0, 5, Noting())
    decisions = [player.act(position) for _ in range(2)]
    assert len(set(seeds)) == 4
    alone = [inner.start(game, 0, seed).act(position) for seed in seeds]
    assert not np.array_equal(alone[0].values, alone[1].values)
    for i, decision in enumerate(decisions):
        pair = alone[2 * i : 2 * i + 2]
        assert decision.visits.tolist() == (pair[0].visits + pair[1].visits).tolist()
        assert decision.nodes == pair[0].nodes + pair[1].nodes == 80


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("text", ENSEMBLES)
def test_threads_decide_as_one_after_the_other(text: str, workers: int) -> None:
    agent, game = make_agent(text), make_game("2048")
    with ThreadPool(workers) as pool:
        one, other = (start_player(agent, game, 0, 5, p) for p in (None, pool))
        position = game.start(1)
        for _ in range(12):
            expected, got = one.act(position), other.act(position)
            assert contract.same(expected, got)
            position = position.play(expected.action)


def test_a_forced_action_costs_nothing_and_is_not_searched() -> None:
    game = make_game("2048(size=2)")
    forced = next(p for p in contract.positions(game) if len(p.legal_actions()) == 1)
    pool = Scripted(2, [], None)
    decision = Majority(members=3).start(game, 0, 1, pool).act(forced)
    assert decision.action == forced.legal_actions()[0] and decision.nodes == 0 and pool.begun == []


def test_one_random_voter_is_the_random_agent() -> None:
    """Every legal action is drawn alike: 500 draws stay within five standard errors."""
    position = make_game("tictactoe").start()
    player = make_agent("majority(agent=random,members=1)").start(position.game, 0, 3)
    counts = np.bincount([player.act(position).action for _ in range(500)], minlength=9)
    assert (np.abs(counts - 500 / 9) < 5 * np.sqrt(500 * 8 / 81)).all()


def test_more_voters_follow_the_better_arm() -> None:
    """A voter that is right more often than not is right more often in company (Condorcet)."""
    game = make_game("tictactoe")
    position = game.start()
    for action in (0, 3, 1, 4):
        position = position.play(action)
    inner = "mctse(iterations=9)"  # 2 wins at once
    hits = []
    for members in (1, 15):
        player = make_agent(f"majority(agent={inner},members={members})").start(game, 0, 1)
        hits.append(sum(player.act(position).action == 2 for _ in range(60)))
    assert 20 < hits[0] < 58 and hits[1] > hits[0]


def test_what_a_member_raises_ends_the_match_with_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(job: SearchJob) -> Decision:
        raise ZeroDivisionError("a mistake in the agent")

    monkeypatch.setattr(SearchJob, "run", run)
    record = play_match(MatchSpec("2048", (f"majority(agent={SEARCH})",), 1))
    assert record.termination is Termination.CRASHED and "a mistake in the agent" in record.error
    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        search_first(pool, numbered(3), len)


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        ("majority(agent=greedy(evaluator=heuristics2048))", "heuristics2048 evaluates the 4x4 board of 2048 only"),
        ("root_parallel(agent=majority(agent=alphabeta))", "alphabeta"),
    ],
)
def test_an_unfit_member_is_refused_in_a_sentence(agent: str, sentence: str) -> None:
    game = make_game("2048(size=3)")
    law_sentence(make_agent(agent).cannot_play(game))
    with pytest.raises(UserError, match=sentence):
        make_agent(agent).start(game)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("majority(members=0)", "majority: members must be from 1 to 100, got 0"),
        ("majority(agent=rollout)", "There is no agent named 'rollout'"),
        ("majority(agent=mc(iteration=3))", "did you mean iterations?"),
        ("root_parallel(final=best)", "final must be one of max, robust"),
    ],
)
def test_senseless_ensembles_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        make_agent(text)
    assert sentence in str(error.value)
