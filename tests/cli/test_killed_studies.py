"""Studies killed again and again, with another number of workers each time: the same search, on SQLite and a server."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import TURNIER
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.search.storage.studies import stored_verdict
from turnier.search.storage.trials import count_trials, generations_frame, study_names, trials_frame

GAME = ("tune", "tictactoe", "mcts(iterations=20)", "--params", "exploration=0..4,iterations=5..60", "--name", "killed")
DUELS = (*GAME, "--against", "mcts(iterations=30)", "--budget", "600")
KNOWN = (*GAME, "--known", "mcts(iterations=50)", "--known", "mcts(iterations=20,exploration=3)", "--budget", "400")
SLOW = (*GAME, "--max-per-move", "10000ms", "--budget", "400")
SCORES = ("tune", "2048(size=2)", "mc(iterations=4)", "--params", "rollout_depth=0..50,iterations=1..9",
          "--budget", "600", "--known", "mc(iterations=9)", "--name", "killed")  # fmt: skip
HOURS = (*GAME, "--budget", "12s", "--sampler", "duels(pairs=8,length=100)")  # which else suits the measured speed
FUNCTION = """
import random, sys, time, turnier
def function(parameters, seed):
    time.sleep(0.004)
    return 20 * (parameters["x"] - 0.7) ** 2 - 3 * (parameters["kind"] == "b") + random.Random(seed).gauss(0, 1)
searched = {"x": (0.0, 1.0), "kind": ["a", "b"]}
study = turnier.create_study(searched, name="killed", evaluations=300, known=[{"x": 0.9}], store=sys.argv[1])
study.optimize(function, progress=False)
"""
KINDS = {"duels": DUELS, "known": KNOWN, "scores": SCORES, "slow": SLOW, "hours": HOURS, "function": ()}
KILLS = (20, 90)  # candidates that are stored when the driver is killed


def start(words: Sequence[str], store: str, workers: int) -> subprocess.Popen[str]:
    command = [*TURNIER, *words, "--executor", "threads", "--workers", str(workers), "--store", store]
    if not words:
        command = [sys.executable, "-c", FUNCTION, store]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def candidates(url: str) -> int:
    try:
        with Store.open(url, read_only=True) as store:
            return count_trials(store, "killed") if "killed" in study_names(store) else 0
    except UserError:
        return 0


def finished(driver: subprocess.Popen[str]) -> None:
    told, _ = driver.communicate(timeout=300)
    assert driver.returncode == 0, told


def found(url: str) -> tuple[Any, Any, Any]:
    """Returns the candidates, the course of the search and the verdict, without clocks."""
    with Store.open(url, read_only=True) as store:
        course = generations_frame(store, "killed").filter(["generation", "mean", "best", "sigma"])
        return trials_frame(store, "killed").drop(columns="seconds"), course, stored_verdict(store, "killed")


@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_study_is_the_same_search(
    kind: str, database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    words, whole, killed = KINDS[kind], f"sqlite:///{tmp_path}/whole.db", f"sqlite:///{tmp_path}/killed.db"
    killed = killed if database == "sqlite" else str(request.getfixturevalue("postgres_url"))
    finished(start(words, whole, 2))
    kills = 0
    for least, workers in zip(KILLS, itertools.cycle((1, 2))):
        driver = start(words, killed, workers)
        while driver.poll() is None and candidates(killed) < least:
            time.sleep(0.01)
        kills += driver.poll() is None
        driver.kill()
        driver.communicate()
    finished(start(words, killed, 1))
    (once, course, verdict), (again, other, later) = found(whole), found(killed)
    assert kills and later is not None
    if kind == "hours":  # only the number of games depends on the time
        n, generations = min(len(once), len(again)), min(len(course), len(other))
        assert n and generations and once[:n].equals(again[:n]) and course[:generations].equals(other[:generations])
    else:
        assert once.equals(again) and course.equals(other) and verdict == later
