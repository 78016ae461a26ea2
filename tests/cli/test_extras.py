"""What `pip install turnier` brings is enough for the command line; what an extra adds says so where it is missing."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.cli.running import REPO

MODULES = {  # of each extra, as they are imported
    "cluster": (),  # what Ray's own commands need
    "dashboard": ("a2wsgi", "altair", "cachetools", "markdown_it", "optuna_dashboard", "PIL", "vl_convert"),
    "deep": ("jax", "jaxlib", "optax"),
    "engines": ("chess",),
    "gym": ("gymnasium", "pettingzoo"),
    "judges": ("bitbully", "bitbully_databases"),
    "openspiel": ("pyspiel", "open_spiel"),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg", "psycopg_binary"),
    "server": ("starlette", "uvicorn", "websockets"),
    "video": ("av",),
}
# Plays commands, one after another, in a process without the modules of all extras; prints code and error of each.
RUN = """
import contextlib, importlib.abc, io, json, sys
missing, commands = map(json.loads, sys.argv[1:])
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util
found = importlib.util.find_spec
def find(name, package=None):
    return None if name.partition(".")[0] in missing else found(name, package)
importlib.util.find_spec = find
from turnier.commands import app
for words in commands:
    sys.argv = ["turnier", *words]
    said, wrong = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        try:
            app.main()
        except SystemExit as ended:
            code = ended.code or 0
    print(json.dumps([code, wrong.getvalue()]), file=sys.__stdout__, flush=True)
"""
PLAYED = ("--executor", "serial", "--store", "sqlite:///a.db")
BUDGET = ("--against", "random", "--budget", "40games")
BASE = (
    ("list", "games"),
    ("list", "mcts"),
    ("list", "samplers"),
    ("list", "noises"),
    ("play", "tictactoe", "random", "random"),
    ("tournament", "tictactoe", "random", "greedy", "--games", "4", *PLAYED),
    ("compare", "random", "greedy", "--game", "tictactoe", "--games", "8", *PLAYED),
    ("certainty", "tictactoe", "random", "--states", "1", "--repeats", "2", "--games", "2", *PLAYED),
    ("judge", "tictactoe", "random", "perfect", "--positions", "5", "--executor", "serial"),
    ("tune", "tictactoe", "mcts(iterations=4)", "--params", "exploration=0..3", *BUDGET, *PLAYED),
    ("train", "tictactoe", "ntuple(tuples=4,length=3)", "--games", "50", "--out", "w.npz", "--store", "sqlite:///a.db"),
    ("show", "--store", "sqlite:///a.db"),
    ("runs", "--store", "sqlite:///a.db"),
    ("show", "last", "--out", "games.csv", "--store", "sqlite:///a.db"),
    ("show", "--help"),
    ("engine", "--help"),
)
NEEDING = {  # video has a test of its own
    "dashboard": ("dashboard", "--store", "sqlite:///a.db"),
    "deep": ("train", "tictactoe", "dqn", "--games", "2", "--out", "d.npz", "--store", "sqlite:///a.db"),
    "engines": ("play", "chess", "random", "random"),
    "gym": ("play", "gymnasium(id=CartPole-v1)", "random"),
    "judges": ("tournament", "connect_four", "random", "perfect", *PLAYED),
    "openspiel": ("play", "openspiel(game=tic_tac_toe)", "random", "random"),
    "parquet": ("show", "last", "--out", "games.parquet", "--store", "sqlite:///a.db"),
    "postgres": ("runs", "--store", "postgresql://nobody@127.0.0.1/none"),
    "server": ("spe_ed", "serve"),
}


def ran(folder: Path, missing: list[str], commands: list[tuple[str, ...]]) -> list[tuple[int, str]]:
    """Returns exit code and standard error of each command."""
    words = [sys.executable, "-c", RUN, json.dumps(missing), json.dumps(commands)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(commands), done.stderr
    return [(code, error) for code, error in answers]


def test_the_table_has_every_extra() -> None:
    declared = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert declared.keys() - {"all", "dev", "rivals"} == MODULES.keys() == NEEDING.keys() | {"cluster", "video"}
    apart = {"cluster", "judges"}  # for the head of a cluster, and under the AGPL
    free = sorted(MODULES.keys() - apart)
    assert declared["all"] == [f"turnier[{','.join(free)}]"] and "turnier[all,judges]" in declared["dev"]


def test_the_base_is_enough_and_each_extra_is_named_where_it_is_missing(tmp_path: Path) -> None:
    missing = [module for modules in MODULES.values() for module in modules]
    answers = ran(tmp_path, missing, [*BASE, *NEEDING.values()])
    for words, (code, error) in zip(BASE, answers, strict=False):
        assert code == 0, (words, error)
    for (extra, words), (code, error) in zip(NEEDING.items(), answers[len(BASE) :], strict=True):
        assert code == 2 and error.startswith("Error: ") and error.count("\n") == 1, (words, error)
        assert f": pip install 'turnier[{extra}]'\n" in error


def test_a_video_needs_its_extra_alone(tmp_path: Path) -> None:
    play = ("tournament", "tictactoe", "random", "greedy", "--games", "2", *PLAYED)
    log = ("show", "last", "--out", "games.jsonl", "--store", "sqlite:///a.db")
    replay = ("show", "games.jsonl:1", "--out", "a.mp4", "--delay", "0")
    *_, (code, error) = ran(tmp_path, list(MODULES["video"]), [play, log, replay])
    sentence = "a video needs av: pip install 'turnier[video]'"
    assert (code, error) == (2, f"Error: {sentence}\n")
