"""How many nodes should MCTSE's tree have? Kutsch 2017, figure 12.

\b
Examples:
    python studies/kutsch/figure12.py                    scaled down, about a minute at most
    python studies/kutsch/figure12.py --preset paper     50 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

MAXNODES = (250, 500, 1000, 2000, 4000)
SELECTIONS = {"UCTN": "", "UCT": ",selection=uct,exploration=0.0566"}
TEXT = """UCTN was best with 500 nodes and worst with 1,000; UCT had *always rather exactly 52,000 points* with 500,
1,000, 2,000, 3,000 and 4,000, and less with 250. The thesis takes its own dips for an anomaly, and its means of 50
games are uncertain by about 5,000 points."""


def build(preset: str) -> list[Experiment]:
    known = {("UCT", n): 52_000.0 for n in (500, 1000, 2000, 4000)} | {("UCTN", 500): 56_989.0}
    rows = [
        Row(
            f"{selection}, {maxnodes:,} nodes",
            "2048",
            (mctse(preset, maxnodes=maxnodes, more=more),),
            GAMES[preset],
            "score",
            published(preset, known[selection, maxnodes]) if (selection, maxnodes) in known else None,
            x=maxnodes,
            series=selection,
        )
        for selection, more in SELECTIONS.items()
        for maxnodes in MAXNODES
    ]
    title, axis = "MCTSE by nodes (figure 12)", "action nodes at most"
    return [Experiment("kutsch", f"figure12-{preset}", title, TEXT + NOTE[preset], tuple(rows), axis=axis)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
