"""What is the first move worth at Yavalath, with and without the swap rule, and by strength of play?

\b
Examples:
    python studies/weitz/first_move.py
    python studies/weitz/first_move.py --preset paper
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.scripts.experiments import run_experiments

GAMES = {"quick": 40, "paper": 200, "tiny": 2}
TEXT = """Agents play themselves. Weitz 2022 sees the advantage of the first move in Ludii's wins, 81 of 100 as the
first player (figure 10), and names the swap rule as the remedy (3.3); neither is measured there between equals."""


def build(preset: str) -> list[Experiment]:
    scale = 100 if preset == "tiny" else 1
    sizes = [iterations // scale for iterations in (1000, 10_000, 25_000)]
    agents = {"random": "random"} | {f"MCTS, {size:,} iterations": f"mcts(iterations={size})" for size in sizes}
    rows = [
        Row(f"{label}, {rule}", game, (agent, agent), GAMES[preset], "first_seat_wins")
        for rule, game in (("no swap", "yavalath"), ("swap", "yavalath(swap=true)"))
        for label, agent in agents.items()
    ]
    return [Experiment("weitz", f"first-move-{preset}", "What the first move is worth", TEXT, tuple(rows))]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
