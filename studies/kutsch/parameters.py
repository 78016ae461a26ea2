"""What does each parameter of MC, MCTS and MCTSE do to the score? Kutsch 2017, figures 4, 5, 8, 11 to 13, 15 and 21.

\b
Examples:
    python studies/kutsch/parameters.py                     scaled down, about a minute per figure
    python studies/kutsch/parameters.py --only figure11     one figure
    python studies/kutsch/parameters.py --preset paper      50 games per row
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.thesis import (
    GAMES,
    MC_SCORE,
    MCTS_SCORE,
    NOTE,
    UCT,
    UCT_SCORE,
    UCTN_SCORE,
    experiment,
    mc,
    mcts,
    mctse,
    scaled,
    score,
)
from turnier.studies.scripts.experiments import run_experiments

ITERATIONS = """\
MC with rollouts of 20 moves: more iterations always improved the score, with ever less gain. Of the figure
only the value at 1,000 iterations is printed."""
MC_DEPTHS = """\
MC with 1,000 iterations per action: the best depth is *about 20*; deeper rollouts spread over too many
futures. Only the best value is printed."""
MCTS_TREE_DEPTHS = """\
MCTS freezes one outcome of chance in every node, so the deeper its tree, the more it believes in tiles
that will not come: a tree depth of 1 was best. Only that value is printed."""
TREE_DEPTHS = """\
Unlike MCTS, whose tree is wrong, MCTSE loses nothing with a deeper tree; beyond extremes the tree depth
did not matter, since the limit of 500 nodes ends its growth first."""
MAXNODES = """\
UCTN was best with 500 nodes and worst with 1,000; UCT had *always rather exactly 52,000 points* with 500,
1,000, 2,000, 3,000 and 4,000, and less with 250. The thesis takes its own dips for an anomaly, and its means of 50
games are uncertain by about 5,000 points."""
EXPLORATION = """\
UCTN divides values by the best rollout, so its best K is the usual sqrt 2 whatever the score; UCT's values
are tiny shares of 3,932,156 points, and its best K is about 0.0566, which acts at 50,000 points as sqrt 2 does for
UCTN."""
DEPTHS = """\
MC is best near 20 and by far the best with shallow rollouts; MCTS and MCTSE are best near 150. MC is
played with method 2 and the tree searches with method 1 (see *MC, MCTS and MCTSE*); MCTS has a tree depth of 10
here."""
METHODS = """\
A rollout is worth its share of the highest possible score; method 2 takes 1 off where the game ended in
it. With rollouts of 20 moves method 2 is clearly better, with 200, where nearly all of them end, there is no
difference."""
FEWER = """\
The thesis compares the two game scores with 1,000 iterations an action only. Rollouts have 20 moves here. With fewer
iterations method 1 is better, with 1,000 there is no difference: so it is the default of `mc`."""


def curve(
    preset: str,
    label: str,
    values: Sequence[Any],
    agent: Callable[[Any], str],
    figures: Mapping[Any, float],
    series: str = "",
    played: Callable[[Any], Any] = lambda value: value,
) -> list[Row]:
    """Returns a row per value; `label` is a pattern for the value, `figures` holds the published scores.

    `played` scales a value of the thesis for the preset.
    """
    shown = [(value, played(value)) for value in values]
    return [score(preset, label.format(x), agent(value), figures.get(value), x=x, series=series) for value, x in shown]


def figure4(preset: str) -> Experiment:
    """Do more iterations always help MC?"""
    values = (100, 250, 500, 1000, 2000, 5000)  # per action
    figures = {1000: MC_SCORE}
    rows = curve(
        preset, "{:,} iterations", values, lambda n: mc(preset, n), figures, played=partial(scaled, preset=preset)
    )
    title, axis = "MC by iterations (figure 4)", "iterations per action"
    return experiment(preset, "figure4", title, ITERATIONS + NOTE[preset], rows, axis)


def figure5(preset: str) -> Experiment:
    """How deep should MC's rollouts be?"""
    values = (5, 10, 20, 40, 100, 200)
    rows = curve(preset, "depth {}", values, lambda depth: mc(preset, depth=depth), {20: MC_SCORE})
    title, axis = "MC by rollout depth (figure 5)", "moves of a rollout at most"
    return experiment(preset, "figure5", title, MC_DEPTHS + NOTE[preset], rows, axis)


def figure8(preset: str) -> Experiment:
    """How deep should the tree of MCTS be?"""
    rows = curve(preset, "tree depth {}", (1, 2, 3, 5, 10), lambda depth: mcts(preset, depth), {1: MCTS_SCORE})
    title = "MCTS by tree depth (figure 8)"
    return experiment(preset, "figure8", title, MCTS_TREE_DEPTHS + NOTE[preset], rows, "tree depth")


