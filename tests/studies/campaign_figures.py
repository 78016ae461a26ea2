"""Small experiments for tests of campaigns."""

from __future__ import annotations

from pathlib import Path

from turnier.arena.workers.local import SerialExecutor
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.campaigns.campaign import Campaign
from turnier.studies.campaigns.document import write_report

SEARCH = "mc(iterations=10,rollout_depth=9)"
NEAR = Row("near", "tictactoe", ("mc(iterations=2)", "random"), 10, published=60.0)
EASY = Row("easy", "tictactoe", (SEARCH, "random"), 200, published=70.0)
OPEN = Row("openings", "tictactoe", ("random", SEARCH), 1, openings=1)
LONG = Row("length", "tictactoe", ("random", "random"), 30, "plies")
SCORE = Row("score", "2048(size=3)", ("random",), 10, "score", published=300.0)
CERTAIN = Row("certainty", "2048(size=3)", ("mc(iterations=2)",), 2, "normalised_certainty", 50.0, states=2, repeats=3)
VALUE = Row("values", "2048(size=3)", ("mc(iterations=2)",), 2, "mean_value", states=2, repeats=2, moves=(2, 9))
FIRST = Experiment("guide", "first-paper", "First", "Text.", (NEAR, OPEN, LONG, SCORE, EASY), seed=5)
SECOND = Experiment("guide", "second-paper", "Second", "Text.", (CERTAIN, VALUE, NEAR), seed=5)
LEARNER = Learner("tictactoe", "ntuple(tuples=4,length=4)", "td(epsilon=0.3,epsilon_end=0)", 100, points=2)
LEARNED = TrainingStudy(
    "guide", "learned-paper", "Learned", "Text.",
    [*(LearnedRow(Row(f"{p}", "tictactoe", ("random",), 6, x=p), LEARNER, p) for p in LEARNER.places), OPEN],
)  # fmt: skip
FIGURES = (FIRST, SECOND, LEARNED)


def play(store: Store, folder: Path) -> None:
    with SerialExecutor() as pool:
        Campaign(store, FIGURES, folder).run(pool)


def pages(store: Store, folder: Path) -> list[str]:
    return [page.read_text() for page in write_report(store, "guide", folder)]


def opened(played: Path) -> Store:
    return Store.open(f"sqlite:///{played}/all.db", read_only=True)
