"""Studies: resume after any kill gives the uninterrupted study; definitions are kept; reports are fresh games."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
import pytest
from pandas.testing import assert_frame_equal
from sqlalchemy import delete, insert, select, text, update

from turnier.arena.match import MatchRecord
from turnier.arena.workers.executor import Executor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.results.store.progress import progress_of_runs
from turnier.results.store.schema import locks
from turnier.results.store.store import Store
from turnier.search.definition import StudyDefinition
from turnier.search.final_comparison import compare_finalists
from turnier.search.idle_games import StudyGames
from turnier.search.storage.checked_studies import ASKED, FACTS, NOTES, OURS, SYSTEM_NOTES, facts_of
from turnier.search.storage.studies import run_id_of
from turnier.search.storage.study_repair import inspect_studies, repair_studies
from turnier.search.storage.trials import trials_frame
from turnier.search.study import Study
from turnier.search.study_run import StudyRun
from turnier.search.verdict import Finalist
from turnier.studies.campaigns.study_file import export_study, import_study

REPO = Path(__file__).resolve().parents[2]
SCRIPT = REPO / "studies" / "cmaes_heuristics.py"
AGENT = "mctse(iterations=10,rollout_depth=2,maxnodes=10,evaluator=heuristics2048())"
TINY = StudyDefinition("tiny", "2048(size=4)", AGENT, ("evaluator.*",), "cmaes(population=6)", "fixed(games=3)", seed=4)
UNTIMED = ("generation", "index", "vector", "standard_error", "games")


def trials(url: str, name: str) -> list[dict[str, Any]]:
    """The study's trials without what depends on the clock."""
    storage = optuna.storages.RDBStorage(url)
    found = optuna.load_study(study_name=name, storage=storage).get_trials()
    storage.engine.dispose()
    return [
        {"number": t.number, "value": t.value, "params": t.params, "state": t.state.name}
        | {key: facts_of(t)[key] for key in UNTIMED}
        for t in found
    ]


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"


def run_study(url: str, definition: StudyDefinition = TINY, generations: int = 3) -> StudyRun:
    with make_executor(Where("threads", 2)) as pool:
        study = StudyRun(Store.open(url), definition)
        study.run(generations, pool)
    return study


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = url_of(tmp_path_factory.mktemp("study") / "whole.db")
    run_study(url)
    return url


def test_a_trial_is_a_candidate_with_its_figures(uninterrupted: str) -> None:
    table = trials(uninterrupted, "tiny")
    assert [(t["generation"], t["index"]) for t in table] == [(g, i) for g in range(3) for i in range(6)]
    store = Store.open(uninterrupted)
    study = StudyRun(store, TINY)
    for trial in table:
        agent = study.course.space.apply(study.course.agent, trial["params"])
        units = [
            study.course.objective.search_unit(agent.full_text(), trial["generation"], trial["index"], n)
            for n in range(3)
        ]
        scores = [record.scores[0] for record in store.records([spec.id for (spec,) in units])]
        assert len(scores) == trial["games"] == 3
        assert trial["value"] == pytest.approx(sum(scores) / 3)


def test_a_study_with_an_attribute_for_each_fact_is_read_and_resumed(uninterrupted: str, tmp_path: Path) -> None:
    url = url_of(tmp_path / "earlier.db")
    run_study(url, generations=2)
    with Store.open(url) as store:
        now = trials_frame(store, "tiny")
        with store.database.writing() as connection:
            kept = connection.execute(select(NOTES)).all()
            apart = [
                {"trial_id": row.trial_id, "key": key, "value_json": json.dumps(value)}
                for row in kept
                for key, value in json.loads(row.value_json).items()
            ]
            connection.execute(delete(NOTES))
            connection.execute(insert(NOTES), apart)
        assert {row.key for row in kept} == {FACTS}
        assert_frame_equal(trials_frame(store, "tiny"), now)
        asked = [facts_of(trial)["vector"] for trial in StudyRun(store, TINY).optuna.get_trials()]
        exported = export_study(store, store.run("study:tiny"), tmp_path)
    run_study(url)
    with Store.open(url_of(tmp_path / "moved.db")) as moved:
        import_study(moved, exported)
        found = StudyRun(moved, TINY).optuna.get_trials()
        assert [facts_of(trial)["vector"] for trial in found] == asked
    assert trials(url, "tiny") == trials(uninterrupted, "tiny")


