"""A PostgreSQL server that restarts three times under real commands: not started again by hand, and nothing differs."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.running import TURNIER
from tests.postgres import stopped
from turnier.core.errors import UserError
from turnier.games.registry import make_game
from turnier.results.frames.matches import matches_frame
from turnier.results.store.store import Store
from turnier.runs.stored.training import stored_evaluations
from turnier.search.storage.trials import generations_frame, study_names, trials_frame

AWAY_SECONDS = 2.0
TOURNAMENT = ("tournament", "tictactoe", "random", "mc(iterations=900)", "greedy", "--games", "500", "--seed", "3")
STUDY = ("tune", "tictactoe", "mc(iterations=100)", "--params", "iterations=50..400,rollout_depth=0..30", "--against",
         "mc(iterations=150)", "--budget", "1200games", "--sampler", "cmaes(population=6)", "--seed", "5")  # fmt: skip
FRONT = ("tune", "tictactoe", "mc(iterations=100)", "--params", "iterations=50..400", "--against", "mc(iterations=150)",
         "--budget", "800games", "--objectives", "strength,certainty", "--seed", "5")  # fmt: skip
LONG_STUDY = pytest.param(STUDY, marks=pytest.mark.long)  # `test_lasting_storage` breaks each of its transactions
LONG_FRONT = pytest.param(FRONT, marks=pytest.mark.long)
COMPARISON = ("compare", "--game", "tictactoe", "mc(iterations=300)", "mc(iterations=310)", "--seed", "3")
RACE = ("compare", "mc(iterations=310)", "mc(iterations=320)", "--base", "mc(iterations=300)", "--game", "tictactoe")
CERTAINTY = ("certainty", "tictactoe", "mc(iterations=2000)", "--states", "60", "--repeats", "20", "--seed", "3")
LONG_COMPARISON, LONG_RACE, LONG_CERTAINTY = (
    pytest.param(words, marks=pytest.mark.long) for words in (COMPARISON, RACE, CERTAINTY)
)

TRAINING = ("train", "2048", "ntuple(network=cells,cells=0.1.2.3/4.5.6.7)", "--games", "16000",
            "--evaluate-every", "8000", "--evaluation-games", "10")  # fmt: skip


def start(words: tuple[str, ...], store: str) -> subprocess.Popen[str]:
    command = [*TURNIER, *words, "--store", store, "--executor", "threads", "--workers", "1"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(url: str) -> int:
    """Returns how many matches and searches are there."""
    return count(url, "SELECT (SELECT count(*) FROM matches) + (SELECT count(*) FROM votes)")


def count(url: str, query: str) -> int:
    """Returns what is counted; 0 as long as there are no tables."""
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute(query).fetchone()
            return int(row[0]) if row else 0
    except psycopg.errors.UndefinedTable:
        return 0


def until(process: subprocess.Popen[str], holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)


def kept(url: str) -> list[Any]:
    """Returns everything in a store but clocks."""
    with Store.open(url, read_only=True) as store:
        frame = matches_frame(store)
        found: list[Any] = []
        if len(frame):
            table = frame[["match", "seat", "agent", "seed", "score", "decisions", "nodes"]]
            plies = {r.spec.id: r.plies for r in store.records(sorted(set(frame["match"])))}
            found = [sorted(table.to_numpy().tolist()), plies, store.match_counts()]
        for name in study_names(store):
            trials = trials_frame(store, name)
            found += [
                trials.drop(columns="seconds").to_json(),
                generations_frame(store, name).filter(["generation", "mean", "best", "sigma"]).to_json(),
            ]
        for run in store.runs():
            found.append(sorted((r.spec.id, r.action, r.visits) for r in store.searches.of_run(run.id)))
        return found


@pytest.mark.parametrize(
    "words",
    [TOURNAMENT, LONG_STUDY, LONG_FRONT, LONG_COMPARISON, LONG_RACE, LONG_CERTAINTY],
    ids=["tournament", "study", "front", "comparison", "race", "certainty"],
)
def test_three_restarts_change_nothing(words: tuple[str, ...], postgres_url: str, tmp_path: Path) -> None:
    """At once, for some seconds, and in the middle of an append."""
    sqlite = f"sqlite:///{tmp_path}/a.db"
    undisturbed = start(words, sqlite)
    _, errors = undisturbed.communicate(timeout=300)
    assert undisturbed.returncode == 0, errors
    driver = start(words, postgres_url)
    until(driver, lambda: stored(postgres_url) > 20)
    with stopped(postgres_url):
        pass
    before = stored(postgres_url)
    until(driver, lambda: stored(postgres_url) > before)
    with stopped(postgres_url):
        time.sleep(AWAY_SECONDS)
    before = stored(postgres_url)
    until(driver, lambda: stored(postgres_url) > before)
    held = psycopg.connect(postgres_url)  # the driver's append waits for this lock when the server ends
    held.execute("LOCK TABLE run_matches, packed_games, run_votes IN SHARE MODE")
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    until(driver, lambda: (held.execute(waits).fetchone() or (0,))[0])
    with stopped(postgres_url):  # ends both connections
        held.close()
        time.sleep(1.0)
    _, told = driver.communicate(timeout=300)
    assert driver.returncode == 0, told
    assert told.count("does not answer; waiting up to 120 s") == told.count("answers again, after") >= 2
    assert "Traceback" not in told
    assert kept(postgres_url) == kept(sqlite)


@pytest.mark.long
def test_training_outlasts_a_restart(postgres_url: str, tmp_path: Path) -> None:
    """The server goes when the first points of the curve are stored; an evaluation may be playing."""
    curves: list[Any] = []
    for name, url in (("whole", f"sqlite:///{tmp_path}/a.db"), ("restarted", postgres_url)):
        words = [*TURNIER, *TRAINING, "--out", str(tmp_path / f"{name}.npz"), "--store", url]
        driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if name == "restarted":
            until(driver, lambda: count(postgres_url, "SELECT count(*) FROM training_points"))
            with stopped(postgres_url):
                time.sleep(AWAY_SECONDS)
        _, told = driver.communicate(timeout=300)
        assert driver.returncode == 0, told
        with Store.open(url, read_only=True) as store:
            (run,) = store.runs()
            curves.append([store.curves.points(run.id), stored_evaluations(store, run.id, make_game("2048"))])
    assert told.count("does not answer; waiting up to 120 s") == told.count("answers again, after") >= 1
    assert curves[0] == curves[1] and [len(each) for each in curves[0]] == [16, 2]
    assert (tmp_path / "whole.npz").read_bytes() == (tmp_path / "restarted.npz").read_bytes()


@pytest.mark.parametrize(
    "words", [LONG_FRONT, COMPARISON, LONG_RACE, LONG_CERTAINTY], ids=["front", "comparison", "race", "certainty"]
)
def test_a_killed_driver_changes_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    """Of a tournament and a study this is shown in `test_operations` and in `tests/search/test_study`."""
    whole, broken = (f"sqlite:///{tmp_path}/{name}.db" for name in ("whole", "broken"))
    driver = start(words, broken)
    until(driver, lambda: has_stored(broken, 20))
    driver.kill()
    driver.communicate()
    for store in (broken, whole):
        resumed = start(words, store)
        _, errors = resumed.communicate(timeout=300)
        assert resumed.returncode == 0, errors
    assert kept(broken) == kept(whole)


def has_stored(url: str, count: int) -> bool:
    try:
        with Store.open(url, read_only=True) as store:
            return sum(store.stored_counts().values()) > count
    except UserError:  # not there yet
        return False
