"""What share of their time workers spend on games that a generation waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turnier.arena.match import MatchSpec
from turnier.arena.workers import batch_sizes
from turnier.arena.workers.executor import MATCHES, Done, Lost, Source, Task, Work
from turnier.arena.workers.local import ThreadExecutor
from turnier.arena.workers.simulated_workers import SimulatedExecutor
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.study_run import StudyRun

AGENTS = {
    "mc": ("mc(iterations=1,rollout_depth=1)", "rollout_depth=0..3"),
    "mctse": ("mctse(iterations=2,rollout_depth=1,maxnodes=4)", "rollout_depth=0..3"),
    "mcts": ("mcts(iterations=2)", "exploration"),
}


class Noting(SimulatedExecutor):
    """Notes the sizes of the batches."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.sizes: list[int] = []

    def submit(self, do: Task, batch: list[Any]) -> int:
        self.sizes.append(len(batch))
        return super().submit(do, batch)


def run(
    folder: Path, agent: str, population: int, workers: int, game: str = "othello(size=4)"
) -> tuple[StudyRun, Noting]:
    """Runs two generations; those of Othello do not wait long for their last games, which are nearly equally long."""
    text, parameter = AGENTS[agent]
    sampler = f"cmaes(population={population})"
    against = () if game.startswith("2048") else ("random",)
    definition = StudyDefinition("useful", game, text, (parameter,), sampler, "fixed(games=1)", against)
    store = Store.open(f"sqlite:///{folder}/{agent}-{population}-{workers}.db")
    study, executor = StudyRun(store, definition), Noting(workers)
    study.run(2, executor)
    return study, executor


@pytest.mark.parametrize(
    ("agent", "population", "workers"),
    [("mc", 16, 2), ("mc", 64, 8), ("mctse", 64, 64), ("mcts", 16, 64), ("mcts", 16, 8)],
)
def test_nearly_all_time_goes_into_games_of_candidates(
    tmp_path: Path, agent: str, population: int, workers: int
) -> None:
    study, _ = run(tmp_path, agent, population, workers)
    usable = min(workers, 2 * population)
    assert 0.8 * usable < study.worked.useful_share * workers <= usable + 1e-9
    assert study.worked.useful_share <= study.worked.busy_share <= 1.0 + 1e-9
    assert study.idle_games <= study.course.games == 4 * population


def test_workers_begin_the_next_generation_of_duels_instead_of_waiting(tmp_path: Path) -> None:
    """Asked for before the latest values are known, it is the same with any number of workers."""
    found = {}
    for ahead, workers in (("false", 16), ("true", 16), ("true", 1)):
        sampler = f"duels(pairs=16,share=0,length=192,ahead={ahead})"
        definition = StudyDefinition("ahead", "tictactoe", AGENTS["mc"][0], (AGENTS["mc"][1],), sampler)
        with Store.open(f"sqlite:///{tmp_path}/{ahead}-{workers}.db") as store:
            study = StudyRun(store, definition)
            study.run_budget(384 + 10, SimulatedExecutor(workers))
            values = [trial.value for trial in study.optuna.get_trials()]
            found[ahead, workers] = values, str(study.course.proposed()), study.worked.useful_share
            assert study.course.games == 384
    (none, many, one) = found.values()
    assert many[:2] == one[:2] != none[:2]
    assert none[2] < 0.85 and many[2] > 0.9


def test_generations_of_several_sizes_fit_the_budget_with_any_workers(tmp_path: Path) -> None:
    """Of 16 pairs none or one plays the opponent, so that a generation that is asked for ahead may be larger."""
    for budget in (350, 352):
        found = []
        for workers in (1, 16):
            sampler = "duels(pairs=16,share=0.06,length=192,ahead=true)"
            definition = StudyDefinition(
                "sizes", "tictactoe", AGENTS["mc"][0], (AGENTS["mc"][1],), sampler, against=("random",)
            )
            with Store.open(f"sqlite:///{tmp_path}/{budget}-{workers}.db") as store:
                study = StudyRun(store, definition)
                study.run_budget(budget, SimulatedExecutor(workers))
                found.append((study.course.games, str(study.course.proposed())))
        assert found[0] == found[1] and budget - 36 < found[0][0] <= budget


def test_a_generation_goes_over_all_workers_however_idle_games_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_sizes, "IDLE_SECONDS", 0.0)  # their batches are of one unit
    (one, alone), (many, executor) = (run(tmp_path, "mc", 64, workers, "2048(size=2)") for workers in (1, 4))
    assert one.course.games == many.course.games == 128
    assert max(alone.sizes) > 16 == max(executor.sizes)  # matches in step
    assert many.idle_games > 0 and executor.now < alone.now / 3


def test_workers_beyond_a_generation_are_told_what_would_use_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    sentence = "A generation has 32 games, so at most 32 of the 33 workers play for it at once; a larger population"
    for workers in (32, 33):
        run(tmp_path, "mcts", 16, workers)
        assert (sentence in " ".join(capfd.readouterr().err.split())) is (workers == 33)


class TwoSteps(Source[str]):
    """The second step begins when the first is done; idle work has no end of its own."""

    def __init__(self) -> None:
        super().__init__(["first", "second"])
        self.idle = 0

    def idle_specs(self, count: int) -> list[str]:
        self.idle += 1
        return ["idle"]


def test_idle_work_in_threads_is_withdrawn_when_others_wait() -> None:
    begun = threading.Event()
    ended: list[str] = []

    def do(specs: Sequence[str], stop: Any) -> list[str]:
        if specs == ["idle"]:
            begun.set()
            while not stop[0]:
                assert not too_late.is_set(), "nobody has withdrawn it"
                time.sleep(0.001)
            return []
        if specs == ["second"]:
            assert begun.wait(60)  # until another worker idles
        ended.extend(specs)
        return list(specs)

    too_late = threading.Event()
    timer = threading.Timer(60, too_late.set)
    timer.start()
    source = TwoSteps()
    with ThreadExecutor(2) as executor:
        for records in executor.serve(Work(do, lambda specs: None), source):
            if records == ["second"]:
                source.waiting.append("third")
    timer.cancel()
    assert ended == ["first", "second", "third"] and source.idle >= 1
    assert executor.time.idle > 0 and executor.time.useful > 0


def test_a_lost_batch_of_idle_work_is_not_repeated() -> None:
    class Losing(SimulatedExecutor):
        def wait(self, tickets: list[int]) -> list[tuple[int, Done | Lost]]:
            finished = list(super().wait(tickets))
            return [(ticket, Lost() if ticket in idle else done) for ticket, done in finished]

    played: list[str] = []
    idle: set[int] = set()

    class Idle(Source[MatchSpec]):
        def idle_specs(self, count: int) -> list[MatchSpec]:
            if idle:
                return []
            idle.add(2)  # the third ticket
            return [MatchSpec("tictactoe", ("random", "random"), 9)]

    long = MatchSpec("2048(size=2)", ("random",), 1)
    with Losing(3) as executor:
        for records in executor.serve(MATCHES, Idle([long, replace(long, seed=2)])):
            played += [record.spec.game for record in records]
    assert idle and played == ["2048(size=2)"] * 2
