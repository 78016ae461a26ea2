"""Shared by the scripts of this folder: Kutsch's agents as published, or scaled down to a minute on a laptop.

Kutsch 2017, 3.3, 4.2 and 5.2: 1,000 iterations per action for MC, 3,500 in all for MCTS and MCTSE, 50 games per figure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row

DOCUMENT = "kutsch"
GAMES = {"quick": 4, "paper": 50, "tiny": 2}  # per row
PUBLISHED_GAMES = 50  # of a figure, where the thesis names no other number
DIVISOR = {"quick": 20, "paper": 1, "tiny": 200}  # of iterations and nodes
NOTE = {
    "quick": "\n\nThis is the quick preset: a twentieth of the thesis's iterations and few games, so only the shape"
    " can be compared, and loosely. The paper preset plays the thesis's own settings.",
    "paper": "",
    "tiny": "\n\nThis is the preset of the tests: its figures say nothing.",
}
UCT = ",selection=uct,exploration=0.0566"  # of MCTSE
# Kutsch 2017, 9.4: the best of the thesis.
HEURISTICS = "empty_method=1,empty1=0.7214,corner=0.4807,row_method=0,row0=0.4779,merge=0.8080,rollout=0.8435"
# Published mean scores. Stored definitions are compared as text, so the figures that stored floats still convert them.
MC_SCORE, MCTS_SCORE, UCTN_SCORE, UCT_SCORE = 51_521, 34_713, 56_989, 52_000


def scaled(number: int, preset: str) -> int:
    """Returns the thesis's number of iterations or nodes, scaled for a preset."""
    return max(1, number // DIVISOR[preset])


def mc(preset: str, iterations: int = 1000, depth: int = 20, method: int = 2) -> str:
    """Returns the thesis's MC agent; `iterations` are per action."""
    return f"mc(iterations={scaled(iterations, preset)},rollout_depth={depth},score_method={method})"


def mcts(preset: str, tree_depth: int = 1, depth: int = 150, iterations: int = 3500) -> str:
    """Returns the thesis's MCTS agent, which freezes one outcome of chance per node."""
    parameters = f"rollout_depth={depth},tree_depth={tree_depth},normalise=false,score_method=1"
    return f"mcts(iterations={scaled(iterations, preset)},{parameters})"


def mctse(preset: str, iterations: int = 3500, maxnodes: int = 500, more: str = "") -> str:
    """Returns the thesis's MCTSE agent; `more` are further parameters, with a comma in front."""
    return f"mctse(iterations={mctse_iterations(iterations, preset)},maxnodes={scaled(maxnodes, preset)}{more})"


def mctse_iterations(iterations: int, preset: str) -> int:
    """Returns MCTSE's iterations scaled for a preset: UCTN, which normalises from the 100th on, must stay UCTN."""
    return max(1 if preset == "tiny" else 120, scaled(iterations, preset))


def published(preset: str, figure: float | None) -> float | None:
    """Returns a published figure if it is comparable: only with the thesis's own settings."""
    return figure if preset == "paper" else None


def score(
    preset: str, label: str, agent: str, figure: float | None = None, games: int | None = None, **more: Any
) -> Row:
    """Returns the row of an agent's mean score, published as a mean of 50 games; `more` are further fields."""
    known = {"published_games": PUBLISHED_GAMES} | more if figure is not None else more
    return Row(label, "2048", (agent,), games or GAMES[preset], "score", published(preset, figure), **known)


def experiment(preset: str, name: str, title: str, text: str, rows: Iterable[Row], axis: str = "") -> Experiment:
    return Experiment(DOCUMENT, f"{name}-{preset}", title, text, tuple(rows), axis=axis)
