"""How deep should MC's rollouts be? Kutsch 2017, figure 5.

\b
Examples:
    python studies/kutsch/figure5.py                    scaled down, about a minute at most
    python studies/kutsch/figure5.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mc, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

DEPTHS = (5, 10, 20, 40, 100, 200)
TEXT = """MC with 1,000 iterations per action: the best depth is *about 20*; deeper rollouts spread over too many
futures. Only the best value is printed."""


def build(preset: str) -> list[Experiment]:
    rows = [
        Row(
            f"depth {depth}",
            "2048",
            (mc(preset, depth=depth),),
            GAMES[preset],
            "score",
            published(preset, 51_521) if depth == 20 else None,
            x=depth,
        )
        for depth in DEPTHS
    ]
    title, axis = "MC by rollout depth (figure 5)", "moves of a rollout at most"
    return [Experiment("kutsch", f"figure5-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis=axis)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
