"""Studies of learning parameters: the same with any number of workers and after any stop, judged on fresh games."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest

from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.frames.matches import matches_frame
from turnier.results.store.store import Store
from turnier.search import learning_study
from turnier.search.learning_study import LearningParameter, LearningStudy, LearningStudyDefinition
from turnier.search.storage.checked_studies import facts_of

SCRIPT = Path(__file__).resolve().parents[2] / "studies" / "ntuple_learning.py"
SEARCHED = (LearningParameter("alpha", 0.01, 1.0, log=True), LearningParameter("coherence", values=(True, False)))
TINY = LearningStudyDefinition(
    name="tiny",
    game="tictactoe",
    evaluator="ntuple(network=walk,tuples=4,length=3)",
    learning="td(alpha=0.1,epsilon=0.2)",
    searched=SEARCHED,
    candidates=6,
    rungs=(10, 30, 90),
    games=6,
    against="random",
    seed=3,
)
ROUNDS = 3


def open_study(folder: Path, definition: LearningStudyDefinition = TINY) -> LearningStudy:
    # Networks lie where the working directory is: their names are part of the agents that play.
    return LearningStudy(Store.open(f"sqlite:///{folder / 'study.db'}"), definition, Path("trained"))


def run(folder: Path, workers: int = 2, rounds: int = ROUNDS) -> LearningStudy:
    folder.mkdir(exist_ok=True)
    study = open_study(folder)
    with make_executor(Where("threads", workers)) as pool:
        study.run(rounds, pool, workers)
    return study


def trials(study: LearningStudy) -> list[dict[str, Any]]:
    """All trials without what depends on the clock."""
    return [
        {
            "number": t.number,
            "state": t.state.name,
            "value": t.value,
            "params": t.params,
            "rungs": t.intermediate_values,
            "facts": facts_of(t),
        }
        for t in study.optuna.get_trials()
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return trials(run(folder))


def test_candidates_race_from_rung_to_rung(whole: list[dict[str, Any]]) -> None:
    """A third goes on from each rung, the better ones; the start is trained to the end in any case."""
    assert len(whole) == ROUNDS * TINY.candidates
    assert whole[0]["params"] == {"alpha": 0.1, "coherence": True} and whole[0]["state"] == "COMPLETE"
    for number in range(ROUNDS):
        mine = [trial for trial in whole if trial["facts"]["round"] == number]
        assert [trial["facts"]["index"] for trial in mine] == list(range(TINY.candidates))
        assert all(trial["facts"]["trained"] == max(trial["rungs"]) for trial in mine)
        raced = [trial for trial in mine if not (number == 0 and trial["facts"]["index"] == 0)]
        left = sorted((t["rungs"][10] for t in mine), reverse=True)[:2]
        further = [trial for trial in raced if 30 in trial["rungs"]]
        assert all(trial["rungs"][10] >= min(left) for trial in further)
        finished = [trial for trial in mine if 90 in trial["rungs"]]
        assert len(finished) in ((1, 2) if number == 0 else (1,))
        assert all((trial["state"] == "COMPLETE") == (90 in trial["rungs"]) for trial in mine)
    assert len({trial["params"]["alpha"] for trial in whole}) == len(whole)


def test_workers_and_stops_change_nothing(
    whole: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker, stopped after a round and in the middle of a candidate's training, ends with the same trials."""
    monkeypatch.chdir(tmp_path)
    run(tmp_path, workers=1, rounds=1)
    trained, before = 0, learning_study.LearningStudy._evaluate

    def stops(*arguments: Any) -> Any:
        nonlocal trained
        trained += 1
        if trained == 4:
            raise KeyboardInterrupt
        return before(*arguments)

    monkeypatch.setattr(learning_study.LearningStudy, "_evaluate", stops)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, workers=1)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    checkpoint = next(Path("trained").glob("tiny-1-5-10.npz"))
    checkpoint.unlink()  # as if the kill had come before it was written
    assert trials(run(tmp_path, workers=1)) == whole


def test_best_and_start_play_fresh_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only their networks are kept, and no seed of the comparison was one of the search."""
    monkeypatch.chdir(tmp_path)
    study = run(tmp_path)
    kept = {f"tiny-{c.round}-{c.index}-90.npz" for c in (study.best(), study.start_candidate())}
    assert {path.name for path in Path("trained").iterdir()} == kept
    assert study.best().value == max(t["value"] for t in trials(study) if t["state"] == "COMPLETE")
    searched = all_seeds(study)
    with make_executor(Where("threads", 2)) as pool:
        fresh = study.play_held_out([study.start_candidate(), study.best()], 20, pool)
    seeds = all_seeds(study) - searched
    assert len(seeds) == 10 and all(low <= value <= high and games == 20 for value, low, high, games in fresh)


def all_seeds(study: LearningStudy) -> set[int]:
    return set(matches_frame(study.store, run=study.run_id)["seed"])


def test_a_stored_study_keeps_its_definition(tmp_path: Path) -> None:
    open_study(tmp_path)
    with pytest.raises(UserError, match=r"stored with rungs \[10, 30, 90\] \(now \[10, 30\]\)"):
        open_study(tmp_path, replace(TINY, rungs=(10, 30)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": 1}, "at least 2 candidates, got 1"),
        ({"rungs": (30, 10)}, "ascending numbers of games"),
        ({"rungs": ()}, "ascending numbers of games"),
        ({"searched": (LearningParameter("alfa", 0, 1),)}, "alpha"),
        ({"evaluator": "score"}, "needs an n-tuple network, got score"),
    ],
)
def test_what_cannot_be_searched_is_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        open_study(tmp_path, replace(TINY, **changes))


def test_proposals_learn_from_earlier_rounds(tmp_path: Path) -> None:
    """Told that small alphas are better, TPE proposes smaller ones than at random."""
    study = open_study(tmp_path, replace(TINY, candidates=20))
    first = study._ask(0)
    for candidate in first:
        value = -candidate.values["alpha"]
        candidate.estimates = {rung: (value, value, value, 6) for rung in TINY.rungs}
        study.optuna.add_trial(study._trial(candidate))
    alphas = [[c.values["alpha"] for c in candidates] for candidates in (first, study._ask(1))]
    assert sum(alphas[1]) / 20 < 0.6 * sum(alphas[0]) / 20
    assert [c.values for c in study._ask(1)] == [c.values for c in study._ask(1)]
    assert optuna.logging.get_verbosity() == optuna.logging.WARNING


def test_the_script_shows_what_fresh_games_say(tmp_path: Path) -> None:
    """Run again, it trains nothing and prints the same table."""
    command = [sys.executable, str(SCRIPT), "--preset", "tiny", "--workers", "2"]
    shown = [
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True).stdout
        for _ in range(2)
    ]
    tables = [text[text.index("games won, %, after 60 games") :] for text in shown]
    assert tables[0] == tables[1] and "shrinkage" in tables[0] and "best: td(" in tables[0]
