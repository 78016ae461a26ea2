"""How certain is MC, by the depth of its rollouts? Kutsch 2017, figure 6.

\b
Examples:
    python studies/kutsch/figure6.py                    scaled down, about a minute at most
    python studies/kutsch/figure6.py --preset paper     20 states a group, 20 searches each
"""

from __future__ import annotations

from settings import GROUPS, NOTE, STATES, curves, mc, means

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment

TEXT = """The same position is searched again and again; normalised certainty is 0 % where all legal actions are
chosen equally often, 100 % where it is always the same one. Positions are grouped by legal actions and empty cells, a
mean is one over groups. Rollouts of 20 moves make MC more certain than those of 200; it falls with the number of
empty cells, and hardly depends on the number of actions."""


def build(preset: str) -> list[Experiment]:
    agents = {"MC, depth 20": (mc(preset),), "MC, depth 200": (mc(preset, depth=200),)}
    rows = means(preset, agents, {"MC, depth 20": 75.09, "MC, depth 200": 69.83})
    text = TEXT + GROUPS + NOTE[preset]
    return [
        Experiment("kutsch", f"certainty-mc-{preset}", "Certainty of MC (figure 6)", text, tuple(rows)),
        Experiment(
            "kutsch",
            f"figure6-{preset}",
            "Certainty of MC by position (figure 6)",
            "The same, by legal actions and empty cells.",
            tuple(curves(preset, agents)),
            axis="empty cells",
        ),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, STATES)
