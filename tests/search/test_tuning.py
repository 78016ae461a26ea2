"""Studies with any sampler, opponents and any number of workers: the search depends on its candidates' games only."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.postgres import stopped
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.simulated_workers import SimulatedExecutor
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search import EDITION, FIRST_EDITION, MIN_SHOWN
from turnier.search.definition import StudyDefinition
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.storage.checked_studies import SUMMARIES, facts_of, study_notes
from turnier.search.study import Study
from turnier.search.study_run import StudyRun

ALONE = StudyDefinition(
    "alone",
    "2048(size=2)",
    "mc(iterations=4,rollout_depth=5)",
    ("rollout_depth=0..20", "iterations=1..8"),
    "cmaes(population=8)",
)
AGAINST = StudyDefinition(
    "against", "tictactoe", "mcts(iterations=20)", ("exploration",), "spsa(pairs=2)", "racing(games=4)",
    ("random", "mcts(iterations=10)"),
)  # fmt: skip


def tuned(folder: Path, definition: StudyDefinition, games: int, workers: int = 1, name: str = "a") -> StudyRun:
    study = StudyRun(Store.open(f"sqlite:///{folder}/{name}.db"), definition)
    study.run_budget(games, SimulatedExecutor(workers) if workers > 1 else SerialExecutor())
    return study


def state(study: StudyRun) -> dict[str, Any]:
    found = [(facts_of(t)["vector"], t.value, facts_of(t)["games"]) for t in study.optuna.get_trials()]
    return {"trials": found, "recommended": study.course.search.recommended(), "facts": study.course.search.facts()}


def matches(study: StudyRun) -> int:
    return study.store.match_counts()[study.run_id]


@pytest.mark.parametrize("definition", [ALONE, AGAINST], ids=lambda d: d.name)
def test_any_number_of_workers_gives_the_same_search_and_discards_no_game(
    tmp_path: Path, definition: StudyDefinition
) -> None:
    whole = tuned(tmp_path, definition, 72)
    assert whole.idle_games == 0 and matches(whole) == whole.course.games > 40
    for workers in (6, 20):
        executor = SimulatedExecutor(workers)
        study = StudyRun(Store.open(f"sqlite:///{tmp_path}/{workers}.db"), definition)
        study.run_budget(72, executor)
        assert state(study) == state(whole)
        assert executor.games == matches(study) == study.course.games + study.idle_games
        assert study.idle_games > 0


def test_progress_shows_no_interval_of_a_few_games(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """That of two games is ten times as wide as their mean."""
    study = tuned(tmp_path, ALONE, 24, 20)
    lines = [line for line in capfd.readouterr().err.splitlines() if "candidates' mean" in line]
    counts = [
        note.get("recommended before", {}).get("games", 0)
        for _, note in sorted(study_notes(study.store, "alone", f"{SUMMARIES}%").items(), key=lambda one: one[0])
    ]
    assert len(lines) == len(counts) == 3 and any(0 < count < MIN_SHOWN for count in counts)
    for line, count in zip(lines, counts, strict=True):
        assert ("±" in line) is (count >= MIN_SHOWN)
        assert (f"proposed: {count} games so far" in line) is (1 < count < MIN_SHOWN)


def test_a_stopped_study_goes_on_without_playing_spare_games_again(tmp_path: Path) -> None:
    whole = tuned(tmp_path, ALONE, 72)
    study = tuned(tmp_path, ALONE, 32, 6, "b")
    before = matches(study)
    again = tuned(tmp_path, ALONE, 72, 8, "b")
    assert state(again) == state(whole)
    assert matches(again) == again.course.games + study.idle_games + again.idle_games > before


def test_a_helper_that_was_asked_for_less_stops_where_it_was_asked_to(tmp_path: Path) -> None:
    """Another driver has gone further by the time that this one gets its turn."""
    short, long = (tuned(tmp_path, ALONE, games, name=name) for games, name in ((32, "short"), (72, "a")))
    helper = StudyRun(long.store, ALONE)
    with long.store.lock(long.run_id) as lock:
        released = threading.Timer(2.0, lock.unlock)
        released.start()
        helper.run_budget(32, SerialExecutor())
        released.join()
    assert helper.course.games == short.course.games < long.course.games
    assert helper.course.search.recommended() == short.course.search.recommended()


class ServerStops(SerialExecutor):
    """Plays some batches, and then the server stops, as its administrator stops it."""

    def __init__(self, url: str, batches: int) -> None:
        super().__init__()
        self.url, self.left, self.stack = url, batches, ExitStack()

    def wait(self, tickets: list[Any]) -> Any:
        self.left -= 1
        if self.left == 0:
            self.stack.enter_context(stopped(self.url))
        return super().wait(tickets)


@pytest.mark.parametrize("batches", [1, 9])
def test_a_server_that_stops_is_one_sentence_and_the_same_study_goes_on(
    tmp_path: Path, postgres_url: str, batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNIER_DATABASE_WAIT", "1")
    whole = tuned(tmp_path, ALONE, 72)
    executor = ServerStops(postgres_url, batches)
    with (
        executor.stack,
        pytest.raises(UserError, match=r"must (be running and reachable again within 1 s|answer), got: "),
    ):
        StudyRun(Store.open(postgres_url), ALONE).run_budget(72, executor)
    again = StudyRun(Store.open(postgres_url), ALONE)
    with again.store.database.writing() as connection:
        connection.execute(text("delete from locks"))  # its driver's process would have ended, and be known as dead
    again.run_budget(72, SerialExecutor())
    assert state(again) == state(whole)
    assert matches(again) == again.course.games


def test_the_state_is_a_function_of_the_candidates_games(tmp_path: Path) -> None:
    """Games that are deleted, spare ones and others, are not needed where trials stand, or played again."""
    study = tuned(tmp_path, AGAINST, 72, 8)
    expected = state(study)
    with study.store.database.writing() as connection:
        for table, column in (("run_matches", "match_number"), ("seats", "match_number"), ("matches", "number")):
            connection.execute(text(f"delete from {table} where {column} % 3 = 0"))
    assert state(tuned(tmp_path, AGAINST, 72)) == expected
    again = tuned(tmp_path, AGAINST, 72, name="other")
    assert state(again) == expected


@pytest.mark.parametrize("sampler", SAMPLERS.names())
def test_every_sampler_tunes_and_resumes(tmp_path: Path, sampler: str) -> None:
    definition = replace(ALONE, name=sampler, sampler=str(SAMPLERS.make(sampler).within(60)))
    if sampler == "duels":
        definition = replace(AGAINST, noise="fixed", sampler="duels(pairs=4)", against=("random",))
    tuned(tmp_path, definition, 24)
    study = tuned(tmp_path, definition, 48)
    assert 36 <= study.course.games <= 48
    assert state(study) == state(tuned(tmp_path, definition, 48, 4, "whole"))
    first, *_ = study.course.best(3)
    assert first[1] == max(value for _, value in study.course.best(100))


def test_opponents_meet_the_candidate_in_every_seat_on_the_same_seeds(tmp_path: Path) -> None:
    study = tuned(tmp_path, AGAINST, 72)
    unit = study.course.objective.search_unit("mcts(iterations=9)", 2, 0, 1)
    other = study.course.objective.search_unit("mcts(iterations=8)", 2, 5, 1)
    assert len(unit) == study.course.objective.unit_games == 4
    assert [spec.agents.index("mcts(iterations=9)") for spec in unit] == [0, 1, 0, 1]
    assert [spec.seed for spec in unit] == [spec.seed for spec in other]
    assert unit.specs[0].seed == unit.specs[1].seed != unit.specs[2].seed
    shares = [trial.value for trial in study.optuna.get_trials()]
    assert all(value is not None and 0 <= value <= 1 for value in shares) and len(set(shares)) > 2


@pytest.mark.parametrize(("edition", "narrower"), [(EDITION, False), (FIRST_EDITION, True)])
def test_candidates_that_are_one_agent_teach_nothing(tmp_path: Path, edition: int, narrower: bool) -> None:
    """Their values differ by luck only; studies of the first edition go on as they began."""
    one = replace(ALONE, parameters=("iterations=1..8",), agent="mc(iterations=1,rollout_depth=5)", edition=edition)
    study = StudyRun(Store.open(f"sqlite:///{tmp_path}/a.db"), replace(one, sampler="cmaes(population=4,sigma=0.001)"))
    study.run(3, SerialExecutor())
    found = state(study)
    assert len({value for _, value, _ in found["trials"]}) > 4
    assert (study.course.search.sigma == 0.001) is not narrower and (study.course.alike == 3)
    again = StudyRun(study.store, study.definition)
    again.run(3, SerialExecutor())
    assert state(again) == found


def test_equal_candidates_count_with_their_common_mean(tmp_path: Path) -> None:
    study = tuned(tmp_path, replace(ALONE, parameters=("iterations=1..3",), agent="mc(iterations=2)"), 8)
    generation = StudyRun(study.store, study.definition)
    (first,) = [generation.course.ask(generation.known())]
    by_agent: dict[str, list[float]] = {}
    for candidate, value in zip(first.candidates, first.values(), strict=True):
        by_agent.setdefault(candidate.agent.full_text(), []).append(value)
    means = [sum(own) / len(own) for own in (by_agent[c.agent.full_text()] for c in first.candidates)]
    assert first.pooled() == pytest.approx(means) and len(by_agent) < 8


def test_the_definition_of_a_plain_study_is_stored_as_it_always_was() -> None:
    """Else the studies that are stored could not go on."""
    newest = StudyDefinition("s", "2048(size=4)", "random", ("a",), "cmaes(population=6)", "fixed(games=3)", seed=4)
    definition = replace(newest, edition=FIRST_EDITION)
    assert newest.stored == definition.stored | {"edition": EDITION}
    assert definition.stored == {
        "name": "s",
        "game": "2048(size=4)",
        "agent": "random",
        "parameters": ("a",),
        "population": 6,
        "games": 3,
        "sigma": 0.3,
        "seed": 4,
        "sampler": "cmaes",
    }
    changes = {"sampler": "tpe"}, {"noise": "racing"}, {"against": ("random",)}, {"sampler": "cmaes(restart=0.1)"}
    for change in changes:
        other = replace(definition, **change).stored  # type: ignore[arg-type]
        assert other != definition.stored and "noise" in other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"against": ("random",)}, "opponents are for games of two or more seats"),
        ({"sampler": "duels"}, "duels are for games of two or more seats"),
        ({"parameters": ("rollout_dept",)}, "rollout_depth"),
    ],
)
def test_what_cannot_be_tuned_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        StudyRun(Store.open(f"sqlite:///{tmp_path}/a.db"), replace(ALONE, **change))
    with pytest.raises(UserError, match="generation of 8 games, got 5"):
        tuned(tmp_path, ALONE, 5)


def test_a_study_from_before_a_parameter_of_its_sampler_is_resumed(tmp_path: Path) -> None:
    study = Study("2048(size=2)", "mc(iterations=4)", "iterations=1..8", sampler="tpe")
    with Store.open(f"sqlite:///{tmp_path}/s.db") as store:
        now = study.question.settled(100, store)
        earlier = StudyDefinition.named_by_content(
            now.game, now.agent, now.parameters, sampler="tpe", noise=now.noise, seed=now.seed
        )
        assert now.sampler == "tpe(known=250)" and earlier.stored != now.stored
        store.begin_run(f"study:{earlier.name}", "study", earlier.name, earlier.stored)
        assert study.question.settled(100, store).stored == earlier.stored
