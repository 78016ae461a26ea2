"""Which agent is best at Yavalath with the thesis's iterations? In all roles, and from every first stone.

\b
Examples:
    python studies/weitz/opponents.py
    python studies/weitz/opponents.py --preset paper
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.scripts.experiments import run_experiments

GAMES = {"quick": 20, "paper": 200, "tiny": 2}
TEXT = """All play MCTS1 of the thesis (table 3: UCT, {iterations:,} iterations), the opponent of its training curves.
*DiffStarts* (B.1): from the empty board and from every position after the first stone, in both seat orders."""


def build(preset: str) -> list[Experiment]:
    scale = 100 if preset == "tiny" else 1
    games, iterations = GAMES[preset], 10_000 // scale
    mcts1 = f"mcts(iterations={iterations})"
    opponents = {
        "random": "random",
        "Max-N, 2 plies": "maxn(depth=2)",
        "alpha-beta, 4 plies, threat sequences": "alphabeta(depth=4,forced_depth=8)",
        f"MCTS, {1000 // scale:,} iterations": f"mcts(iterations={1000 // scale})",
        f"MCTS, {iterations:,} iterations, solver": f"mcts(iterations={iterations},solver=true)",
        f"MCTS, {iterations:,} iterations, solver, threat sequences": (
            f"mcts(iterations={iterations},solver=true,forced_depth=8)"
        ),
    }
    rows = [Row(label, "yavalath", (agent, mcts1), games) for label, agent in opponents.items()]
    rows.append(
        Row(
            "MCTS, 1/10 of the iterations, DiffStarts",
            "yavalath",
            (f"mcts(iterations={iterations // 10})", mcts1),
            2,
            openings=1,
        )
    )
    text = TEXT.format(iterations=iterations)
    return [Experiment("weitz", f"opponents-{preset}", "Against MCTS1", text, tuple(rows))]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
