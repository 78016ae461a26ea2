"""What the scripts of this folder share: Kutsch's agents as published, or scaled down for a laptop's minute.

Kutsch 2017, 3.3, 4.2 and 5.2: 1,000 iterations per action for MC, 3,500 in all for MCTS and MCTSE, 50 games a figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnier.runs.experiment import Row

GAMES = {"quick": 4, "paper": 50}
LESS = {"quick": 20, "paper": 1}  # iterations and nodes are divided by it
# Positions of a group, searches of each, and the games that they are collected from (9.1: 20 and 20).
STATES = {"quick": (3, 6, 8), "paper": (20, 20, 50)}
PHASES = {"quick": (2, 4, 6), "paper": (1, 2, 3, 4, 6, 8, 10)}  # empty cells of the figures' curves
GROUPS = """ The thesis does not say which numbers of empty cells its mean goes over; since certainty falls so much with
them, the mean over all of them says less than that over positions with at most six."""
NOTE = {
    "quick": "\n\nThis is the quick preset: a twentieth of the thesis's iterations and few games, so only the shape"
    " can be compared, and loosely. The paper preset plays the thesis's own settings.",
    "paper": "",
}


def mc(preset: str, iterations: int = 1000, depth: int = 20, method: int = 2) -> str:
    """Returns the thesis's MC agent; `iterations` are per action."""
    return f"mc(iterations={_less(iterations, preset)},rollout_depth={depth},score_method={method})"


def mcts(preset: str, tree_depth: int = 1, depth: int = 150, iterations: int = 3500) -> str:
    """Returns the thesis's MCTS agent, which freezes one outcome of chance per node."""
    settings = f"rollout_depth={depth},tree_depth={tree_depth},normalise=false,score_method=1"
    return f"mcts(iterations={_less(iterations, preset)},{settings})"


def mctse(preset: str, iterations: int = 3500, maxnodes: int = 500, more: str = "") -> str:
    """Returns the thesis's MCTSE agent; `more` are further parameters, with a comma in front."""
    # UCTN normalises from the 100th iteration on; with fewer it would be UCT.
    return f"mctse(iterations={max(120, _less(iterations, preset))},maxnodes={_less(maxnodes, preset)}{more})"


def by_actions(agent: Callable[[int], str]) -> tuple[str, ...]:
    """Returns an agent for positions with two, three and four legal actions, as 4.2 does where it takes certainty."""
    return tuple(agent(1000 * actions) for actions in (2, 3, 4))


def certainty(
    preset: str, label: str, agents: tuple[str, ...], figure: float | None, share: int = 1, **place: Any
) -> Row:
    """Returns a row of certainty; `share` divides the states of a group, `place` says where it lies on a plot."""
    states, repeats, games = STATES[preset]
    wanted = None if figure is None else published(preset, figure)
    agents = agents if len(set(agents)) > 1 else agents[:1]
    return Row(
        label,
        "2048",
        agents,
        games,
        "normalised_certainty",
        wanted,
        states=-(-states // share),
        repeats=repeats,
        **place,
    )


def means(preset: str, agents: dict[str, tuple[str, ...]], figures: dict[str, float], share: int = 1) -> list[Row]:
    """Returns the rows of a table of certainty: over all positions, and over those with at most six empty cells."""
    return [
        certainty(preset, label + where, agent, figures.get(label), share, **place)
        for where, place in (("", {}), (", at most 6 empty cells", {"phases": (0, 6)}))
        for label, agent in agents.items()
    ]


def curves(preset: str, series: dict[str, tuple[str, ...]]) -> list[Row]:
    """Returns the rows of a certainty figure: by empty cells, one line per agent and number of actions."""
    return [
        certainty(
            preset,
            f"{label}, {actions} actions, {empty} empty",
            agents,
            None,
            x=empty,
            series=f"{label}, {actions} actions",
            legal=actions,
            phases=(empty, empty),
        )
        for label, agents in series.items()
        for actions in (2, 3, 4)
        for empty in PHASES[preset]
    ]


def published(preset: str, value: float) -> float | None:
    """Returns a published figure where it can be compared: with the thesis's own settings only."""
    return value if preset == "paper" else None


def _less(number: int, preset: str) -> int:
    return max(1, number // LESS[preset])
