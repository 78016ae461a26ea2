"""How much should MCTSE explore? Kutsch 2017, figure 13.

\b
Examples:
    python studies/kutsch/figure13.py                    scaled down, about a minute at most
    python studies/kutsch/figure13.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

UCT, UCTN = (0.0141, 0.0566, 0.2, 1.4142), (0.2, 0.7, 1.4142135623730951, 4.0)
TEXT = """UCTN divides values by the best rollout, so its best K is the usual sqrt 2 whatever the score; UCT's values
are tiny shares of 3,932,156 points, and its best K is about 0.0566, which acts at 50,000 points as sqrt 2 does for
UCTN."""


def build(preset: str) -> list[Experiment]:
    rows = [
        Row(
            f"{selection.upper()}, K = {k:.4g}",
            "2048",
            (mctse(preset, more=f",selection={selection},exploration={k}"),),
            GAMES[preset],
            "score",
            published(preset, best) if k == at else None,
            x=k,
            series=selection.upper(),
        )
        for selection, values, best, at in (("uctn", UCTN, 56_989, UCTN[2]), ("uct", UCT, 52_000, UCT[1]))
        for k in values
    ]
    title, axis = "MCTSE by exploration (figure 13)", "K"
    return [Experiment("kutsch", f"figure13-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis=axis)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
