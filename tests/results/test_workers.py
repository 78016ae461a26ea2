"""What each machine has played in a run; one whose games end differently is found, verified, and its games deleted."""

from __future__ import annotations

import dataclasses
import math

import pytest

import turnier
from tests.results.made import as_version, made
from turnier.arena.match import MatchRecord, MatchSpec, Termination, derive_seed
from turnier.arena.play import play_matches
from turnier.core.errors import UserError
from turnier.results.frames.matches import matches_frame
from turnier.results.repair.inspection import inspect_store
from turnier.results.store.run_changes import games_of_worker, purge_worker
from turnier.results.store.store import Store
from turnier.results.upgrade.upgrade import upgrade
from turnier.results.verification import UNKNOWN, Verification, sample_of_run
from turnier.results.workers import workers_of_run

MC, RANDOM = turnier.make_agent("mc(iterations=20)").full_text(), "random"
MACHINES = ("w1/10.77.0.11", "w2/10.77.0.12", "w3/10.77.0.13")
PAIRS = [(MC, RANDOM), (RANDOM, MC)]


@pytest.fixture(scope="module")
def games() -> list[MatchRecord]:
    """Tic-tac-toe on three machines, on the second of which mc chooses at random."""
    specs = [MatchSpec("tictactoe", pair, seed) for pair in PAIRS for seed in range(90)]
    records = play_matches(specs)
    for number, record in enumerate(records):
        record.worker = MACHINES[number % 3]
        if number % 3 == 1:
            other = play_matches([MatchSpec("tictactoe", (RANDOM, RANDOM), derive_seed(record.spec.seed))])[0]
            records[number] = dataclasses.replace(other, spec=record.spec, worker=record.worker)
    return records


@pytest.fixture
def run(store: Store, games: list[MatchRecord]) -> Store:
    store.begin_run("run", "tournament", "tictactoe", {})
    store.append("run", games)
    return store


def test_a_machine_on_which_games_end_differently_is_named_with_its_agent(run: Store) -> None:
    found = workers_of_run(run, "run")
    assert found.workers["games"].tolist() == [60] * 3 and sorted(found.workers["worker"]) == list(MACHINES)
    assert len(found.residuals) == 6
    (sentence,) = found.sentences("run")
    assert sentence.startswith(f"{MACHINES[1]}: games of ") and f"purge run --worker {MACHINES[1]}" in sentence
    by_agent = found.residuals[found.residuals["worker"] == MACHINES[1]].set_index("agent")
    assert by_agent.loc[MC, "difference"] < -0.3 and by_agent.loc[MC, "standard_errors"] < -5
    last = found.workers.set_index("worker").loc[MACHINES[2]]
    assert (
        last["last_agents"] == ["random", "mc(iterations=20)"] and run.record(last["last_match"]).worker == MACHINES[2]
    )


def test_machines_that_play_the_same_are_not_named_whoever_they_play(store: Store) -> None:
    """Each machine has other agents: its mean scores differ, but not those of the same agents in the same seats."""
    store.begin_run("run", "tournament", "tictactoe", {})
    records = play_matches([MatchSpec("tictactoe", pair, seed) for pair in PAIRS for seed in range(90)])
    for number, record in enumerate(records):
        record.worker = MACHINES[(number >= 90) ^ (number % 10 == 0)]
    store.append("run", records)
    found = workers_of_run(store, "run")
    assert found.sentences("run") == [] and found.residuals["standard_errors"].abs().max() < 4


def test_a_machine_with_few_games_accuses_nobody(run: Store, games: list[MatchRecord]) -> None:
    run.begin_run("few", "tournament", "tictactoe", {})
    run.link("few", [record.spec.id for record in [*games[::3], *games[1:9:3]]])
    assert workers_of_run(run, "few").differing.empty


