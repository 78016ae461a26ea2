"""Fronts of strength and time: what is on them, stops, and what cannot be searched."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.distributions import IntDistribution
from optuna.trial import TrialState, create_trial

from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.arena.play_compiled import BusyClock
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.dashboards.reports.pictures import save_front_picture
from turnier.dashboards.summaries.front import front_of, points_table
from turnier.dashboards.terminal import print_table
from turnier.results.store.store import Store
from turnier.search import EDITION, FIRST_EDITION
from turnier.search.front import measures
from turnier.search.front.measures import DecisionTime, Played
from turnier.search.front.pareto import ParetoDefinition, ParetoStudy
from turnier.search.front.points import Point, dominated
from turnier.search.front.pooled import PooledParents, in_layers, pooled
from turnier.search.objective import Unit
from turnier.search.storage.lasting_storage import LastingStorage
from turnier.search.storage.results import FrontResults
from turnier.search.storage.trials import trials_frame
from turnier.search.study import Study

ALONE = {"game": "2048(size=4)", "agent": "mc(iterations=1,rollout_depth=2)", "parameters": ("iterations=1..40",)}

TIMED = "strength,time"


def study_in(folder: Path, **changes: Any) -> ParetoStudy:
    definition = ParetoDefinition(**{"name": "front", **ALONE, "population": 4, "games": 2, **changes})
    return ParetoStudy(Store.open(f"sqlite:///{folder}/a.db"), definition)


class Stopping(SerialExecutor):
    """Is killed after some batches."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.left = batches

    def wait(self, tickets: list[Any]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().wait(tickets)


def test_a_stopped_search_goes_on_with_the_candidates_that_it_asked_for(tmp_path: Path) -> None:
    whole = study_in(tmp_path)
    whole.run(16, SerialExecutor())
    (tmp_path / "stopped").mkdir()
    stopped = study_in(tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        stopped.run(16, Stopping(0))
    asked = [t.params for t in stopped.optuna.get_trials(states=(TrialState.RUNNING,))]
    assert len(asked) == 4
    again = study_in(tmp_path / "stopped")
    again.run(16, SerialExecutor())
    first = [t.params for t in again.optuna.get_trials()][:4]
    assert first == asked == [t.params for t in whole.optuna.get_trials()][:4]
    assert first[0] == {"iterations": 1}  # the start
    assert [t.state for t in again.optuna.get_trials()] == [TrialState.COMPLETE] * 8
    played = again.store.match_counts()
    again.run(16, SerialExecutor())
    assert again.store.match_counts() == played == whole.store.match_counts()
    strengths = [[t.values[0] for t in one.optuna.get_trials()[:4]] for one in (whole, again)]
    assert strengths[0] == strengths[1]


class Weighed(DecisionTime):
    """Takes a weight of the agent for its time, so that searches can be compared."""

    def candidates(self, played: Sequence[Played], *_: Any) -> list[float]:
        return [AGENTS.make(one.agent).evaluator.merge for one in played]  # type: ignore[attr-defined]


def weighed(folder: Path) -> ParetoStudy:
    folder.mkdir(exist_ok=True)
    searched = tuple(f"evaluator.{name}" for name in ("use_merge", "merge", "corner"))
    agent = "greedy(evaluator=heuristics2048(use_merge=false))"
    study = study_in(folder, game="2048", agent=agent, parameters=searched, games=1)
    study.measure = Weighed()
    return study


def test_a_kill_while_candidates_are_asked_for_changes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weighed(tmp_path / "whole")
    whole.run(8, SerialExecutor())
    kills = [  # before which write of Optuna's storage, how many trials it has then, and what is written
        ("set_trial_state_values", 1, TrialState.RUNNING),  # of the start, which waits
        ("_set_trial_param", 2, "evaluator.merge"),
        ("set_trial_system_attr", 3, "NSGAIISampler:generation"),
        ("set_trial_user_attr", 4, "agent"),
        ("_set_trial_param", 5, "evaluator.use_merge"),  # of the first one that has parents
        ("remove_trial", 5, 5),
        ("_set_trial_param", 8, "evaluator.corner"),
    ]
    left = list(kills)

    def killed(write: Any) -> Any:
        def before(storage: LastingStorage, *args: Any, **more: Any) -> Any:
            name, trials, what = left[0] if left else ("", 0, None)
            written = (*args, *more.values())
            if write.__name__ == name and len(storage.get_all_trials(1)) == trials and what in written:
                left.pop(0)
                raise KeyboardInterrupt
            return write(storage, *args, **more)

        return before

    for name in {kill[0] for kill in kills}:
        monkeypatch.setattr(LastingStorage, name, killed(getattr(LastingStorage, name)))
    for _ in kills:
        with pytest.raises(KeyboardInterrupt):
            weighed(tmp_path / "killed").run(8, SerialExecutor())
    again = weighed(tmp_path / "killed")
    again.run(8, SerialExecutor())
    asked = [[(t.number, t.params, t.values, t.system_attrs) for t in s.optuna.get_trials()] for s in (whole, again)]
    assert asked[0] == asked[1] and len(asked[0]) == 8 and not left


def test_a_second_driver_is_refused(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    with study.store.lock(study.run_id), pytest.raises(UserError, match="must have one driver at a time"):
        study_in(tmp_path).run(8, SerialExecutor())
    assert not study.optuna.get_trials()


def test_more_thought_costs_more_and_fresh_games_say_what_it_is_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time by the number of nodes: a measured one depends on what else runs on the machine.
    monkeypatch.setattr(measures, "decision_seconds", lambda record, seat: record.nodes[seat] * 1e-6)
    study = study_in(tmp_path, games=3)
    study.run(48, SerialExecutor())
    front = study.front()
    costs = [trial.values[1] for trial in front]
    assert costs == sorted(costs) and [t.values[0] for t in front] == sorted(t.values[0] for t in front)
    points = study.play_final(study.finalists(), 20, SerialExecutor())
    assert [p.label for p in points][:2] == ["start", "front 1"] and all(p.units == 20 for p in points)
    cheap, dear = points[0], max(points, key=lambda p: p.other)
    assert dear.agent.full_text() != cheap.agent.full_text()
    assert dear.strength - dear.strength_half_width > cheap.strength + cheap.strength_half_width
    console = Console(record=True, width=120)
    print_table(console, points_table(points, study.objective.name, 1))
    assert "Means of 20 held-out games each" in " ".join(console.export_text().split())
    save_front_picture(tmp_path / "pictures" / "front.png", study.store, "front", points)
    assert (tmp_path / "pictures" / "front.png").stat().st_size > 10_000


def test_a_lucky_trial_does_not_decide_the_front(tmp_path: Path) -> None:
    """An agent counts with the mean of its trials, in the search as on the page."""
    study, distribution = study_in(tmp_path), {"iterations": IntDistribution(1, 40)}
    tried = [(1, 100.0, 1.0), (5, 900.0, 0.1), (5, 100.0, 3.0), (9, 400.0, 2.0), (9, 420.0, 1.8), (20, 390.0, 4.0)]
    for number, (iterations, *values) in enumerate(tried):
        trial = create_trial(params={"iterations": iterations}, distributions=distribution, values=values)
        study.add_trials([trial])
        assert len(study.optuna.get_trials()) == number + 1
    front = study.front()
    assert [(AGENTS.make(one.agent).iterations, one.values, len(one.trials)) for one in front] == [  # type: ignore[attr-defined]
        (1, (100.0, 1.0), 1), (5, (500.0, 1.55), 2),
    ]  # fmt: skip
    assert [agent.iterations for agent in study.finalists().values()] == [1, 1, 5]  # type: ignore[attr-defined]
    shown = front_of(trials_frame(study.store, "front"))
    assert shown[["iterations", "value", "other"]].to_numpy().tolist() == [[1, 100, 1], [5, 500, 1.55]]
    layers = in_layers(pooled(study.optuna.get_trials(), study._text), -1)
    assert [[AGENTS.make(one.agent).iterations for one in layer] for layer in layers] == [[1, 5], [9], [20]]  # type: ignore[attr-defined]
    chosen = PooledParents(4, study._text)(study.optuna, study.optuna.get_trials())
    assert [trial.number for trial in chosen[:3]] in ([0, 1, 3], [1, 0, 3]) and len(chosen) == 4


@pytest.mark.parametrize(("edition", "again"), [(EDITION, 2), (FIRST_EDITION, 0)])
def test_what_is_near_the_front_plays_again(tmp_path: Path, edition: int, again: int) -> None:
    """One candidate in four, from the second generation on; fronts of earlier versions go on as they began."""
    study = study_in(tmp_path, games=1, edition=edition, parameters=("iterations=1..9", "rollout_depth=0..20"))
    study.run(12, SerialExecutor())
    trials = study.optuna.get_trials()
    asked = [trials[number] for number in (4, 8) if "fixed_params" in trials[number].system_attrs]
    assert len(asked) == again
    for trial in asked:
        before = pooled(trials[: trial.number], study._text)
        near = sorted(in_layers(before, -1)[0], key=lambda one: len(one.trials))
        assert study._text(trial) == near[0].agent


def test_a_time_is_that_of_matches_and_must_be_plausible(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = "mc(iterations=2,rollout_depth=2)"
    spec = MatchSpec("2048(size=2)", (AGENTS.make(agent).full_text(),), 1)
    record = play_match(spec)
    played, measure = [Played(agent, [Unit((spec,), ((0,),))])], DecisionTime()

    def milliseconds(**changes: Any) -> float:
        return measure.candidates(played, {spec.id: replace(record, **changes)}, SerialExecutor(), None)[0]  # type: ignore[arg-type]

    wall, decisions = 1000 * record.seat_seconds[0], record.decisions[0]
    cpu = (record.seat_seconds[0] / 2,)
    assert milliseconds(seat_cpu_seconds=cpu) == pytest.approx(wall / 2 / decisions)
    for wrong in ((), (record.seat_seconds[0] / 143,)):  # not measured, or by an earlier version
        assert milliseconds(seat_cpu_seconds=wrong) == pytest.approx(wall / decisions)
    for unmeasured in ({"decisions": (0,)}, {"seat_seconds": (math.nan,), "seat_cpu_seconds": ()}):
        with pytest.raises(UserError, match=r"time of a decision must be measurable, but mc\(iterations=2"):
            milliseconds(**unmeasured)
    busy, thread = BusyClock(), [1_000_000]
    monkeypatch.setattr(busy, "_began", time.thread_time_ns() - thread[0])
    time.sleep(0.02)  # as if others had the interpreter
    assert busy.share(np.array([400_000, 600_000])) == 1.0
    assert 0.09 < busy.share(np.array([10_000_000])) < 0.5


def test_a_front_from_python_is_the_study_of_the_command_and_plays_nothing_again(tmp_path: Path) -> None:
    """Its name comes from its settings, as names in stores of earlier versions do."""
    parameters = ["iterations=10..100", "rollout_depth=0..20"]
    planned = Study("2048", "mctse(iterations=20,rollout_depth=10)", parameters, budget=40, objectives=TIMED)
    assert planned.label == "2048-mctse-front-30f681"
    assert planned.settled.parameters == tuple(parameters)
    front = Study(
        "2048", ALONE["agent"], ["iterations=1..40"], budget=16, verify=0.1, objectives=TIMED, population=4,
        noise="fixed(games=2)", name="front",
    )  # fmt: skip
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        results, again = (
            front.run(store, where=Where(executor, 1), progress=False) for executor in ("serial", "threads")
        )
        assert isinstance(results, FrontResults)
        finalists = {point.agent.full_text() for point in results.points}  # equal ones share their games
        assert len(results.frame()) == 8 * 2 + 24 * len(finalists)
        assert results.table().equals(again.table()) and len(results.trials()) == 8
        assert not results.table()["dominated"].all() and "svg" in results._repr_html_()


def test_a_front_shows_only_the_parameters_that_a_candidate_uses(tmp_path: Path) -> None:
    """NSGA-II has to store a value of every parameter; those that others switch off are blank in frames."""
    agent = "greedy(evaluator=heuristics2048(use_empty=false))"
    searched = ["evaluator.use_merge", "evaluator.merge"]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        front = Study("2048(size=4)", agent, searched, budget=16, objectives=TIMED, population=8, noise="fixed")
        trials = front.run(store, where=Where("serial"), progress=False).trials()
    used = trials["evaluator.use_merge"].astype(bool)
    assert 0 < used.sum() < len(trials) and (trials["evaluator.merge"].notna() == used).all()


def test_opponents_are_met_in_every_seat_and_only_the_own_seat_costs(tmp_path: Path) -> None:
    search = {"game": "tictactoe", "agent": "mc(iterations=1)", "parameters": ("iterations=1..3",)}
    study = study_in(tmp_path, **search, against=("random",), games=1)
    study.run(8, SerialExecutor())
    assert study.store.match_counts()["study:front"] == 8
    assert {trial.values[0] for trial in study.optuna.get_trials()} <= {0, 0.25, 0.5, 0.75, 1}


def test_a_point_is_beaten_by_one_that_is_better_at_one_and_not_worse_at_the_other(tmp_path: Path) -> None:
    agent = study_in(tmp_path).agent
    values = ((1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (3.0, 3.0), (3.0, 3.0))
    points = [Point("", agent, strength, 0.1, cost, 0.1, 5) for strength, cost in values]
    assert dominated(points) == [True, False, True, False, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"population": 3}, "a population of 4 or more"),
        ({"against": ("random",)}, "opponents are for games of two or more seats"),
        ({"parameters": ("iteration",)}, "did you mean iterations"),
    ],
)
def test_what_cannot_be_searched_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        study_in(tmp_path, **change)


def test_a_stored_front_keeps_its_definition_and_needs_a_generation(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    with pytest.raises(UserError, match="must last for a generation of 8 games, got 7"):
        study.run(7, SerialExecutor())
    with pytest.raises(UserError, match=r"population 4 \(now 6\)"):
        study_in(tmp_path, population=6)
