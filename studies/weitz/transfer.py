"""Is what was learned on one board of Yavalath worth something on another? Weitz 2022, 5.3.

\b
Examples:
    python studies/weitz/transfer.py                    a tenth of the games
    python studies/weitz/transfer.py --preset paper     20,000 games of training, five trainings each
"""

from __future__ import annotations

from dataclasses import replace

from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.scripts.trained_experiments import run_training_studies
from turnier.studies.weitz.learners_elsewhere import PRESETS, Scale, curve, learners, size

FROM, TO = 5, (4, 7)  # cells a side
TEXT = """Weitz 2022 (5.3) reports of other learners that they transfer between boards and games. Networks learned on
{here} cells a side move to other boards, each tuple as a whole to a random place where all of its cells exist, and go
on learning there, like those that begin from nothing. Games won against UCT with {iterations:,} iterations on the same
board, means over {trainings} trainings. Points up to {few:,} games are of trainings with so many in all, in which alpha
and epsilon fall sooner; the others are of trainings with {many:,}."""


def moved(trained: int, cells: int, scale: Scale) -> list[Learner]:
    """Returns the learners that go on from FROM cells a side for so many games; 0 = as they come."""
    sources = learners(size(FROM), scale.trained, scale)
    new = learners(size(cells), trained, scale)
    points = 1 if trained == 0 else new[0].points
    return [replace(one, network="", points=points, source=source) for one, source in zip(new, sources, strict=True)]


def build(preset: str) -> list[TrainingStudy]:
    scale, rows = PRESETS[preset], list[LearnedRow]()
    opponent = (f"mcts(iterations={scale.iterations})",)
    for cells in TO:
        series = f"{cells} cells a side, from"
        rows += curve(f"{series} {FROM}", moved(0, cells, scale), opponent, scale)
        for trained in (scale.trained // 10, scale.trained):
            rows += curve(f"{series} {FROM}", moved(trained, cells, scale), opponent, scale)
            rows += curve(f"{series} nothing", learners(size(cells), trained, scale), opponent, scale)
    words = {"few": scale.trained // 10, "many": scale.trained}
    text = TEXT.format(here=FROM, iterations=scale.iterations, trainings=scale.trainings, **words)
    title = "Networks moved to other boards"
    return [TrainingStudy("weitz", f"transfer-{preset}", title, text, rows, "games trained")]


if __name__ == "__main__":
    run_training_studies(__doc__, build, PRESETS)
