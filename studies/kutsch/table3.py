"""Do more iterations improve MCTSE? Kutsch 2017, table 3.

\b
Examples:
    python studies/kutsch/table3.py                    scaled down, about a minute at most
    python studies/kutsch/table3.py --preset paper     50, 20 and 10 games
"""

from __future__ import annotations

from settings import GAMES, GROUPS, NOTE, mctse, means, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

SCORES = {1: 56_989.0, 5: 57_236.0, 10: 57_693.0}
CERTAINTIES = (65.50, 82.41, 84.26)
TEXT = """Iterations, nodes and tree depth are multiplied by 1, 5 and 10, as much work as majority votes of as many
agents. The thesis found more certainty than with a vote, but hardly more score."""


def build(preset: str) -> list[Experiment]:
    agents = {n: mctse(preset, 3500 * n, 500 * n, more=f",tree_depth={10 * n}" if n > 1 else "") for n in SCORES}
    games = {1: GAMES[preset], 5: -(-2 * GAMES[preset] // 5), 10: -(-GAMES[preset] // 5)}
    labels = {n: f"{3500 * n:,} iterations" for n in agents}
    scores = [
        Row(labels[n], "2048", (agent,), games[n], "score", published(preset, SCORES[n])) for n, agent in agents.items()
    ]
    voters = {labels[n]: (agent,) for n, agent in agents.items()}
    certainties = means(preset, voters, dict(zip(voters, CERTAINTIES, strict=True)), share=5)
    text = TEXT + NOTE[preset]
    return [
        Experiment("kutsch", f"table3-{preset}", "MCTSE with more iterations (table 3)", text, tuple(scores)),
        Experiment(
            "kutsch",
            f"table3-certainty-{preset}",
            "Certainty with more iterations (table 3)",
            "Normalised certainty, a fifth of the thesis's states a group." + GROUPS,
            tuple(certainties),
        ),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