@pytest.mark.parametrize("name", ["games", "standard_error", "checksum"])
def test_a_changed_fact_is_noticed(tmp_path: Path, name: str) -> None:
    url = url_of(tmp_path / "damaged.db")
    run_study(url, generations=1)
    with Store.open(url) as store:
        with store.database.writing() as connection:
            row = connection.execute(select(NOTES)).first()
            assert row
            changed = json.loads(row.value_json) | {name: 7}
            connection.execute(
                update(NOTES).where(NOTES.c.trial_id == row.trial_id).values(value_json=json.dumps(changed))
            )
        with pytest.raises(UserError, match="differs from its checksum"):
            trials_frame(store, "tiny")


def test_a_change_of_what_was_asked_for_is_noticed(tmp_path: Path) -> None:
    url = url_of(tmp_path / "damaged.db")
    run_study(url, generations=1)
    with Store.open(url) as store:
        assert inspect_studies(store) == []
        with store.database.writing() as connection:
            asked = SYSTEM_NOTES.c.key == OURS + ASKED
            text = connection.scalar(select(SYSTEM_NOTES.c.value_json).where(asked))
            changed = json.dumps(json.loads(text or "") | {"generation": 7})
            connection.execute(update(SYSTEM_NOTES).where(asked).values(value_json=changed))
        assert len(inspect_studies(store)) == 1
        with pytest.raises(UserError, match="differs from its checksum"):
            run_study(url)
        with pytest.raises(UserError, match="differs from its checksum"):
            export_study(store, store.run("study:tiny"), tmp_path)
        assert len(repair_studies(store)) == 1
    run_study(url, generations=1)


def test_optuna_knows_when_a_candidate_played_and_what_its_value_is(uninterrupted: str) -> None:
    storage = optuna.storages.RDBStorage(uninterrupted)
    study = optuna.load_study(study_name="tiny", storage=storage)
    storage.engine.dispose()
    assert study.metric_names == ["mean score"]
    with Store.open(uninterrupted) as store:
        begun = store.run("study:tiny").created.astimezone().replace(tzinfo=None)
    for trial in study.trials:
        assert trial.datetime_start is not None and trial.duration is not None
        assert trial.duration.total_seconds() >= facts_of(trial)["seconds"] / facts_of(trial)["games"] > 0
        assert begun < trial.datetime_start and trial.datetime_complete < datetime.now()
    later = [trial.datetime_start for trial in study.trials if facts_of(trial)["generation"] == 2]
    earlier = [trial.datetime_complete for trial in study.trials if facts_of(trial)["generation"] == 1]
    assert max(earlier) < max(later)


def test_running_again_plays_nothing_and_more_generations_go_on(uninterrupted: str, tmp_path: Path) -> None:
    url = url_of(tmp_path / "parts.db")
    run_study(url, generations=1)
    run_study(url, generations=2)
    run_study(url, generations=3)
    run_study(url, generations=3)
    assert trials(url, "tiny") == trials(uninterrupted, "tiny")


def test_the_search_state_is_rebuilt_from_the_store(uninterrupted: str) -> None:
    first, second = run_study(uninterrupted), run_study(uninterrupted)
    assert first.course.search.recommended() == second.course.search.recommended()
    assert str(first.course.proposed()) == str(second.course.proposed())


def test_another_definition_is_refused_with_the_difference(uninterrupted: str) -> None:
    other = StudyDefinition(
        "tiny", "2048(size=4)", AGENT, ("evaluator.*",), "cmaes(population=6)", "fixed(games=5)", seed=4
    )
    with pytest.raises(UserError, match=r"stored with games 3 \(now 5\)"):
        StudyRun(Store.open(uninterrupted), other)


