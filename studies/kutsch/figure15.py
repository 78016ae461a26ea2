"""How deep should rollouts be for each agent? Kutsch 2017, figure 15.

\b
Examples:
    python studies/kutsch/figure15.py                    scaled down, about a minute at most
    python studies/kutsch/figure15.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mc, mcts, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

DEPTHS = (5, 20, 50, 150, 300)
TEXT = """MC is best near 20 and by far the best with shallow rollouts; MCTS and MCTSE are best near 150. MC is
played with method 2 and the tree searches with method 1 (see *MC, MCTS and MCTSE*); MCTS has a tree depth of 10
here."""


def build(preset: str) -> list[Experiment]:
    series = {
        "MC": lambda depth: mc(preset, depth=depth),
        "MCTS": lambda depth: mcts(preset, 10, depth),
        "MCTSE": lambda depth: mctse(preset, more=f",rollout_depth={depth}"),
    }
    known = {("MC", 20): 51_521.0, ("MCTSE", 150): 56_989.0}
    rows = [
        Row(
            f"{label}, depth {depth}",
            "2048",
            (agent(depth),),
            GAMES[preset],
            "score",
            published(preset, known[label, depth]) if (label, depth) in known else None,
            x=depth,
            series=label,
        )
        for label, agent in series.items()
        for depth in DEPTHS
    ]
    title, axis = "The agents by rollout depth (figure 15)", "moves of a rollout at most"
    return [Experiment("kutsch", f"figure15-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis=axis)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
