"""Fronts of strength and certainty: repeatable, stopped and resumed, measured anew at the end, refused if senseless."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from turnier.agents.registry import AGENTS
from turnier.arena.positions import Group
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.dashboards.figures.studies.search import all_of_front, held_out_front
from turnier.dashboards.kinds.study import head
from turnier.dashboards.summaries.front import front_of, points_table
from turnier.dashboards.terminal import print_table
from turnier.games.registry import GAMES
from turnier.results.frames.certainty import searches_of_runs
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.search import FIRST_EDITION
from turnier.search.front.agreement import HELD_OUT_FACTOR, REPEATS, require_certainty, spread
from turnier.search.front.pareto import ParetoDefinition, ParetoStudy
from turnier.search.front.points import dominated, stored_points
from turnier.search.front.second_objective import CERTAINTY, TIME, read_objectives
from turnier.search.storage.definitions import StudyFacts
from turnier.search.storage.results import FrontResults
from turnier.search.storage.trials import trials_frame
from turnier.search.study import Study

PLANNED: dict[str, Any] = {
    "game": "2048(size=3)",
    "agent": "mc(iterations=1,rollout_depth=2)",
    "parameters": ("iterations=1..200:log",),
    "population": 4,
    "games": 1,
    "second": "certainty",
    "positions": 12,
}


def study_in(folder: Path, **changes: Any) -> ParetoStudy:
    folder.mkdir(exist_ok=True)
    definition = ParetoDefinition(**{"name": "front", **PLANNED, **changes})
    return ParetoStudy(Store.open(f"sqlite:///{folder}/a.db"), definition, progress=False)


class StoppingSearches(SerialExecutor):
    """Is killed after some batches of searches or matches."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.left = batches

    def wait(self, tickets: list[Any]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().wait(tickets)


def values(study: ParetoStudy) -> list[list[float]]:
    return [trial.values for trial in study.optuna.get_trials()]


def test_any_number_of_workers_and_any_stop_give_the_same_front(tmp_path: Path) -> None:
    whole = study_in(tmp_path / "whole")
    whole.run(12, SerialExecutor())
    points = whole.play_final(whole.finalists(), 3, SerialExecutor())
    threads = study_in(tmp_path / "threads")
    with make_executor(Where("threads", 2)) as pool:
        threads.run(12, pool)
        assert threads.play_final(threads.finalists(), 3, pool) == points
    for batches in (2, 4, 7):
        with pytest.raises(KeyboardInterrupt):
            study_in(tmp_path / "stopped").run(12, StoppingSearches(batches))
    resumed = study_in(tmp_path / "stopped")
    resumed.run(12, SerialExecutor())
    with pytest.raises(KeyboardInterrupt):
        resumed.play_final(resumed.finalists(), 3, StoppingSearches(4))
    assert resumed.play_final(resumed.finalists(), 3, SerialExecutor()) == points
    assert values(whole) == values(threads) == values(resumed)
    searched = [len(searches_of_runs(one.store, [one.run_id])) for one in (whole, threads, resumed)]
    assert len(set(searched)) == 1 and len(set(map(str, [w.store.match_counts() for w in (whole, resumed)]))) == 1


def test_more_search_is_more_certain_and_the_end_is_measured_at_other_positions(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    study.run(12, SerialExecutor())
    seen = set(searches_of_runs(study.store, [study.run_id])["position"])
    assert 2 <= len(seen) <= PLANNED["positions"]
    front = study.front()
    certain = [trial.values[1] for trial in front]
    assert certain == sorted(certain, reverse=True)
    points = study.play_final(study.finalists(), 6, SerialExecutor())
    held_out = searches_of_runs(study.store, [study.run_id])
    held_out = held_out[~held_out["position"].isin(seen)]
    assert len(seen) < held_out["position"].nunique() == points[0].positions <= HELD_OUT_FACTOR * PLANNED["positions"]
    assert set(held_out.groupby(["agent", "position"]).size()) == {REPEATS}
    most = max(points, key=lambda point: point.agent.iterations)  # type: ignore[attr-defined]
    start = points[0]
    assert most.other - most.other_half_width > start.other + start.other_half_width > 0
    assert all(-30 < point.other <= 100 and point.other_half_width > 0 for point in points)
    assert stored_points(study.store, "front") == points
    assert study.optuna.metric_names == ["mean score", "agreement, %"]


def test_held_out_searches_repeat_none_of_the_search(tmp_path: Path) -> None:
    """All games of connect four begin with the same position, which a search has seen."""
    changes = {"game": "connect_four", "agent": "mc(iterations=3,rollout_depth=4)", "against": ("random",)}
    study = study_in(tmp_path, **changes, parameters=("iterations=1..9",))
    study.run(8, SerialExecutor())
    seen = searches_of_runs(study.store, [study.run_id])
    study.play_final(study.finalists(), 4, SerialExecutor())
    both = searches_of_runs(study.store, [study.run_id])
    held_out = both[~both["position"].isin(set(seen["position"]))]
    assert len(both) == len(seen) + len(held_out), "no position is searched for both"
    assert seen["legal"].max() == 7 and held_out["position"].nunique() > seen["position"].nunique()


def test_a_front_of_certainty_is_shown_with_its_name_and_its_direction(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        front = Study("2048(size=3)", PLANNED["agent"], "iterations=1..200:log", objectives="strength,certainty",
                      budget=8, verify=0.1, population=4, noise="fixed(games=1)", positions=12)  # fmt: skip
        results = front.run(store, where=Where("serial"), progress=False)
        assert isinstance(results, FrontResults)
        trials = trials_frame(store, results.name)
        table = results.table()
        assert list(table["agreement_percent"]) == sorted(table["agreement_percent"], reverse=True)
        assert table["dominated"].sum() == sum(dominated(results.points)) < len(table)
        searched = front_of(trials)
        assert searched["other"].is_monotonic_decreasing and searched["value"].is_monotonic_increasing
        first = head(RunResults.find(store, results.id))
        assert "beaten by none at both strength and certainty" in first.sentence and "% agreement" in first.sentence
        assert f"24 held-out games and {results.points[0].positions:,} held-out positions each" in first.meaning
        shown = points_table(results.points, "mean score", 1).numbers()
        assert list(shown["agreement, %"]) == sorted(shown["agreement, %"], reverse=True)
        assert json.loads(json.dumps([trials.attrs["second"], CERTAINTY])) == [json.loads(json.dumps(CERTAINTY))] * 2
        figures = [all_of_front(trials, "mean score"), held_out_front(results.points, "mean score")]
        assert all(figure and "certainty" in figure.title for figure in figures)
        assert b"step-before" in json.dumps(figures[0].chart.to_dict()).encode()
        console = Console(record=True, width=140)
        print_table(console, points_table(results.points, "mean score", 2))
        text = " ".join(console.export_text().split())
        assert "Means of 48 held-out games" in text and "agreement, %" in text


def test_studies_of_time_are_stored_as_before() -> None:
    of_time = ParetoDefinition("a", "2048", "mc", ("iterations",), edition=FIRST_EDITION).stored
    assert set(of_time) == {
        "name", "game", "agent", "parameters", "against", "population", "games", "seed", "sampler", "objectives",
    }  # fmt: skip
    assert of_time["objectives"] == ["strength", "milliseconds a decision"]
    certain = ParetoDefinition("a", "2048", "mc", ("iterations",), second="certainty", positions=9, edition=1).stored
    assert certain == of_time | {"objectives": ["strength", "certainty"], "positions": 9, "repeats": REPEATS}
    facts = [StudyFacts.of(stored).rows()["objectives"] for stored in (of_time, certain)]
    assert facts == ["strength, time", f"strength, certainty: 9 positions, {REPEATS} searches of each"]
    start, kinds = PLANNED["agent"], [("time", 60), ("time", 9), ("certainty", 9), ("certainty", 8)]
    names = [
        Study("2048", start, "iterations", budget=40, objectives=f"strength,{kind}", positions=n).label
        for kind, n in kinds
    ]
    assert names[0] == names[1] and len(set(names)) == 3


def test_positions_are_spread_over_groups_two_of_each_at_least() -> None:
    groups: Any = {Group(2, phase): [(phase, n) for n in range(20)] for phase in range(40)}
    chosen: Any = spread(groups, 30)
    by_phase = Counter(phase for phase, _ in chosen)
    assert set(by_phase.values()) == {2} and len(by_phase) == 15 and {0, 39} <= set(by_phase)
    many: Any = spread(groups, 120)
    assert Counter(phase for phase, _ in many) == dict.fromkeys(range(40), 3)
    assert spread({}, 10) == []


@pytest.mark.parametrize(
    ("game", "agent", "message"),
    [
        ("2048", "greedy", "an agent that draws random numbers, got greedy"),
        ("2048", "expectimax(depth=1,evaluator=rows2048)", "its certainty is always 100 %"),
        ("spe_ed(width=8,height=8,players=2)", "random", "without simultaneous moves and hidden information"),
    ],
)
def test_what_has_no_certainty_is_refused(game: str, agent: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        require_certainty(GAMES.make(game), AGENTS.make(agent), 1)


def test_objectives_are_read() -> None:
    assert [read_objectives(text) for text in ("strength", "strength,time", "strength, certainty")] == [
        None, TIME, CERTAINTY,
    ]  # fmt: skip
    for wrong in ("time", "strength,", "strength,luck", "certainty,strength", ""):
        with pytest.raises(UserError, match="--objectives must be strength, strength,time or strength,certainty"):
            read_objectives(wrong)
