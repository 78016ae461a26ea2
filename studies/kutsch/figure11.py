"""Does MCTSE need a deep tree, and does a shallow one hurt? Kutsch 2017, figure 11.

\b
Examples:
    python studies/kutsch/figure11.py                    scaled down, about a minute at most
    python studies/kutsch/figure11.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mcts, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

TREE_DEPTHS = (1, 2, 5, 10)
UCT = "selection=uct,exploration=0.0566"
TEXT = """Unlike MCTS, whose tree is wrong, MCTSE loses nothing with a deeper tree; beyond extremes the tree depth
did not matter, since the limit of 500 nodes ends its growth first."""


def build(preset: str) -> list[Experiment]:
    series = {
        "MCTSE, UCTN": lambda depth: mctse(preset, more=f",tree_depth={depth}"),
        "MCTSE, UCT": lambda depth: mctse(preset, more=f",tree_depth={depth},{UCT}"),
        "MCTS": lambda depth: mcts(preset, depth),
    }
    known = {("MCTSE, UCTN", 10): 56_989.0, ("MCTSE, UCT", 10): 52_000.0, ("MCTS", 1): 34_713.0}
    rows = [
        Row(
            f"{label}, tree depth {depth}",
            "2048",
            (agent(depth),),
            GAMES[preset],
            "score",
            published(preset, known[label, depth]) if (label, depth) in known else None,
            x=depth,
            series=label,
        )
        for label, agent in series.items()
        for depth in TREE_DEPTHS
    ]
    title = "MCTSE by tree depth (figure 11)"
    return [Experiment("kutsch", f"figure11-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis="tree depth")]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
