"""What a stored comparison says without playing: the same as the command that played it, at any time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.match import MatchRecord, MatchSpec, Termination
from turnier.arena.schedules.round_robin import round_robin
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.store.annotations import SETTINGS
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison
from turnier.runs.stored.comparison import ComparisonResults
from turnier.statistics.sprt import Verdict

CLOSE = ("mcts(iterations=16)", "mcts(iterations=17)")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        yield store


def played(store: Store, *agents: str, game: str = "tictactoe", **options: float) -> ComparisonResults:
    comparison = Comparison(*agents, game=game, **options)  # type: ignore[arg-type]
    return comparison.run(store, where=Where("serial"), progress=False)


def same(found: ComparisonResults, other: ComparisonResults) -> bool:
    """Whether both have the same games and verdict, and say the same."""
    assert found.sentence == other.sentence and found.meaning == other.meaning
    return found.played == other.played and found.verdict is other.verdict and found.estimate == other.estimate


def test_a_stored_comparison_says_what_its_last_command_said(own: Store) -> None:
    """A stricter test leaves more games than the one after it looks at."""
    for options in ({"margin": 150}, {"margin": 5, "alpha": 0.01, "games": 300, "first_round": 20}, {"margin": 150}):
        results = played(own, *CLOSE, **options)
        found = ComparisonResults.find(own, results.id)
        assert same(found, results) and found.waiting == 0
    assert results.verdict is Verdict.EQUAL and len(found.agents()) == 2


def test_without_known_settings_the_defaults_hold(own: Store) -> None:
    results = played(own, "mc(iterations=20)", "random")
    own.annotations.set(results.id, SETTINGS, "")
    assert same(ComparisonResults.find(own, results.id), results)


def test_a_round_that_has_not_ended_waits(own: Store) -> None:
    comparison = Comparison(*CLOSE, game="tictactoe", margin=5, games=200)
    own.begin_run(comparison.run_id, "comparison", "tictactoe", comparison.definition)
    nothing = comparison.results(own)
    assert nothing.verdict is Verdict.UNDECIDED and "no round of games has ended" in nothing.sentence
    assert nothing.agents().empty and nothing.evidence().empty and nothing.outcomes()["pairs"].sum() == 0
    rounds = comparison.schedule().rounds()
    first = next(rounds)
    records = [record for some in SerialExecutor().play(first) for record in some]
    own.append(comparison.run_id, records[:10])
    assert comparison.results(own).waiting == 10
    own.append(comparison.run_id, records)
    by_id = {record.spec.id: record for record in records}
    second = rounds.send([by_id[spec.id] for spec in first])
    own.append(comparison.run_id, [record for some in SerialExecutor().play(second[:7]) for record in some])
    stopped = comparison.results(own)
    assert (stopped.duel.games, stopped.waiting, len(stopped.played)) == (64, 7, 64)


def test_void_pairs_do_not_count_and_failures_are_lost(own: Store) -> None:
    comparison = Comparison("mc(iterations=20)", "random", game="tictactoe", games=64)
    own.begin_run(comparison.run_id, "comparison", "tictactoe", comparison.definition)
    records = [r for some in SerialExecutor().play(next(comparison.schedule().rounds())) for r in some]
    broken = dataclasses.replace(records[0], termination=Termination.ERROR, error="It broke.")
    crashed = dataclasses.replace(records[1], termination=Termination.CRASHED, scores=(-1.0, 1.0), error="It crashed.")
    own.append(comparison.run_id, [broken, crashed, *records[2:]])
    found = comparison.results(own)
    assert (found.duel.pairs, found.duel.test.units, found.outcomes()["pairs"].sum()) == (32, 31, 31)
    assert found.void_pairs == 1 and "64 games (32 pairs, 1 of them void)" in found.sentence
    assert found.failures()["cause"].tolist() == ["crashed", "void"]
    assert found.agents()["failures"].tolist() == [1, 0] and found.agents()["void"].tolist() == [1, 1]


def test_a_comparison_without_a_pair_that_counts_says_so(own: Store) -> None:
    comparison = Comparison("mc(iterations=20)", "random", game="tictactoe", games=64)
    own.begin_run(comparison.run_id, "comparison", "tictactoe", comparison.definition)
    records = [r for some in SerialExecutor().play(next(comparison.schedule().rounds())) for r in some]
    own.append(comparison.run_id, [dataclasses.replace(record, termination=Termination.ERROR) for record in records])
    assert comparison.results(own).sentence.endswith("(32 pairs, 32 of them void): every pair has a void game.")


class Negated(SerialExecutor):
    """Plays a game whose scores are negative, as those of a game that counts steps."""

    def play(self, specs: Sequence[MatchSpec]) -> Iterator[list[MatchRecord]]:
        for batch in super().play(specs):
            yield [dataclasses.replace(record, scores=(-record.scores[0],)) for record in batch]


@pytest.mark.parametrize(
    "agents", [("greedy", "random"), ("random", "greedy"), ("mc(iterations=4)", "mc(iterations=5)")]
)
def test_negative_scores_are_compared_as_positive_ones(own: Store, tmp_path: Path, agents: tuple[str, str]) -> None:
    """What scores are opposite have the opposite verdict after the same games, with the opposite estimate."""
    comparison = Comparison(*agents, game="2048(size=2)", games=2000, margin=20)
    found = comparison.run(own, where=Where("serial"), progress=False)
    with Store.open(f"sqlite:///{tmp_path}/negated.db") as store:
        negated = comparison.run(store, where=Negated(), progress=False)
        assert same(ComparisonResults.find(store, negated.id), negated)
        turned = {"stronger": "weaker", "weaker": "stronger"}
        order = ["games", "test"]
        mirrored = found.evidence().assign(test=found.evidence()["test"].map(turned)).sort_values(order)
        now = negated.evidence().sort_values(order)
        pd.testing.assert_frame_equal(now.reset_index(drop=True), mirrored.reset_index(drop=True))
    assert negated.duel.games == found.duel.games and found.verdict is not Verdict.UNDECIDED
    assert negated.verdict == turned.get(found.verdict, found.verdict)
    for end, other in (("", ""), ("_low", "_high"), ("_high", "_low")):
        assert negated.estimate[f"difference_percent{end}"] == -found.estimate[f"difference_percent{other}"]


def test_only_comparisons_have_a_verdict(own: Store) -> None:
    own.begin_run("tournament:1", "tournament", "t", {})
    with pytest.raises(UserError, match="is of kind tournament, whose results are not ComparisonResults"):
        ComparisonResults.find(own, "tournament:1")


@pytest.mark.parametrize(
    ("agents", "game", "outcomes"),
    [
        (("mc(iterations=20)", "random"), "tictactoe", ["2: won both", "0: lost both"]),
        (("mcts(iterations=9)", "random"), "yavalath(size=3,players=3)", ["80 to 100 % of the points"]),
        (("random", "greedy"), "2048(size=2)", ["the same score"]),
    ],
)
def test_each_pair_has_one_outcome(own: Store, agents: tuple[str, str], game: str, outcomes: list[str]) -> None:
    results = played(own, *agents, game=game, games=400)
    frame = results.outcomes()
    assert frame["pairs"].sum() == results.duel.test.units
    assert set(outcomes) <= set(frame["outcome"]) and frame["outcome"].is_unique
    reverse = played(own, *agents[::-1], game=game, games=400).outcomes()
    if game == "tictactoe":  # both play the same games
        assert reverse["pairs"].tolist()[::-1] == frame["pairs"].tolist()


def test_differences_of_scores_fall_into_the_bins_that_name_them(own: Store) -> None:
    results = played(own, "random", "greedy", game="2048(size=2)", games=200)
    rows = dict(results.outcomes().itertuples(index=False, name=None))
    for name, pairs in rows.items():
        ends = [0.0, 0.0] if name == "the same score" else [float(end.replace(",", "")) for end in name.split(" to ")]
        near, far = (abs(end) for end in ends)
        sign = -1 if ends[1] < 0 else 1
        found = [sign * (first - second) for first, second in results.duel.outcomes]
        assert pairs == sum(near < difference <= far if far else difference == 0 for difference in found)


def test_the_evidence_ends_a_test_where_it_leaves_its_bounds_at_a_look(own: Store) -> None:
    results = played(own, "mcts(iterations=10)", "mcts(iterations=12)", margin=40)
    frame, (low, high) = results.evidence(), results.duel.test.bounds
    looks = frame[frame["look"]]
    assert results.verdict is not Verdict.UNDECIDED and len(looks) > 2
    for test, rows in looks.groupby("test"):
        evidence = rows["evidence"].tolist()
        assert all(low < value < high for value in evidence[:-1]), test
    last = looks.groupby("test")["evidence"].last()
    ends = {Verdict.EQUAL: (last <= low).all(), Verdict.STRONGER: last["stronger"] >= high}
    assert ends.get(results.verdict, last["weaker"] >= high)
    at_the_end = {"stronger": results.duel.test.high, "weaker": results.duel.test.low}
    for test, value in looks[looks["games"] == results.duel.games].set_index("test")["evidence"].items():
        assert value == pytest.approx(results.duel.test.evidence(at_the_end[str(test)]))


def test_the_definition_stays_as_it_was() -> None:
    """Ids of stored comparisons depend on it."""
    comparison = Comparison(*map(make_agent, CLOSE), game="tictactoe", margin=7, alpha=0.01)
    assert comparison.run_id == "comparison:1aa2b4552799e241"


def test_a_comparison_with_the_seeds_of_tournaments_resumes_with_them(own: Store) -> None:
    """Such were all until they got seeds of their own."""
    before = Comparison(*CLOSE, game="tictactoe", games=40)
    before._own_seeds = False
    assert before.run_id == "comparison:0485cc8be0991955"
    earlier = before.schedule()
    own.begin_run(before.run_id, "comparison", "tictactoe", before.definition)
    results = Comparison(*CLOSE, game="tictactoe", games=40).run(own, progress=False)
    assert results.id == before.run_id and results.played == {spec.id for spec in next(earlier.rounds())[:40]}
    assert ComparisonResults.find(own, before.run_id).played == results.played
    other = Comparison(*CLOSE, game="tictactoe", games=40, seed=2).run(own, progress=False)
    tournament = {spec.id for spec in round_robin(make_game("tictactoe"), list(map(make_agent, CLOSE)), 40, 2)}
    assert len(other.played) == 40 and not other.played & tournament, "what was played to choose them is not used"


def test_one_game_repeated_is_no_comparison(own: Store) -> None:
    words = {"game": "tictactoe", "games": 40}
    with pytest.raises(UserError, match=r"alphabeta\(depth=2\) and alphabeta\(depth=3\) .* --openings 4\.$"):
        Comparison("alphabeta(depth=2)", "alphabeta(depth=3)", **words).run(own, progress=False)
    assert own.runs() == []
    Comparison("alphabeta(depth=2)", "alphabeta(depth=3)", openings=2, **words).run(own, progress=False)
    Comparison("alphabeta(depth=2)", "random", **words).run(own, progress=False)


@pytest.mark.parametrize("game", ["tictactoe", "yavalath(size=3,players=3)"])
def test_the_table_has_the_interval_of_the_sentence(own: Store, game: str) -> None:
    """In three seats each agent has half of them, and gets two thirds of its share of the points per seat."""
    results = played(own, "mcts(iterations=9)", "random", game=game, games=48)
    agents, estimate = results.agents(), results.estimate
    per_seat = 2 / results.duel.game.num_seats
    assert per_seat * estimate["share"] == pytest.approx(agents["points"].iloc[0] / agents["games"].iloc[0])
    for end, other in (("", ""), ("_low", "_high"), ("_high", "_low")):
        first, second = agents[f"points_share{end}"]
        assert first == per_seat * estimate[f"share{end}"] and second == per_seat * (1 - estimate[f"share{other}"])
    ends = [estimate[f"share{end}"] for end in ("_low", "", "_high")]
    assert 0 <= ends[0] < ends[1] < ends[2] <= 1
