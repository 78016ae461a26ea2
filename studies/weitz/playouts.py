"""Which playouts and which selection make MCTS a stronger opponent? A wish of Weitz 2022, 5.1: learned features.

\b
Examples:
    python studies/weitz/playouts.py                    small searches, 20 games per row
    python studies/weitz/playouts.py --preset paper     200 games per row
    python studies/report.py weitz:playouts --out docs/results/wishes    the page
"""

from __future__ import annotations

from typing import NamedTuple

from turnier.runs.experiments.row import Row
from turnier.runs.experiments.trained import GREEDY, LearnedRow, Learner, TrainingStudy
from turnier.studies.scripts.trained_experiments import run_training_studies


class Scale(NamedTuple):
    """What a preset can afford."""

    iterations: int  # a move
    milliseconds: int
    trained: int  # games of a network
    games: int  # of a row


PRESETS = {
    "quick": Scale(200, 5, 5_000, 20),
    "paper": Scale(500, 10, 60_000, 200),
    "tiny": Scale(5, 1, 20, 2),
}
GAMES = {"Yavalath": "yavalath", "Hex 7x7": "hex(size=7)"}
AGENTS = {  # label -> agent, but for its budget
    "GRAVE": "grave({budget},mast=0.0)",
    "MAST": "grave({budget},selection=uct,exploration=1.414,final=max)",
    "GRAVE and MAST": "grave({budget})",
    "learned playouts": "mcts({budget},evaluator=learned_rollout(network={network},randomness=0.6))",
}
PLAIN = "mcts({budget})"
STRONG = "mcts({budget},solver=true,forced_depth=8)"
TEXT = """The thesis wants a stronger opponent for its learners where Ludii is missing, and names MCTS with learned
features. *GRAVE* selects by how an action went wherever it was played later, *MAST* plays the moves of playouts by
their means, and *learned playouts* lead to the best afterstates of an n-tuple network, except for six random moves in
ten; the network has learned from {trained:,} games. Shown are the points against plain `mcts`, in both seats, with
{budget} a move for both."""
OTHERS = """ The last rows have other opponents: the network is played greedily, and MCTS has a solver and threat
sequences."""


def learner(game: str, scale: Scale) -> Learner:
    learning = "td(alpha=1.0,alpha_end=0.6,epsilon=0.3,epsilon_end=0.1,once=true,tanh=true,beta=2.7)"
    return Learner(game, "ntuple(tuples=20,length=6)", learning, scale.trained)


def row(label: str, game: str, agents: tuple[str, str], budget: str, scale: Scale) -> LearnedRow | Row:
    """Returns the row of two agents, the first of which may play with the network."""
    first, second = agents[0].replace("{budget}", budget), agents[1].replace("{budget}", budget)
    if "{network}" in first:
        return LearnedRow(Row(label, game, (second,), scale.games, "points"), learner(game, scale), agent=first)
    return Row(label, game, (first, second), scale.games, "points")


def against_plain(budget: str, scale: Scale) -> list[LearnedRow | Row]:
    """Returns a row for each game and agent."""
    return [
        row(f"{place}, {label}", game, (agent, PLAIN), budget, scale)
        for place, game in GAMES.items()
        for label, agent in AGENTS.items()
    ]


def build(preset: str) -> list[TrainingStudy]:
    scale = PRESETS[preset]
    by_time, by_iterations = f"milliseconds={scale.milliseconds}", f"iterations={scale.iterations}"
    others = {
        "the network against plain MCTS": (GREEDY, PLAIN),
        "the network against GRAVE": (GREEDY, AGENTS["GRAVE"]),
        "GRAVE against solver and threats": (AGENTS["GRAVE"], STRONG),
    }
    rows = against_plain(by_time, scale)
    rows += [row(f"Yavalath, {label}", GAMES["Yavalath"], pair, by_time, scale) for label, pair in others.items()]
    text = TEXT.format(trained=scale.trained, budget=f"{scale.milliseconds} ms") + OTHERS
    title = "Learned playouts, GRAVE and MAST in equal time (5.1)"
    timed = TrainingStudy("weitz", f"playouts-{preset}", title, text, rows)
    text = TEXT.format(trained=scale.trained, budget=f"{scale.iterations:,} iterations")
    title, rows = title.replace("in equal time", "with equal iterations"), against_plain(by_iterations, scale)
    return [timed, TrainingStudy("weitz", f"playouts-by-iterations-{preset}", title, text, rows)]


if __name__ == "__main__":
    run_training_studies(__doc__, build, PRESETS)
