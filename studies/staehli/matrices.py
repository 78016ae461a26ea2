"""How good are weight matrices at 2048, alone and combined, one and two plies deep? Stähli and Sager 2019.

\b
Examples:
    python studies/staehli/matrices.py                     a few minutes on two cores
    python studies/staehli/matrices.py --preset paper      1,000 games per row; the blog has 10
    python studies/report.py staehli                                 the page
"""

from __future__ import annotations

from dataclasses import replace

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.published import OTHER
from turnier.runs.experiments.row import Row
from turnier.studies.scripts.experiments import run_experiments

GAMES = {"quick": 40, "paper": 1000, "tiny": 2}
EVALUATORS = {
    f"{label}, {how}": f"matrix2048(matrix={matrix},transforms={transforms},difference={difference})"
    for matrix, label, difference in (
        ("left", "left", 0),
        ("corner", "left corner", 0),
        ("snake", "snake", 0),
        ("corners", "corners", 0),
        ("corner", "left corner less twice the differences", 2),
        ("combined", "combined", 0.01),
    )
    for transforms, how in (("false", "as it stands"), ("true", "transformed"))
}
COMBINED = "combined, transformed"
PUBLISHED_GAMES = 10
NO_SCORE = "the blog gives its gain over random play, no score"
# "On average 260 % better" than random play, which is not given there; in Kutsch 2017 it is about 1,040.
PUBLISHED = {COMBINED: 3.6 * 1040}
ONE_PLY = """The blog puts the board after the move through weight matrices and plays the best move. Its diagrams are
of 10 games each and come without numbers; the text says that the snake with its transforms was the best matrix, and
that the combination improved on random play by 260 % on average. The published figure here is 3.6 times the random
agent of Kutsch 2017 (1,040). Single games deviate by about 1,900 points, so a mean of 10 is good to 1,200 points."""
TWO_PLIES = """The same with one more move looked ahead, in expectation over the new tile; no figures are published.
*Left corner less twice the differences* is what the blog's search looks at."""
WINS = """With one ply "it is not possible to win", with one more it is: the share of games that reach 2048."""


def build(preset: str) -> list[Experiment]:
    def row(label: str, agent: str, measure: str = "score", published: float | None = None) -> Row:
        plain = Row(label, "2048", (agent,), GAMES[preset], measure, published)
        if published is None:
            return plain
        setting, reason = (OTHER, NO_SCORE) if measure == "score" else ("", "")
        return replace(plain, published_games=PUBLISHED_GAMES, setting=setting, reason=reason)

    one = {label: f"greedy(evaluator={evaluator})" for label, evaluator in EVALUATORS.items()}
    two = {label: f"expectimax(depth=2,evaluator={evaluator})" for label, evaluator in EVALUATORS.items()}
    one_ply = [row("random", "random"), *(row(k, agent, published=PUBLISHED.get(k)) for k, agent in one.items())]
    two_plies = [row(label, agent) for label, agent in two.items()]
    wins = [
        row(f"{COMBINED}, one ply", one[COMBINED], "reaches_2048", 0.0),
        row(f"{COMBINED}, two plies", two[COMBINED], "reaches_2048"),
    ]
    return [
        Experiment("staehli", f"one-ply-{preset}", "Weight matrices, one ply", ONE_PLY, tuple(one_ply)),
        Experiment("staehli", f"two-plies-{preset}", "Weight matrices, two plies", TWO_PLIES, tuple(two_plies)),
        Experiment("staehli", f"wins-{preset}", "Does it win?", WINS, tuple(wins)),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
