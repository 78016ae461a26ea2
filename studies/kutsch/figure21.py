"""Should the end of a game be punished? The two game scores of Kutsch 2017, 9.2 and figure 21.

\b
Examples:
    python studies/kutsch/figure21.py                    scaled down, about a minute at most
    python studies/kutsch/figure21.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mc, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

TEXT = """A rollout is worth its share of the highest possible score; method 2 takes 1 off where the game ended in
it. With rollouts of 20 moves method 2 is clearly better, with 200, where nearly all of them end, there is no
difference."""


def build(preset: str) -> list[Experiment]:
    rows = [
        Row(
            f"depth {depth}, method {method}",
            "2048",
            (mc(preset, depth=depth, method=method),),
            GAMES[preset],
            "score",
            published(preset, 51_521) if (depth, method) == (20, 2) else None,
        )
        for depth in (20, 200)
        for method in (1, 2)
    ]
    title = "MC by game score (figure 21)"
    return [Experiment("kutsch", f"figure21-{preset}", title, TEXT + NOTE[preset], tuple(rows))]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
