"""Can a network learn spe_ed from the probability tables? A wish of Brot 2021, 9.5: they as its inputs.

\b
Examples:
    python studies/brot/table_network.py                    some hundred games of training, small agents
    python studies/brot/table_network.py --preset paper     five trainings of 1,600 games, 200 games per row
    python studies/report.py spe_ed:network-on-tables --out docs/results/wishes    the page
"""

from __future__ import annotations

from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import LearnedRow, Learner, TrainingStudy
from turnier.studies.scripts.trained_experiments import run_training_studies

# Preset -> trainings, games of each, rollouts, nodes of minimax and of a table, side of the boards in cells, games with
# each network.
SIZES = {
    "quick": (1, 400, 100, 500, 16, 20),
    "paper": (5, 1600, 200, 2000, 20, 40),
    "tiny": (1, 4, 5, 100, 8, 1),
}
TEXT = """The document would give the probability tables to a neural network, since they hold where the others are, how
fast they are and where they head, with a second input for the cells that the player itself can visit, and doubts
whether it would learn the game. Here a network with a hidden layer of 48 values each move by the tables around its end,
the taken cells there, the sums of the own tree, the cells that are left and how everybody moves. It learns from
{trained:,} games against itself and plays the move with the best value, without search. *Without tables* is the same
network, and learning, without what the tables say. Shown are its points in both seats, a draw counting half, as means
over {trainings} trainings of each. {nodes:,} nodes of each table and of minimax and {rollouts} rollouts per move, on
boards of {side} x {side}."""


def build(preset: str) -> list[TrainingStudy]:
    trainings, trained, rollouts, nodes, side, games = SIZES[preset]
    board = f"spe_ed(width={side},height={side})"
    others = {
        "Basic": "basic",
        "Probability tables": f"tables(table_nodes={nodes})",
        "Minimax": f"minimax(nodes={nodes})",
        "Rollouts": f"rollouts(rollouts={rollouts})",
        "Combi": f"combi(rollouts={rollouts},nodes={nodes},table_nodes={nodes})",
    }
    rows = []
    for label, seen in {"with tables": nodes, "without tables": 0}.items():
        network = f"table_network(table_nodes={seen})"
        first, *further = (Learner(board, network, "outcomes", trained, seed=1 + i) for i in range(trainings))
        for name, agent in others.items():
            row = Row(f"{label}, against {name}", board, (agent,), games, "points")
            rows.append(LearnedRow(row, first, further=tuple(further)))
    text = TEXT.format(trained=trained, trainings=trainings, nodes=nodes, rollouts=rollouts, side=side)
    title = "A network on the probability tables (9.5)"
    return [TrainingStudy("spe_ed", f"network-on-tables-{preset}", title, text, rows)]


if __name__ == "__main__":
    run_training_studies(__doc__, build, SIZES)
