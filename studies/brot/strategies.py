"""Which strategy of spe_ed is the best? Each against Combi, with two players, and among six.

\b
Examples:
    python studies/brot/strategies.py                    scaled down, some minutes on two cores
    python studies/brot/strategies.py --preset paper     100 games a row
"""

from __future__ import annotations

from settings import NOTE, SIZES, combi, game, strategies

from turnier.experiment_command import run_experiments
from turnier.results.experiment import Experiment, Row

# Brot 2021, 6: about, of 100 games each; the others are only said to be between.
PUBLISHED = {"Minimax": 12.0, "Probability tables": 12.0}
TWO = """The share of games that a strategy wins against Combi, in both seats. Published are 100 games each:
Minimax and the tables win about 12 %, the rollouts are the best of the rest, Basic is the worst."""
SIX = """The share of games that the first strategy wins among five of the other, in all seats; one in six,
16.7 %, is what equals win, less the games that nobody wins."""


def build(preset: str) -> list[Experiment]:
    best, games = combi(preset), SIZES[preset][4]
    against = [
        Row(label, game(preset, 2), (agent, best), games, "win_rate", PUBLISHED.get(label))
        for label, agent in strategies(preset).items()
    ]
    among, players = [], 3 if preset == "tiny" else 6
    for label, agent in strategies(preset).items():
        others = players - 1
        among.append(Row(f"Combi among {others} {label}", game(preset, players), (best, *(agent,) * others), games))
        among.append(Row(f"{label} among {others} Combi", game(preset, players), (agent, *(best,) * others), games))
    return [
        Experiment("brot", f"duels-{preset}", "Strategies against Combi", TWO + NOTE[preset], tuple(against)),
        Experiment("brot", f"six-{preset}", "One among six", SIX + NOTE[preset], tuple(among)),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, SIZES)
