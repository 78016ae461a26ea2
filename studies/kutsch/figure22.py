"""How deep do rollouts really go in the course of a game? Kutsch 2017, figure 22 and 9.3.

\b
Examples:
    python studies/kutsch/figure22.py                    scaled down, about a minute at most
    python studies/kutsch/figure22.py --preset paper     every stretch of 25 moves in ten games
"""

from __future__ import annotations

from settings import NOTE, mc

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

GAMES = {"quick": 3, "paper": 10}
STRETCHES = {"quick": range(50, 751, 100), "paper": range(25, 2201, 25)}
STATES = {"quick": 5, "paper": 20}  # positions of a stretch
TEXT = """The mean number of moves that a random rollout lasts, without a limit, from the actions of positions in
games of MC. The thesis shows one game of about 80,000 points: about threefold jumps, from under 20 to over 60, when
1,024, 2,048 and 4,096 are built (moves 475, 950 and 1,900): then the board is empty again. In tight positions,
where a move decides, rollouts are short."""


def build(preset: str) -> list[Experiment]:
    stretches = STRETCHES[preset]
    probe = f"mc(iterations={20 if preset == 'paper' else 5},rollout_depth=10000,evaluator=rollout_length)"
    rows = [
        Row(
            f"moves {at - stretches.step // 2} to {at + stretches.step // 2}",
            "2048",
            (probe,),
            GAMES[preset],
            "mean_value",
            x=at,
            states=STATES[preset],
            repeats=2,
            collector=mc(preset),
            moves=(at - stretches.step // 2, at + stretches.step // 2),
        )
        for at in stretches
    ]
    title = "Used rollout depth in a game (figure 22)"
    return [Experiment("kutsch", f"figure22-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis="move")]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
