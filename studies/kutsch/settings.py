"""What the scripts of this folder share: Kutsch's agents as published, or scaled down for a laptop's minute.

Kutsch 2017, 3.3, 4.2 and 5.2: 1,000 iterations per action for MC, 3,500 in all for MCTS and MCTSE, 50 games a figure.
"""

from __future__ import annotations

GAMES = {"quick": 6, "paper": 50, "tiny": 1}
LESS = {"quick": 20, "paper": 1, "tiny": 300}  # iterations and nodes are divided by it
NOTE = {
    "quick": "\n\nThis is the quick preset: a twentieth of the thesis's iterations and few games, so only the shape"
    " can be compared, and loosely. The paper preset plays the thesis's own settings.",
    "paper": "",
    "tiny": "\n\nThis is the tests' preset: it says nothing.",
}


def mc(preset: str, iterations: int = 1000, depth: int = 20, method: int = 2) -> str:
    """Returns the thesis's MC agent; `iterations` are per action."""
    return f"mc(iterations={_less(iterations, preset)},rollout_depth={depth},score_method={method})"


def mcts(preset: str, tree_depth: int = 1, depth: int = 150) -> str:
    """Returns the thesis's MCTS agent, which freezes one outcome of chance per node."""
    settings = f"rollout_depth={depth},tree_depth={tree_depth},normalise=false,score_method=1"
    return f"mcts(iterations={_less(3500, preset)},{settings})"


def mctse(preset: str, iterations: int = 3500, maxnodes: int = 500, more: str = "") -> str:
    """Returns the thesis's MCTSE agent; `more` are further parameters, with a comma in front."""
    # UCTN normalises from the 100th iteration on, so fewer than 200 would not show it.
    least = 200 if preset == "quick" else 1
    return f"mctse(iterations={max(least, _less(iterations, preset))},maxnodes={_less(maxnodes, preset)}{more})"


def published(preset: str, value: float) -> float | None:
    """Returns a published figure where it can be compared: with the thesis's own settings only."""
    return value if preset == "paper" else None


def _less(number: int, preset: str) -> int:
    return max(1, number // LESS[preset])