def test_a_run_without_games_has_no_machines(store: Store) -> None:
    store.begin_run("run", "tournament", "tictactoe", {})
    found = workers_of_run(store, "run")
    assert found.workers.empty and found.differing.empty and found.sentences("run") == []


def test_speed_is_that_of_the_same_agents_and_failures_count(store: Store) -> None:
    store.begin_run("run", "tournament", "2048", {})
    times = {MACHINES[0]: 1.0, MACHINES[1]: 3.0}
    records = [
        made(seed, (float(seed),), (agent,), worker=worker, seat_seconds=(time * weight,), seconds=time * weight)
        for worker, time in times.items()
        for agent, weight in (("random", 1.0), ("greedy", 100.0))
        for seed in (range(4) if worker == MACHINES[0] else range(10, 17))
    ]
    failed = made(
        20, agents=("mc",), worker=MACHINES[0], termination=Termination.CRASHED, seat_seconds=(1.0,), seconds=1.0
    )
    store.append("run", [*records, failed])
    workers = workers_of_run(store, "run").workers.set_index("worker")
    assert workers.loc[MACHINES[0], "failed"] == 1 and workers.loc[MACHINES[1], "failed"] == 0
    assert workers.loc[MACHINES[0], "speed"] / workers.loc[MACHINES[1], "speed"] == pytest.approx(3, rel=0.01)
    assert math.isnan(workers.loc[MACHINES[0], "cpu_seconds_per_game"])


def test_games_of_which_nobody_knows_who_played_are_those_of_an_unknown_machine(store: Store, url: str) -> None:
    store.begin_run("run", "tournament", "2048", {})
    store.append("run", [made(1)])
    as_version(store, 8)
    upgrade(url)
    with Store.open(url, read_only=True) as old:
        assert workers_of_run(old, "run").workers["worker"].tolist() == [UNKNOWN]


def test_a_larger_sample_has_the_smaller_one_and_only_what_seeds_decide(run: Store) -> None:
    run.append("run", [made(1, (1.0, 0.0), ("mcts(milliseconds=1)", "random"), "tictactoe", worker="w9")])
    ids = [{record.spec.id for record in sample_of_run(run, "run", share)} for share in (0.2, 0.5, 1.0)]
    assert ids[0] < ids[1] < ids[2] and len(ids[2]) == 180 and 15 < len(ids[0]) < 60
    with pytest.raises(UserError, match="must have games that seeds decide, got none among 0 games"):
        sample_of_run(run, "run", 1e-6)


def test_games_that_are_played_again_say_whose_differ(run: Store) -> None:
    verification = Verification(sample_of_run(run, "run", 1.0))
    specs = [record.spec for record in verification.stored]
    assert sum(verification.compare([play_matches(specs[:50]), play_matches(specs[50:])])) == 180
    assert {record.worker for record in verification.differing} == {MACHINES[1]}
    table = verification.by_worker().set_index("worker")
    assert table.loc[MACHINES[0], "differing"] == 0 and table.loc[MACHINES[1], "differing"] > 50
    assert table["again"].tolist() == [60] * 3


def test_the_games_of_a_machine_are_deleted_from_all_runs(run: Store, url: str, games: list[MatchRecord]) -> None:
    run.begin_run("other", "tournament", "tictactoe", {"other": 1})
    run.link("other", [record.spec.id for record in games[:20]])
    assert games_of_worker(run, run.run("run"), MACHINES[1]) == {"run": 60, "other": 7}
    purge_worker(run, run.run("run"), MACHINES[1])
    assert run.match_counts() == {"run": 120, "other": 13} and inspect_store(url) == []
    assert len(matches_frame(run, "run")) == 240 and run.played([r.spec.id for r in games[1::3]]) == set()
    with pytest.raises(UserError, match=f"got '{MACHINES[1]}'; its workers are: {MACHINES[0]}, {MACHINES[2]}"):
        games_of_worker(run, run.run("run"), MACHINES[1])
    assert run.append("run", games) == 60 and inspect_store(url) == []