def test_held_out_seeds_are_not_those_of_the_search(uninterrupted: str) -> None:
    study = run_study(uninterrupted)
    text, units = study.course.agent.full_text(), study.course.objective
    searched = {units.search_unit(text, g, i, n).specs[0].seed for g in range(50) for i in range(6) for n in range(3)}
    held_out = {units.held_out_unit(text, n).specs[0].seed for n in range(500)}
    spare = {units.idle_unit(text, g, n).specs[0].seed for g in range(50) for n in range(20)}
    assert len(searched | held_out | spare) == 900 + 500 + 1000
    with make_executor(Where("serial")) as pool:
        chosen = {"a": Finalist(study.course.agent, None, reference=True), "b": Finalist(study.course.proposed(), 1.0)}
        scores = compare_finalists(study, units, chosen, 8, study.course.games, pool).values
    assert {label: len(values) for label, values in scores.items()} == {"a": 4, "b": 4}


@pytest.mark.parametrize("change", [{"sampler": "cmaes(population=1)"}, {"noise": "fixed(games=0)"}, {"seed": -1}])
def test_senseless_definitions_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="must"):
        replace(TINY, **change)


# Enough games that a study lasts some seconds and a kill hits its middle.
PER_GENERATION, GENERATIONS = 8 * 30, 3
COMMAND = (
    "--preset", "tiny", "--name", "killed", "--population", "8", "--games", "30", "--generations", str(GENERATIONS),
    "--verify", "0.01",
)  # fmt: skip


