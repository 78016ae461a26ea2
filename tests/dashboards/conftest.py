"""A small real store, made once: tournaments, certainty, training, a study, an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from docs.screenshots import browser, served
from tests.dashboards.drawn_pages import Pages
from tests.postgres import postgres_server, postgres_url  # noqa: F401
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment, play_experiment
from turnier.runs.experiments.row import Row
from turnier.search.definition import StudyDefinition
from turnier.search.front.pareto import ParetoDefinition, ParetoStudy
from turnier.search.study import Study
from turnier.search.study_run import StudyRun

AGENT = "mctse(iterations=10,rollout_depth=2,maxnodes=10,evaluator=heuristics2048())"
COMMANDS = (
    ("compare", "mcts(iterations=16)", "mcts(iterations=17)", "--game", "tictactoe", "--margin", "90", "--seed", "3"),
    ("train", "tictactoe", "ntuple", "--games", "400", "--every", "100", "--evaluate-every", "200", "--against",
     "random", "--evaluation-games", "6", "--out"),
    ("certainty", "2048(size=3)", "random", "mc(iterations=5)", "mc(iterations=40)", "--states", "2", "--repeats", "4",
     "--games", "3"),
    ("tournament", "spe_ed(width=12,height=12,players=2)", "combi(rollouts=50,nodes=200,table_nodes=500)",
     "rollouts(rollouts=50)", "--games", "2"),
    ("tournament", "2048(size=3)", "random", "greedy", "mc(iterations=40)", "--games", "12"),
    ("tournament", "yavalath(size=3)", "mcts(iterations=40)", "mc(iterations=5)", "random", "--games", "6"),
)  # fmt: skip
TINY = StudyDefinition("tiny", "2048(size=4)", AGENT, ("evaluator.*",), "cmaes(population=6)", "fixed(games=3)", seed=4)
DECIDED = "decided"  # a study with a verdict
EXPERIMENT = Experiment(
    "guide",
    "small",
    "A small question",
    "What was *published*.",
    (
        Row("few", "tictactoe", ("mc(iterations=2)", "random"), 6, published=50.0, x=2),
        Row("many", "tictactoe", ("mc(iterations=20)", "random"), 6, published=99.0, x=20),
    ),
    axis="iterations",
)


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("dashboards")
    url = f"sqlite:///{folder}/made.db"
    for words in COMMANDS:
        where = [str(folder / "t.npz")] if words[0] == "train" else ["--executor", "threads"]
        done = CliRunner().invoke(app, [*words, *where, "--store", url], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    start, ranges = "mc(iterations=10,rollout_depth=2)", ("iterations=1..40",)
    front = ParetoDefinition("front", "2048(size=3)", start, ranges, population=4, games=2)
    with Store.open(url) as store, make_executor(Where("threads", 2)) as pool:
        search = ParetoStudy(store, front)
        search.run(16, pool)
        search.play_final(search.finalists(), 4, pool)
        StudyRun(store, TINY).run(3, pool)
        searched = ["exploration=0..4", "iterations=5..20"]
        decided = Study(
            "tictactoe", "mcts(iterations=10)", searched, budget=160, against=["random"], sampler="tpe", name=DECIDED,
            verify=0.1,
        )  # fmt: skip
        decided.run(store, where=Where("threads", 2), progress=False)
        for _ in play_experiment(EXPERIMENT, store, SerialExecutor()):
            pass
    return url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url, read_only=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def pages(url: str) -> Pages:
    """The pages of the store that was made."""
    return Pages(url)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(url: str) -> Iterator[str]:
    with served(url) as at:
        yield at
