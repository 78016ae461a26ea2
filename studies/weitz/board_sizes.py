"""Beyond the thesis: first-mover advantage and length of games by board size, 4 to 7 cells per side.

\b
Examples:
    python studies/weitz/board_sizes.py
    python studies/weitz/board_sizes.py --preset paper
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.scripts.experiments import run_experiments

GAMES = {"quick": 40, "paper": 200, "tiny": 2}
TEXT = """Weitz 2022 names other board sizes as open. MCTS with {iterations:,} iterations plays itself, without swap."""


def build(preset: str) -> list[Experiment]:
    iterations = 50 if preset == "tiny" else 5000
    agent = f"mcts(iterations={iterations})"
    text = TEXT.format(iterations=iterations)
    questions = {
        "first-move-by-size": ("First-mover advantage by board size", "first_seat_wins"),
        "length-by-size": ("Length of a game by board size", "plies"),
    }
    return [
        Experiment(
            "weitz",
            f"{name}-{preset}",
            title,
            text,
            tuple(
                Row(f"{size} cells a side", f"yavalath(size={size})", (agent, agent), GAMES[preset], measure, x=size)
                for size in (4, 5, 6, 7)
            ),
            axis="cells a side",
        )
        for name, (title, measure) in questions.items()
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
