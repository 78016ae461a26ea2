"""Are the published constants of Combi the best? Others against them, one constant at a time. Brot 2021, 7.

\b
Examples:
    python studies/brot/optima.py                    small agents on small boards, 20 games per row
    python studies/brot/optima.py --preset paper     200 games per row
"""

from __future__ import annotations

from dataclasses import replace

from turnier.agents.registry import make_agent
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.brot.constants import NOTE, SIZES, combi_of_brot, game
from turnier.studies.scripts.experiments import run_experiments

# Our parameter, the document's name, the optimum of its third round, and the others that are tried.
CONSTANTS = (
    ("filter_value", "filterValue", 0.69, (0.4, 0.55, 0.85, 1.0)),
    ("start_probability", "myStartProbability", 1.2, (0.5, 1.0, 2.2, 3.5)),
    ("minimax_activation", "minimaxActivationValue", 0.001, (0.0, 0.005, 0.02)),
)
TEXT = """In rounds of a few values of three constants, over some 450 games of Combi against itself, the share of won
games was highest with a filterValue of 0.69, a myStartProbability of 1.2 and a minimaxActivationValue of 0.001; none of
these games is published. Here Combi has these three, and meets itself with one of them changed. Shown are the points of
the changed one in both seats, a draw counting half."""


def build(preset: str) -> list[Experiment]:
    games = 2 * SIZES[preset][4] if preset == "paper" else SIZES[preset][4]
    best = replace(make_agent(combi_of_brot(preset)), **{ours: optimum for ours, _, optimum, _ in CONSTANTS})
    rows = tuple(
        Row(f"{name} {value:g}", game(preset, 2), (str(replace(best, **{ours: value})), str(best)), games, "points")
        for ours, name, _, others in CONSTANTS
        for value in others
    )
    return [Experiment("brot", f"optima-{preset}", "The constants of Combi, changed", TEXT + NOTE[preset], rows)]


if __name__ == "__main__":
    run_experiments(__doc__, build, SIZES)