def figure11(preset: str) -> Experiment:
    """Does MCTSE need a deep tree, and does a shallow one hurt?"""
    series: dict[str, tuple[Callable[[int], str], dict[int, float]]] = {
        "MCTSE, UCTN": (lambda depth: mctse(preset, more=f",tree_depth={depth}"), {10: float(UCTN_SCORE)}),
        "MCTSE, UCT": (lambda depth: mctse(preset, more=f",tree_depth={depth}{UCT}"), {10: float(UCT_SCORE)}),
        "MCTS": (lambda depth: mcts(preset, depth), {1: float(MCTS_SCORE)}),
    }
    rows = [
        row
        for name, (agent, figures) in series.items()
        for row in curve(preset, name + ", tree depth {}", (1, 2, 5, 10), agent, figures, name)
    ]
    title = "MCTSE by tree depth (figure 11)"
    return experiment(preset, "figure11", title, TREE_DEPTHS + NOTE[preset], rows, "tree depth")


def figure12(preset: str) -> Experiment:
    """How many nodes should MCTSE's tree have?"""
    series = {
        "UCTN": ("", {500: float(UCTN_SCORE)}),
        "UCT": (UCT, dict.fromkeys((500, 1000, 2000, 4000), float(UCT_SCORE))),
    }
    rows = []
    for name, (more, figures) in series.items():

        def agent(maxnodes: int, more: str = more) -> str:
            return mctse(preset, maxnodes=maxnodes, more=more)

        values = (250, 500, 1000, 2000, 4000)
        rows += curve(
            preset, name + ", {:,} nodes", values, agent, figures, name, played=partial(scaled, preset=preset)
        )
    title, axis = "MCTSE by nodes (figure 12)", "action nodes at most"
    return experiment(preset, "figure12", title, MAXNODES + NOTE[preset], rows, axis)


def figure13(preset: str) -> Experiment:
    """How much should MCTSE explore?"""
    series = {
        "UCTN": ((0.2, 0.7, 1.4142135623730951, 4.0), {1.4142135623730951: UCTN_SCORE}),
        "UCT": ((0.0141, 0.0566, 0.2, 1.4142), {0.0566: UCT_SCORE}),
    }
    rows = []
    for name, (values, figures) in series.items():

        def agent(k: float, selection: str = name.lower()) -> str:
            return mctse(preset, more=f",selection={selection},exploration={k}")

        rows += curve(preset, name + ", K = {:.4g}", values, agent, figures, name)
    title = "MCTSE by exploration (figure 13)"
    return experiment(preset, "figure13", title, EXPLORATION + NOTE[preset], rows, "K")


def figure15(preset: str) -> Experiment:
    """How deep should rollouts be for each agent?"""
    series: dict[str, tuple[Callable[[int], str], dict[int, float]]] = {
        "MC": (lambda depth: mc(preset, depth=depth), {20: float(MC_SCORE)}),
        "MCTS": (lambda depth: mcts(preset, 10, depth), {}),
        "MCTSE": (lambda depth: mctse(preset, more=f",rollout_depth={depth}"), {150: float(UCTN_SCORE)}),
    }
    rows = [
        row
        for name, (agent, figures) in series.items()
        for row in curve(preset, name + ", depth {}", (5, 20, 50, 150, 300), agent, figures, name)
    ]
    title, axis = "The agents by rollout depth (figure 15)", "moves of a rollout at most"
    return experiment(preset, "figure15", title, DEPTHS + NOTE[preset], rows, axis)


def figure21(preset: str) -> Experiment:
    """Should the end of a game be penalised? The two game scores of 9.2."""
    rows = [
        score(
            preset,
            f"depth {depth}, method {method}",
            mc(preset, depth=depth, method=method),
            MC_SCORE if (depth, method) == (20, 2) else None,
        )
        for depth in (20, 200)
        for method in (1, 2)
    ]
    return experiment(preset, "figure21", "MC by game score (figure 21)", METHODS + NOTE[preset], rows)


def methods_by_iterations(preset: str) -> Experiment:
    """Does the penalty of figure 21 help with fewer iterations, too?"""
    games = {50: 8, 200: 8, 1000: 4}  # times those of a figure
    rows = [
        score(
            preset,
            f"{iterations:,} iterations, method {method}",
            mc(preset, iterations, method=method),
            games=times * GAMES[preset],
            x=scaled(iterations, preset),
            series=f"method {method}",
        )
        for method in (1, 2)
        for iterations, times in games.items()
    ]
    title, axis = "MC by game score and iterations (beyond figure 21)", "iterations per action"
    return experiment(preset, "methods-by-iterations", title, FEWER + NOTE[preset], rows, axis)


def build(preset: str) -> list[Experiment]:
    figures = (figure4, figure5, figure8, figure11, figure12, figure13, figure15, figure21, methods_by_iterations)
    return [figure(preset) for figure in figures]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
