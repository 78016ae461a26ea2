"""Shared by the studies of Brot 2021: boards and agents, as large as a preset can afford."""

from __future__ import annotations

# Preset -> rollouts, nodes of minimax, nodes of a table, side of the boards in cells, games per row.
SIZES = {"quick": (200, 1000, 2000, 20, 20), "paper": (400, 4000, 5000, 30, 100), "tiny": (5, 20, 100, 8, 1)}
# Combi's constants of the document (5 and 7).
PAPER = (
    "filter_value=0.69,start_probability=2.0,minimax_activation=0.001,minimax_slack=0,minimax_weight=0,table_weight=0.5,"
    "territory=0,vary=0,minimax_distance=20"
)
NOTE = {
    "quick": "\n\nSmaller than published: few rollouts and nodes, boards of 20 x 20.",
    "paper": "\n\nThe document's agents have a second for each move, ours counts, so that games repeat: 400 rollouts,\n"
    "4,000 nodes of minimax and 5,000 of each table, on boards of 30 x 30.",
    "tiny": "\n\nFar smaller than published, only to see that everything works.",
}


def game(preset: str, players: int) -> str:
    side = SIZES[preset][3]
    return f"spe_ed(width={side},height={side},players={players})"


def combi(preset: str) -> str:
    """Returns Combi with our constants, which `tuning.py` found."""
    rollouts, nodes, table_nodes, *_ = SIZES[preset]
    return f"combi(rollouts={rollouts},nodes={nodes},table_nodes={table_nodes})"


def combi_of_brot(preset: str) -> str:
    """Returns Combi with the constants of the document."""
    return f"{combi(preset)[:-1]},{PAPER})"


def strategies(preset: str) -> dict[str, str]:
    """Returns the single strategies of the document by label."""
    rollouts, nodes, table_nodes, *_ = SIZES[preset]
    return {
        "Basic": "basic",
        "Rollouts": f"rollouts(rollouts={rollouts})",
        "Minimax": f"minimax(nodes={nodes})",
        "Probability tables": f"tables(table_nodes={table_nodes})",
    }
