"""Small files of every kind that commands read: a store with runs of every kind, weights, a checkpoint, exports."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

from typer.testing import CliRunner

from turnier.commands.app import app

STORE, WEIGHTS, CHECKPOINT, EXPORT = "run.db", "weights.npz", "checkpoint.npz", "games.jsonl"
URL = f"sqlite:///{STORE}"
NETWORK = "ntuple(tuples=4,length=3)"
THREADS = ("--executor", "threads", "--workers", "1")

TOURNAMENT = ("tournament", "tictactoe", "random", "mc(iterations=8)", "mcts(iterations=8)", "--games", "40", *THREADS)
COMPARE = (
    *("compare", "random", "mcts(iterations=10)", "--game", "tictactoe", "--games", "40", "--first-round", "8"),
    *THREADS,
)
CERTAINTY = (
    *("certainty", "tictactoe", "random", "mcts(iterations=5)", "--states", "2", "--repeats", "4"),
    *("--games", "3", "--collector", "random", *THREADS),
)
TUNE = (
    *("tune", "2048(size=3)", "mc(iterations=4,rollout_depth=2)", "--params", "rollout_depth=0..6"),
    *("--budget", "64games", "--sampler", "random", "--noise", "fixed(games=4)", "--name", "small", *THREADS),
)
EVALUATED = ("--every", "100", "--evaluate-every", "100", "--evaluation-games", "4", "--against", "random")
TRAIN = ("train", "tictactoe", NETWORK, "--games", "300", *EVALUATED, "--out", WEIGHTS)
TRAIN_ON = ("train", "tictactoe", NETWORK, "--games", "400", "--every", "100", "--out", CHECKPOINT)


def make_files(folder: Path) -> None:
    """Plays small runs of every kind; leaves no other files in the folder."""
    store = ("--store", URL)
    for words in (
        *(command + store for command in (TOURNAMENT, COMPARE, CERTAINTY, TUNE, TRAIN)),
        ("runs", "note", "tournament", "a note", *store),
        ("train", *TRAIN_ON[1:3], "--games", "200", *TRAIN_ON[5:], "--store", "sqlite:///other.db"),
        ("show", "tournament", "--out", EXPORT, *store),
    ):
        with contextlib.chdir(folder):
            done = CliRunner().invoke(app, list(words), catch_exceptions=False)
        assert done.exit_code == 0, (words, done.output)
    with contextlib.closing(sqlite3.connect(folder / STORE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in (*folder.glob("other.db*"), *folder.glob(f"{STORE}-*")):
        path.unlink()
    shutil.rmtree(folder / f"{WEIGHTS}.evaluating", ignore_errors=True)
