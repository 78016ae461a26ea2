"""Does knowledge of walls help Combi? Our adaptive_combi against Combi and every strategy, with two and six players.

\b
Examples:
    python studies/brot/adaptive.py                    small agents on small boards, 20 games per row
    python studies/brot/adaptive.py --preset paper     200 games per row
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.brot.constants import PAPER
from turnier.studies.scripts.experiments import run_experiments

# Preset -> rollouts, nodes of minimax, nodes of a table, side of the boards in cells, players of larger games, games.
SIZES = {"quick": (100, 500, 500, 16, 6, 20), "paper": (200, 2000, 2000, 20, 6, 200), "tiny": (5, 20, 100, 8, 3, 1)}
TEXT = """All have the same counts per move: {rollouts} rollouts, {nodes:,} nodes of minimax and {nodes:,} of each
table, on boards of {side} x {side}. `Brot 2021` is Combi with the constants of the document. adaptive_combi was chosen
with two players on boards of 20 x 20, on other seeds."""
TWO = "The share of games that adaptive_combi wins, in both seats; draws count as not won. "
MANY = """The share of games that the first strategy wins among the others, in all seats; its equal share is one in
the number of players. """


def build(preset: str) -> list[Experiment]:
    rollouts, nodes, table_nodes, side, players, games = SIZES[preset]
    counts = f"rollouts={rollouts},nodes={nodes},table_nodes={table_nodes}"
    ours = f"adaptive_combi({counts})"
    others = {
        "Combi": f"combi({counts})",
        "Brot 2021": f"combi({counts},{PAPER})",
        "Rollouts": f"rollouts(rollouts={rollouts})",
        "Minimax": f"minimax(nodes={nodes})",
        "Probability tables": f"tables(table_nodes={table_nodes})",
        "Basic": "basic",
    }
    board = f"spe_ed(width={side},height={side},players="
    two = [Row(f"against {label}", f"{board}2)", (ours, agent), games) for label, agent in others.items()]
    among = [
        Row(f"among {players - 1} {label}", f"{board}{players})", (ours, *(agent,) * (players - 1)), games)
        for label, agent in others.items()
    ]
    reverse = (others["Combi"], *(ours,) * (players - 1))
    among.insert(1, Row(f"Combi among {players - 1} adaptive_combi", f"{board}{players})", reverse, games))
    text = TEXT.format(rollouts=rollouts, nodes=nodes, side=side)
    duels = Experiment("spe_ed", f"adaptive-two-{preset}", "In duels", TWO + text, tuple(two), seed=20)
    return [duels, Experiment("spe_ed", f"adaptive-many-{preset}", "Among many", MANY + text, tuple(among), seed=21)]


if __name__ == "__main__":
    run_experiments(__doc__, build, SIZES)
