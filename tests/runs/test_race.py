"""Races: several agents and one base, who leaves when, and what is said; the same after a stop and with any workers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.running import end_of_command
from tests.cli.running import turnier as command
from turnier.arena.match import MatchRecord, MatchSpec
from turnier.arena.schedules.race import fallen_behind
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.comparison import Comparison, Race
from turnier.runs.stored.race import RaceResults
from turnier.statistics.sprt import Improvement, Verdict
from turnier.studies.promises.race import KINDS, main, simulate

TAKES = ("random", "mc(iterations=30)", "mc(iterations=9)", "mc(iterations=8)")
BASE = "mc(iterations=7)"
CLOSE = {"margin": 90.0}  # Elo


def race(*agents: str, base: str = BASE, game: str = "tictactoe", **options: Any) -> Race:
    return Race(agents or TAKES, base=base, game=game, **CLOSE | options)


def found(results: RaceResults) -> tuple[object, ...]:
    return results.sentence, results.agents().to_json(), sorted(results.played)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/own.db") as store:
        yield store


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RaceResults]:
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('race')}/whole.db") as store:
        yield race().run(store, where=Where("serial"), progress=False)


def test_the_better_are_found_and_the_others_stop_early(whole: RaceResults) -> None:
    agents, duels = whole.agents().set_index("label"), whole.duels
    assert whole.best == TAKES[1] == agents.index[0] and agents["standing"].iloc[0] == "better"
    assert agents["elo_low"].iloc[0] > 0
    assert not duels.playing and agents["games"]["random"] == agents["games"].min() < agents["games"].max()
    assert duels.games == agents["games"].sum() == len(whole.played)
    assert agents["standing"]["random"] != "better" and agents["elo_high"]["random"] < 0
    assert whole.sentence.startswith(f"{TAKES[1]} is better than {BASE} at tictactoe after {duels.games:,} games: +")


class Stopping(SerialExecutor):
    """Ends like a stopped command after some games."""

    left = 90

    def play(self, specs: Sequence[MatchSpec]) -> Iterator[list[MatchRecord]]:
        for records in super().play(specs[: self.left]):
            self.left -= len(records)
            yield records
        if self.left <= 0:
            raise KeyboardInterrupt


def test_a_stopped_race_goes_on_with_other_workers(own: Store, whole: RaceResults) -> None:
    with pytest.raises(KeyboardInterrupt):
        race().run(own, where=Stopping(), progress=False)
    waiting = RaceResults.find(own, whole.id)
    assert waiting.waiting == 90 and not waiting.played and "no round of games has ended yet" in waiting.sentence
    assert found(race().run(own, where=Where("threads", 2), progress=False)) == found(whole)
    assert found(RaceResults.find(own, "race")) == found(whole)


def test_less_and_more_games_are_the_same_race(own: Store, whole: RaceResults) -> None:
    """At its maximum, a race says what is undecided, and how many games that takes."""
    short = race(margin=10.0, games=64).run(own, where=Where("serial"), progress=False)
    assert short.id == whole.id and "undecided" in short.sentence and "more games." in short.sentence
    assert short.games_to_verdict > 100 and set(short.agents()["games"]) == {64}
    assert found(race().run(own, where=Where("serial"), progress=False)) == found(whole)


def test_games_are_those_of_no_comparison(whole: RaceResults) -> None:
    """A test on the games by which an agent was chosen finds differences that do not exist."""
    seeds = {record.spec.seed for record in whole.store.records(sorted(whole.played))}
    specs = next(Comparison(TAKES[1], BASE, game="tictactoe").schedule().rounds())
    assert not seeds & {spec.seed for spec in specs}
    sets = [{spec.seed for spec in next(each.rounds())} for each in race().schedule().duels]
    assert len(set(map(frozenset, sets))) == 1, "all agents play the same seeds"


def test_alone_the_base_plays_each_seed_once(own: Store) -> None:
    plan = Race(["greedy", "mc(iterations=2)"], base="random", game="2048(size=2)", margin=30.0)
    results = plan.run(own, where=Where("serial"), progress=False)
    games = Counter(record.spec.agents[0] for record in own.records(sorted(results.played)))
    assert games["random"] == max(games.values()) and sum(games.values()) == results.duels.games
    assert plan.total == 3 * 32 and {"difference_percent", "difference_percent_low"} <= set(results.agents())


def test_agents_that_repeat_one_game_need_openings(own: Store) -> None:
    plan = race("alphabeta(depth=1)", "alphabeta(depth=2)", base="alphabeta(depth=3)")
    with pytest.raises(UserError, match="--openings"):
        plan.run(own, progress=False)


@pytest.mark.parametrize(
    ("agents", "message"),
    [(["random", BASE], "a race must have agents that differ"), (["random", "random"], "twice"), ([], "got none")],
)
def test_agents_differ(agents: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Race(agents, base=BASE, game="tictactoe")


def test_who_is_clearly_behind_leaves_and_who_is_decided_stays() -> None:
    def tested(points: list[float], times: int) -> Improvement:
        test = Improvement.of_shares(20, 0.05, 3)
        test.add(points * times)
        return test

    ahead, near = tested([1, 0.5, 0.75, 0.5], 10), tested([1, 0.25, 0.75, 0.25], 10)
    behind = tested([1, 0, 0.5, 0.25], 10)
    assert behind.verdict is near.verdict is Verdict.UNDECIDED is not ahead.verdict
    assert fallen_behind({0: behind, 1: ahead, 2: near}) == {0: 1}
    few = tested([0.0, 0.25], 5)
    assert fallen_behind({0: few, 1: ahead}) == {}, "nobody leaves before the first test"
    lost = tested([0.0, 0.25], 100)
    assert lost.verdict is Verdict.EQUAL and fallen_behind({0: lost, 1: ahead}) == {}
    assert lost.estimate.high < 0.5 < tested([1.0, 0.75], 100).estimate.low


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[-3]], ids=lambda kind: kind.name)
def test_equal_agents_are_seldom_called_better(kind: Any) -> None:
    """At most 5 % of uses, give or take two standard errors."""
    rng, uses = np.random.default_rng(1), 100
    ended = [simulate(kind, "race", rng) for _ in range(uses)]
    assert sum(use.wrong for use in ended) <= 9 and sum(use.held for use in ended) >= 91


def test_a_good_agent_is_named_with_fewer_games() -> None:
    kind, rng = next(kind for kind in KINDS if kind.name == "1 of 4 is 40 Elo better"), np.random.default_rng(2)
    ended = {way: [simulate(kind, way, rng) for _ in range(25)] for way in ("race", "one by one", "to the end")}
    games = {way: np.mean([use.games for use in uses]) for way, uses in ended.items()}
    assert all(sum(use.best for use in uses) >= 22 for uses in ended.values())
    assert games["race"] < 0.75 * games["one by one"] and games["race"] < 0.4 * games["to the end"]


def test_the_script_adds_what_is_missing(tmp_path: Path) -> None:
    data, page = tmp_path / "race.csv", tmp_path / "page.md"
    page.write_text("<!-- written by studies/promises/race.py -->\n<!-- end of the races -->\n")
    main("tiny", data, page)
    lines, shown = data.read_text().splitlines(), page.read_text()
    assert all(f"| {kind.name} |" in shown for kind in KINDS)
    data.write_text("\n".join(lines[:-3]) + "\n")
    main("tiny", data, page)
    assert data.read_text().splitlines() == lines and page.read_text() == shown


def test_the_command(tmp_path: Path) -> None:
    """Agents without --base, options of the other kind, and what a resumed race takes from its run."""
    base = ("--base", "mc(iterations=9)", "--game", "tictactoe", "--margin", "90", "--executor", "serial")
    said = command("compare", "mc(iterations=30)", *base, "random", "greedy", folder=tmp_path)
    assert ("mc(iterations=30) is better than mc(iterations=9)" in said and "behind" in said) or "not better" in said
    again = command("compare", "mc(iterations=30)", "random", "greedy", *base, folder=tmp_path)
    assert again == said
    told = json.loads(command("show", "race", "--json", folder=tmp_path))
    assert told["best"] == "mc(iterations=30)" and len(told["agents"]) == 3
    refused = end_of_command("compare", "random", "greedy", "mcts", "--game", "tictactoe", folder=tmp_path)
    assert refused.code and refused.errors.strip().endswith(
        "a comparison takes 2 agents, got 3; to compare more, type --base too."
    )
    assert "keeps its base" in end_of_command("compare", "--resume", "race", "--base", "mcts", folder=tmp_path).errors
    missing = end_of_command("compare", "--base", "random", "--game", "tictactoe", folder=tmp_path).errors
    assert "a race needs agents" in missing
