"""Do more iterations always help MC? Kutsch 2017, figure 4.

\b
Examples:
    python studies/kutsch/figure4.py                    scaled down, about a minute at most
    python studies/kutsch/figure4.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mc, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

ITERATIONS = (100, 250, 500, 1000, 2000, 5000)  # per action
TEXT = """MC with rollouts of 20 moves: more iterations always improved the score, with ever less gain. Of the figure
only the value at 1,000 iterations is printed."""


def build(preset: str) -> list[Experiment]:
    rows = [
        Row(
            f"{iterations:,} iterations",
            "2048",
            (mc(preset, iterations),),
            GAMES[preset],
            "score",
            published(preset, 51_521) if iterations == 1000 else None,
            x=iterations,
        )
        for iterations in ITERATIONS
    ]
    title, axis = "MC by iterations (figure 4)", "iterations per action"
    return [Experiment("kutsch", f"figure4-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis=axis)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
