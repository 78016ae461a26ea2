"""Beyond the thesis: Yavalath for three. Who wins, by strength and by seat?

\b
Examples:
    python studies/weitz/three_players.py
    python studies/weitz/three_players.py --preset paper
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.scripts.experiments import run_experiments

GAMES = {"quick": 30, "paper": 150, "tiny": 6}
TEXT = """Weitz 2022 leaves the game for three open. *In all roles*: the three agents play every order of seats equally
often. A third of the games is what equals win."""


def build(preset: str) -> list[Experiment]:
    scale = 100 if preset == "tiny" else 1
    game = "yavalath(players=3)"
    few, some, many = (iterations // scale for iterations in (300, 3000, 10_000))
    weak, middle, strong = (f"mcts(iterations={iterations})" for iterations in (few, some, many))
    fields = {
        f"MCTS {many:,} against {some:,} and {few:,}": (strong, middle, weak),
        f"MCTS {some:,} against {many:,} and {few:,}": (middle, strong, weak),
        f"MCTS {few:,} against {many:,} and {some:,}": (weak, strong, middle),
        f"Max-N, 2 plies, against MCTS {few:,} and random": ("maxn(depth=2)", weak, "random"),
    }
    strength = tuple(Row(label, game, agents, GAMES[preset]) for label, agents in fields.items())
    seats = tuple(
        Row(f"{place} seat, MCTS {some:,} against itself", game, (middle,) * 3, GAMES[preset], f"{place}_seat_wins")
        for place in ("first", "second", "third")
    )
    return [
        Experiment("weitz", f"three-players-{preset}", "Three players: strength", TEXT, strength),
        Experiment("weitz", f"three-seats-{preset}", "Three players: what a seat is worth", TEXT, seats),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
