"""Do the probability tables gain by the others' habits? A wish of Brot 2021, 9.3: moves seen before are likelier.

\b
Examples:
    python studies/brot/habits.py                    small agents on small boards, 20 games per row
    python studies/brot/habits.py --preset paper     200 games per row
    python studies/report.py spe_ed:habits-in-tables --out docs/results/wishes    the page
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.brot.constants import PAPER
from turnier.studies.scripts.experiments import run_experiments

# Preset -> rollouts, nodes of minimax and of a table, side of the boards in cells, games.
SIZES = {"quick": (100, 500, 16, 20), "paper": (200, 2000, 20, 200), "tiny": (5, 100, 8, 1)}
STRENGTHS = (0.3, 1.0, 3.0)
TEXT = """The tables take all moves of the others as equally likely. The document would rather have those likelier that
a player has made before, and warns that a wrong forecast may cost more than it gains. With `habits=h` a kind of move of
another player counts once, and h times for each such move in this match. Shown are the points of the agent with habits
in both seats, a draw counting half, against the same agent without them and against others. {nodes:,} nodes of each
table and of minimax and {rollouts} rollouts per move, on boards of {side} x {side}."""


def build(preset: str) -> list[Experiment]:
    rollouts, nodes, side, games = SIZES[preset]
    counts = f"rollouts={rollouts},nodes={nodes},table_nodes={nodes}"
    board = f"spe_ed(width={side},height={side})"
    tables, combi = f"tables(table_nodes={nodes}", f"combi({counts}"
    brot = f"combi({counts},{PAPER}"
    duels = {f"tables, habits {h:g}, against tables": (f"{tables},habits={h})", f"{tables})") for h in STRENGTHS}
    duels |= {
        "tables against Basic": (f"{tables})", "basic"),
        "tables, habits 1, against Basic": (f"{tables},habits=1.0)", "basic"),
        "Brot 2021, habits 1, against Brot 2021": (f"{brot},habits=1.0)", f"{brot})"),
        "Combi, habits 1, against Combi": (f"{combi},habits=1.0)", f"{combi})"),
    }
    rows = tuple(Row(label, board, agents, games, "points") for label, agents in duels.items())
    text = TEXT.format(nodes=nodes, rollouts=rollouts, side=side)
    title = "Habits of the others in the probability tables (9.3)"
    return [Experiment("spe_ed", f"habits-in-tables-{preset}", title, text, rows, seed=22)]


if __name__ == "__main__":
    run_experiments(__doc__, build, SIZES)
