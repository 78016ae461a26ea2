"""How certain are searches, how do they spread their visits, and how long are rollouts? Kutsch 2017, table 1,
figures 6, 14 and 22 to 24.

\b
Examples:
    python studies/kutsch/certainty.py                    scaled down, about a minute per figure
    python studies/kutsch/certainty.py --only figure6     one figure
    python studies/kutsch/certainty.py --preset paper     20 states per group, 20 searches each
"""

from __future__ import annotations

from collections.abc import Callable

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.published import OTHER
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.certainty_rows import GROUPS, STATES, curves, lines, looked_at, means
from turnier.studies.kutsch.thesis import NOTE, experiment, mc, mcts, mctse, published
from turnier.studies.scripts.experiments import run_experiments

MC = """The same position is searched again and again; normalised certainty is 0 % if all legal actions are
chosen equally often, 100 % if it is always the same one. Positions are grouped by legal actions and empty cells, a
mean is one over groups. Rollouts of 20 moves make MC more certain than those of 200, and it falls with the number of
empty cells."""
ACTIONS = """In the thesis certainty hardly depends on the number of actions; here it falls with it. Each mean is one
over the same numbers of empty cells, from one to eight: more actions are legal on emptier boards, so that means over
all positions would compare boards."""
TREES = """As in the thesis, every agent makes 1,000 iterations per legal action here. A deeper tree makes MCTS less
certain, since every search freezes other outcomes of chance; MCTSE, whose tree holds them all, is much more certain."""
VISITS = """How a search spreads its 3,500 iterations over the four actions of a position, the action with the best mean
value first. The thesis prints one position (its visits sum up to 4,000); here are the means over many, so the shares
depend on how different the actions are. UCT is played with its usual K of 1.414, as in the table."""
ROLLOUTS = """The mean number of moves that a random rollout lasts, without a limit, from the actions of positions in
games of MC. The thesis shows one game of about 80,000 points: about threefold jumps, from under 20 to over 60, when
1,024, 2,048 and 4,096 are built (moves 475, 950 and 1,900): then the board is empty again. In tight positions,
where a move decides, rollouts are short."""
# Visits of the actions in the order of their mean values.
PUBLISHED_VISITS = {"UCTN": (1763, 941, 730, 566), "UCT": (1000, 1000, 1000, 1000)}
STRETCHES = {"quick": range(50, 751, 100), "paper": range(25, 2201, 25), "tiny": range(50, 151, 100)}  # moves of a game


def figure6(preset: str) -> list[Experiment]:
    """How certain is MC, by the depth of its rollouts?"""
    agents = {"MC, depth 20": (mc(preset),), "MC, depth 200": (mc(preset, depth=200),)}
    rows = means(preset, agents, {"MC, depth 20": 75.09, "MC, depth 200": 69.83})
    title, text = "Certainty of MC by position (figure 6)", "The same, by legal actions and empty cells."
    by_actions, of_actions = "Certainty of MC by the number of actions (figure 6)", ACTIONS + NOTE[preset]
    return [
        experiment(preset, "certainty-mc", "Certainty of MC (figure 6)", MC + GROUPS + NOTE[preset], rows),
        experiment(preset, "figure6", title, text, curves(preset, agents), "empty cells"),
        experiment(preset, "certainty-actions", by_actions, of_actions, lines(preset, agents), "legal actions"),
    ]


def by_actions(agent: Callable[[int], str]) -> tuple[str, ...]:
    """Returns the agents for positions with two, three and four legal actions, as 4.2 measures certainty."""
    return tuple(agent(1000 * actions) for actions in (2, 3, 4))


def figure14(preset: str) -> list[Experiment]:
    """How certain are MCTS and MCTSE?"""
    shallow = {
        "MCTSE": by_actions(lambda iterations: mctse(preset, iterations, more=",tree_depth=1")),
        "MCTS": by_actions(lambda iterations: mcts(preset, 1, iterations=iterations)),
    }
    deep = {
        "MCTSE": by_actions(lambda iterations: mctse(preset, iterations)),
        "MCTS": by_actions(lambda iterations: mcts(preset, 10, iterations=iterations)),
    }
    agents = {
        f"{name}, tree depth {depth}": by_depth[name]
        for name in ("MCTS", "MCTSE")
        for depth, by_depth in ((1, shallow), (10, deep))
    }
    figures = {"MCTS, tree depth 1": 52.2, "MCTS, tree depth 10": 48.08, "MCTSE, tree depth 10": 65.5}
    title = "Certainty of MCTS and MCTSE (figures 14, 23, 24)"
    rows, text = looked_at(preset, "certainty-trees", means(preset, agents, figures)), TREES + GROUPS + NOTE[preset]
    positions = "Certainty of MCTS and MCTSE by position (figure 14)"
    same = "The same with a tree depth of 10, by legal actions and empty cells."
    return [
        experiment(preset, "certainty-trees", title, text, rows),
        experiment(preset, "figure14", positions, same, curves(preset, deep), "empty cells"),
    ]


def table1(preset: str) -> Experiment:
    """Does UCTN prefer better actions, and UCT not?"""
    states, _, games = STATES[preset]
    agents = {"UCTN": mctse(preset), "UCT": mctse(preset, more=",selection=uct")}
    rows = [
        Row(
            f"{selection}, {rank} action",
            "2048",
            (agent,),
            games,
            f"visits_{place}",
            published(preset, 100 * visits / sum(PUBLISHED_VISITS[selection])),
            setting=OTHER,
            reason="the thesis prints one position",
            states=states,
            repeats=2,
            legal=4,
        )
        for selection, agent in agents.items()
        for place, (rank, visits) in enumerate(
            zip(("best", "second", "third", "worst"), PUBLISHED_VISITS[selection], strict=True), start=1
        )
    ]
    return experiment(preset, "table1", "Visits by UCT and UCTN (table 1)", VISITS + NOTE[preset], rows)


def figure22(preset: str) -> Experiment:
    """How deep do rollouts really go in the course of a game? Figure 22 and 9.3."""
    games, states, iterations = {"quick": (3, 5, 5), "paper": (100, 100, 20), "tiny": (1, 2, 2)}[preset]
    probe = f"mc(iterations={iterations},rollout_depth=10000,evaluator=rollout_length,score_method=2)"
    half = STRETCHES[preset].step // 2
    rows = [
        Row(
            f"moves {middle - half} to {middle + half}",
            "2048",
            (probe,),
            games,
            "mean_value",
            x=middle,
            states=states,
            repeats=2,
            collector=mc(preset),
            moves=(middle - half, middle + half),
        )
        for middle in STRETCHES[preset]
    ]
    title = "Used rollout depth in a game (figure 22)"
    return experiment(preset, "figure22", title, ROLLOUTS + NOTE[preset], rows, "move")


def build(preset: str) -> list[Experiment]:
    return [*figure6(preset), *figure14(preset), table1(preset), figure22(preset)]


if __name__ == "__main__":
    run_experiments(__doc__, build, STATES)
