"""How certain are MCTS and MCTSE? Kutsch 2017, figures 14, 23 and 24.

\b
Examples:
    python studies/kutsch/figure14.py                    scaled down, about a minute at most
    python studies/kutsch/figure14.py --preset paper     20 states a group, 20 searches each
"""

from __future__ import annotations

from settings import GROUPS, NOTE, STATES, by_actions, curves, mcts, mctse, means

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment

TEXT = """As in the thesis, every agent makes 1,000 iterations per legal action here. A deeper tree makes MCTS less
certain, since every search freezes other outcomes of chance; MCTSE, whose tree holds them all, is much more certain."""


def build(preset: str) -> list[Experiment]:
    agents = {
        "MCTSE": by_actions(lambda iterations: mctse(preset, iterations)),
        "MCTS": by_actions(lambda iterations: mcts(preset, 10, iterations=iterations)),
    }
    shallow = {
        "MCTSE": by_actions(lambda iterations: mctse(preset, iterations, more=",tree_depth=1")),
        "MCTS": by_actions(lambda iterations: mcts(preset, 1, iterations=iterations)),
    }
    named = {
        "MCTS, tree depth 1": shallow["MCTS"],
        "MCTS, tree depth 10": agents["MCTS"],
        "MCTSE, tree depth 1": shallow["MCTSE"],
        "MCTSE, tree depth 10": agents["MCTSE"],
    }
    known = {"MCTS, tree depth 1": 52.2, "MCTS, tree depth 10": 48.08, "MCTSE, tree depth 10": 65.5}
    rows = means(preset, named, known)
    text = TEXT + GROUPS + NOTE[preset]
    title = "Certainty of MCTS and MCTSE (figures 14, 23, 24)"
    return [
        Experiment("kutsch", f"certainty-trees-{preset}", title, text, tuple(rows)),
        Experiment(
            "kutsch",
            f"figure14-{preset}",
            "Certainty of MCTS and MCTSE by position (figure 14)",
            "The same with a tree depth of 10, by legal actions and empty cells.",
            tuple(curves(preset, agents)),
            axis="empty cells",
        ),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, STATES)
