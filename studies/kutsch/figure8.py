"""How deep should the tree of MCTS be? Kutsch 2017, figure 8 and 4.2.

\b
Examples:
    python studies/kutsch/figure8.py                    scaled down, about a minute at most
    python studies/kutsch/figure8.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mcts, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

TREE_DEPTHS = (1, 2, 3, 5, 10)
TEXT = """MCTS freezes one outcome of chance in every node, so the deeper its tree, the more it believes in tiles
that will not come: a tree depth of 1 was best. Only that value is printed."""


def build(preset: str) -> list[Experiment]:
    rows = [
        Row(
            f"tree depth {depth}",
            "2048",
            (mcts(preset, depth),),
            GAMES[preset],
            "score",
            published(preset, 34_713) if depth == 1 else None,
            x=depth,
        )
        for depth in TREE_DEPTHS
    ]
    title = "MCTS by tree depth (figure 8)"
    return [Experiment("kutsch", f"figure8-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis="tree depth")]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
