"""Do networks learn three-player Yavalath and boards with 3 to 8 cells a side, how far and how fast? Weitz 2022, 6.

\b
Examples:
    python studies/weitz/learners_elsewhere.py                    a tenth of the games
    python studies/weitz/learners_elsewhere.py --preset paper     20,000 games of training, five trainings each
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.scripts.trained_experiments import run_training_studies


class Scale(NamedTuple):
    """What a preset trains and plays."""

    sizes: tuple[int, ...]
    trained: int  # games of a training; half as many with three players, which take ten times as long
    trainings: int
    games: int  # of a training at a point
    iterations: int  # of the MCTS that evaluates


PRESETS = {
    "quick": Scale((3, 4, 5, 6, 7, 8), 2000, 2, 10, 1000),
    "paper": Scale((3, 4, 5, 6, 7, 8), 20_000, 5, 40, 1000),
    "tiny": Scale((3, 8), 200, 2, 2, 20),
}
POINTS = 4
NETWORK, LEARNING = (
    "ntuple(tuples=50,length=6,seed={seed})",
    "td(alpha=1,alpha_end=0.5,epsilon=0.3,epsilon_end=0.1,once=true,tanh=true,beta=2.7)",
)
TEXT = """Weitz 2022 names both as open (chapter 6). Games won by the greedy agent on a network, by games of training,
means over {trainings} trainings with tuples and seeds of their own: 50 tuples of 6 cells, temporal coherence, alpha
from 1 to 0.5, epsilon from 0.3 to 0.1, everything else as for the learners of the thesis. """
OF_SIZES = "The opponent is UCT with {iterations:,} iterations on the same board, in both seats."
OF_THREE = """With three players the two others are alike, in all orders of seats: a third of the games is what equals
win. UCT has {iterations:,} iterations."""


def learners(game: str, trained: int, scale: Scale) -> list[Learner]:
    """Returns the learners of a game that differ in their seeds."""
    seeds = range(1, scale.trainings + 1)
    return [Learner(game, NETWORK.format(seed=seed), LEARNING, trained, POINTS, seed) for seed in seeds]


def curve(series: str, trained: Sequence[Learner], others: tuple[str, ...], scale: Scale) -> list[LearnedRow]:
    """Returns the rows of learners that differ in their seeds, at each point of their training."""
    first, *further = trained
    return [
        LearnedRow(
            Row(f"{series}, {place:,} games", first.game, others, scale.games, x=place, series=series),
            first,
            place,
            tuple(further),
        )
        for place in first.places
    ]


def size(cells: int) -> str:
    return f"yavalath(size={cells})"


def build(preset: str) -> list[TrainingStudy]:
    scale = PRESETS[preset]
    mcts, weaker = (f"mcts(iterations={n})" for n in (scale.iterations, scale.iterations // 10))
    boards = [
        row
        for cells in scale.sizes
        for row in curve(f"{cells} cells a side", learners(size(cells), scale.trained, scale), (mcts,), scale)
    ]
    three = [
        row
        for name, other in (("random", "random"), (f"UCT {scale.iterations // 10}", weaker), ("UCT", mcts))
        for row in curve(
            f"three players, against {name}",
            learners("yavalath(players=3)", scale.trained // 2, scale),
            (other, other),
            scale,
        )
    ]
    text, axis = TEXT.format(trainings=scale.trainings), "games trained"
    sizes, others = (words.format(iterations=scale.iterations) for words in (OF_SIZES, OF_THREE))
    return [
        TrainingStudy("weitz", f"sizes-{preset}", "Learning on other boards", text + sizes, boards, axis),
        TrainingStudy("weitz", f"three-{preset}", "Learning with three players", text + others, three, axis),
    ]


if __name__ == "__main__":
    run_training_studies(__doc__, build, PRESETS)
