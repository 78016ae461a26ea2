"""Matches that are played side by side are those that are played alone."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from turnier.agents.registry import AGENTS
from turnier.arena import play_compiled
from turnier.arena.match import MatchRecord, MatchSpec, derive_seed
from turnier.arena.play import matches_in_step, play_match, play_matches
from turnier.arena.step_kernel import ENOUGH, NUM_SIGNALS
from turnier.arena.workers.executor import Done, Lost
from turnier.arena.workers.local import ThreadExecutor
from turnier.arena.workers.work_done import UnderWay
from turnier.games.registry import GAMES

MC = "mc(iterations=12,rollout_depth=9)"
TUNED = "empty_method=1,empty1=0.7214,corner=0.4807,row_method=1,row1=0.4779,merge=0.8080,rollout=0.8435"
AGENT_TEXTS = [
    MC,
    "mc(iterations=40,rollout_depth=9,divided=true)",
    "mctse(iterations=30,rollout_depth=30,maxnodes=9)",
    "mctse(iterations=20,rollout_depth=5,final=robust_max,selection=uct,score_method=2)",
    "mctse(iterations=20,rollout_depth=5,backup=minimum,final=secure)",
    "mctse(iterations=20,rollout_depth=5,selection=uct,exploration=0.1,exploration_end=0.0,exploration_points=60.0)",
    "mctse(iterations=30,rollout_depth=30,maxnodes=9,evaluator=heuristics2048)",
    f"mctse(iterations=20,rollout_depth=9,evaluator=forgetful2048({TUNED}))",
    f"mc(iterations=12,rollout_depth=9,evaluator=heuristics2048({TUNED},use_corner=false))",
]


def specs(agent: str, count: int, game: str = "2048", **more: Any) -> list[MatchSpec]:
    made = GAMES.make(game)
    agents = (AGENTS.make(agent).full_text(),) * made.num_seats
    return [MatchSpec(made.full_text(), agents, derive_seed("in step", number), **more) for number in range(count)]


def essence(records: Iterator[MatchRecord] | list[MatchRecord]) -> list[tuple[Any, ...]]:
    return [(r.spec, r.termination, r.scores, r.decisions, r.nodes, r.plies, r.facts) for r in records]


@pytest.mark.parametrize("agent", AGENT_TEXTS)
def test_matches_in_step_are_those_played_alone(agent: str) -> None:
    (example,) = specs(agent, 1)
    assert matches_in_step(example) == AGENTS.make(agent).in_step  # type: ignore[attr-defined]
    matches = specs(agent, matches_in_step(example) + 3)
    together = play_matches(matches)
    assert essence(together) == essence(map(play_match, matches))
    assert len({len(record.plies) for record in together}) > 5  # they ended at different times
    assert all(record.seconds > 0 for record in together)


def test_two_seats_in_step() -> None:
    """Some matches have the first seat to move while others have the second: the pie rule skips a turn."""
    matches = specs("mc(iterations=5,rollout_depth=9)", 67, "yavalath(size=4,swap=true)")
    mixed = [MatchSpec(m.game, (m.agents[0], AGENTS.make("random").full_text()), m.seed) for m in matches]
    for batch in (matches, mixed):
        assert matches_in_step(batch[0]) == 64
        assert essence(play_matches(batch)) == essence(map(play_match, batch))


def test_limits_openings_and_small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_compiled, "ROOM_IN_STEP", 16)
    opening = (1, 6, 0)  # two tiles, and a move to the left
    for more in ({}, {"max_plies": 5}, {"max_plies": 20, "opening": opening}):
        matches = specs(MC, ENOUGH, **more)
        assert essence(play_matches(matches)) == essence(map(play_match, matches))


def test_records_have_the_order_of_their_specs_though_agents_alternate() -> None:
    mixed = [spec for pair in zip(specs(MC, 4), specs("random", 4), strict=True) for spec in pair]
    assert [record.spec for record in play_matches(mixed)] == mixed


def test_agents_that_decide_otherwise_are_not_in_step() -> None:
    for agent in (
        "random",
        "mc(iterations=5,evaluator=score)",
        "mc(iterations=5,evaluator=heuristics2048(use_rollout=false))",
        "mctse(iterations=5,milliseconds=1)",
    ):
        assert matches_in_step(specs(agent, 1)[0]) == 1


def test_a_stop_leaves_out_what_is_under_way() -> None:
    assert play_matches(specs(MC, ENOUGH), stop=np.ones(1, np.int64)) == []


@pytest.mark.parametrize(("more_may_join", "first"), [(False, 2 * ENOUGH), (True, ENOUGH)])
def test_workers_share_what_is_played_in_step(monkeypatch: pytest.MonkeyPatch, more_may_join: bool, first: int) -> None:
    monkeypatch.setattr(ThreadExecutor, "more_may_join", more_may_join)
    with ThreadExecutor(2) as executor:
        sizes, submit = [], executor.submit

        def noted(do: Any, batch: list[Any]) -> Any:
            sizes.append(len(batch))
            return submit(do, batch)

        monkeypatch.setattr(executor, "submit", noted)
        played = list(executor.play(specs("mctse(iterations=30,rollout_depth=9)", 4 * ENOUGH, max_plies=4)))
    assert sum(map(len, played)) == sum(sizes) == 4 * ENOUGH and sizes[:2] == [first, first]
    assert max(sizes) <= 2 * ENOUGH


class Interrupted(ThreadExecutor):
    """Ctrl-C comes while it waits, when some matches of a batch are over, and others are not."""

    def wait(self, tickets: list[Any]) -> Iterable[tuple[Any, Done | Lost]]:
        while self.under_way().over == 0:
            time.sleep(0.001)
        raise KeyboardInterrupt


def test_what_is_over_when_ctrl_c_comes_is_kept() -> None:
    wanted, kept = specs("mctse(iterations=100)", 2 * ENOUGH), list[MatchRecord]()
    with Interrupted(1) as executor:
        assert executor.under_way() == UnderWay(0, 0)
        played = executor.play(wanted)
        with pytest.raises(KeyboardInterrupt):
            kept.extend(itertools.chain.from_iterable(played))
    assert 0 < len(kept) < len(wanted)
    assert essence(kept) == essence(map(play_match, (record.spec for record in kept)))


def test_matches_in_step_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_compiled, "ROOM_IN_STEP", 16)  # matches continue in a larger room
    signals = np.zeros(NUM_SIGNALS, np.int64)
    records = play_matches(specs(MC, ENOUGH, max_plies=20), stop=signals)
    assert signals.tolist() == [0, sum(record.decisions[0] for record in records), ENOUGH]