def start_script(url: str, folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *COMMAND, "--store", url, "--picture", str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output


def stored_matches(path: Path) -> dict[str, str]:
    """Match ids and when each was stored."""
    if not path.exists():
        return {}
    try:
        with Store.open(url_of(path), read_only=True) as store, store.database.reading() as connection:
            return {row.id: str(row.created) for row in connection.execute(text("select id, created from matches"))}
    except UserError:  # the other process is just making it
        return {}


def wait_for_matches(path: Path, count: int, process: subprocess.Popen[str]) -> dict[str, str]:
    for _ in range(6000):
        found = stored_matches(path)
        if len(found) >= count:
            return found
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    raise AssertionError("no matches after two minutes")


@pytest.fixture(scope="module")
def whole_script(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("whole")
    finish(start_script(url_of(folder / "t.db"), folder, "--executor", "threads"))
    return trials(url_of(folder / "t.db"), "killed")


def test_a_killed_driver_goes_on_where_it_was(tmp_path: Path, whole_script: list[dict[str, Any]]) -> None:
    """kill -9 in the middle of the second generation; no finished game is lost or played twice."""
    url = url_of(tmp_path / "t.db")
    process = start_script(url, tmp_path, "--executor", "threads")
    wait_for_matches(tmp_path / "t.db", PER_GENERATION + 10, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = stored_matches(tmp_path / "t.db")
    assert PER_GENERATION < len(before) < PER_GENERATION * GENERATIONS, "the kill must hit the middle"
    output = finish(start_script(url, tmp_path, "--executor", "threads"))
    assert "proposed" in output
    after = stored_matches(tmp_path / "t.db")
    assert before.items() <= after.items()
    assert trials(url, "killed") == whole_script


def test_a_second_driver_helps_and_takes_the_place_of_a_killed_one(
    tmp_path: Path, whole_script: list[dict[str, Any]]
) -> None:
    url = url_of(tmp_path / "t.db")
    first = start_script(url, tmp_path, "--executor", "serial")
    wait_for_matches(tmp_path / "t.db", 10, first)
    os.killpg(first.pid, signal.SIGSTOP)  # on a busy machine it could end before the second one has started
    (tmp_path / "second").mkdir()
    second = start_script(url, tmp_path / "second", "--executor", "serial")
    assert second.stdout is not None
    lines = iter(second.stdout.readline, "")
    assert any(f":{first.pid} " in line and "drives this study" in line for line in lines)
    os.killpg(first.pid, signal.SIGCONT)
    wait_for_matches(tmp_path / "t.db", PER_GENERATION + 10, first)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = stored_matches(tmp_path / "t.db")
    assert PER_GENERATION < len(before) < PER_GENERATION * GENERATIONS, "the kill must hit the middle"
    finish(second)
    assert before.items() <= stored_matches(tmp_path / "t.db").items()
    assert trials(url, "killed") == whole_script


def test_a_driver_that_has_lost_the_study_adds_no_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was suspended while its games were played, and then another one took over."""

    def take_over(games: StudyGames) -> list[MatchRecord]:
        with games.store.database.writing() as connection:
            connection.execute(update(locks).values(holder="elsewhere:1"))
        return []

    monkeypatch.setattr(StudyGames, "stored_by_others", take_over)
    url = url_of(tmp_path / "lost.db")
    with pytest.raises(UserError, match="must stay locked by its driver, but elsewhere:1 has the lock"):
        run_study(url)
    assert trials(url, "tiny") == []


def test_drivers_share_the_games(tmp_path: Path, whole_script: list[dict[str, Any]]) -> None:
    url = url_of(tmp_path / "t.db")
    drivers = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        drivers.append(start_script(url, tmp_path / name, "--executor", "serial"))
    outputs = [finish(driver) for driver in drivers]
    assert sum("drives this study" in output for output in outputs) == 1
    assert trials(url, "killed") == whole_script


@pytest.mark.long
def test_a_killed_ray_worker_is_replaced(tmp_path: Path, whole_script: list[dict[str, Any]]) -> None:
    url = url_of(tmp_path / "t.db")
    process = start_script(url, tmp_path, "--executor", "ray", "--workers", "2")
    wait_for_matches(tmp_path / "t.db", 10, process)
    workers = [pid for pid in children_of(process.pid) if b"ray::RayWorker" in command_of(pid)]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    finish(process)
    assert trials(url, "killed") == whole_script


@pytest.mark.long  # tests/cli/test_signals.py does so with a script
def test_ctrl_c_says_how_to_go_on(tmp_path: Path, whole_script: list[dict[str, Any]]) -> None:
    url = url_of(tmp_path / "t.db")
    process = start_script(url, tmp_path, "--executor", "threads")
    wait_for_matches(tmp_path / "t.db", 20, process)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "To resume, type: " in output
    assert "Traceback" not in output
    finish(start_script(url, tmp_path, "--executor", "threads"))
    assert trials(url, "killed") == whole_script


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def children_of(pid: int) -> list[int]:
    """All descendants of a process."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, new = [], [pid]
    while new:
        new = [child for child, parent in parents.items() if parent in new]
        found += new
    return found


def test_search_and_held_out_games_are_one_bar_that_counts_both_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []

    def between(run: StudyRun, games: int, pool: Executor) -> None:
        search(run, games, pool)
        assert run._run is not None
        seen.append((run._run.bar.done, run._run.bar.total))

    search = StudyRun.run_budget
    monkeypatch.setattr(StudyRun, "run_budget", between)
    study = Study("2048(size=2)", "mc(iterations=1)", "rollout_depth=0..20", budget=36, sampler="random(population=6)")
    with Store.open(url_of(tmp_path / "a.db")) as store:
        results = study.run(store, where=Where("serial"), progress=False)
        (end,) = progress_of_runs(store)
    assert seen == [(36, study.total)] and study.total == 36 + 2 * 24
    assert results.verdict is not None
    assert (end.state, end.done, end.planned) == ("finished", 36 + results.verdict.games, 36 + results.verdict.games)


def test_a_search_without_other_phases_has_a_bar_of_its_own(tmp_path: Path) -> None:
    url = url_of(tmp_path / "a.db")
    run_study(url)
    store = Store.open(url)
    (end,) = progress_of_runs(store)
    assert (end.state, end.done, end.planned) == ("finished", 54, 54)


@pytest.mark.parametrize("objectives", ["strength", "strength,time"])
@pytest.mark.parametrize(
    "parameters", [["rollout_depth=0..50.5"], ["rollout_depth=0..50", "rollout_depth=0..60"]], ids=["fraction", "twice"]
)
def test_ranges_that_are_not_clear_are_refused_unless_they_are_stored(
    tmp_path: Path, objectives: str, parameters: list[str]
) -> None:
    search = Study("2048", "mc(iterations=1)", parameters, budget=100, objectives=objectives)
    stored = search.settled
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with pytest.raises(UserError, match=r"must end at whole numbers|must have one range"):
            search.run(store, where=Where("serial"))
        assert not store.runs()
        store.begin_run(run_id_of(stored.name), "study", stored.name, stored.stored)
        assert search.question.settled(100, store).stored == stored.stored
