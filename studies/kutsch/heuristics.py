"""Do heuristics help expectimax more than MCTS-Expectimax, and what did the thesis leave open? Kutsch 2017, 7.1.3,
7.2 and 8.

\b
Examples:
    python studies/kutsch/heuristics.py                   scaled down, about a minute
    python studies/kutsch/heuristics.py --only beyond     what the thesis left open: votes, values in place of rollouts
    python studies/kutsch/heuristics.py --preset paper    the thesis's search: hours, better on a cluster
    python studies/report.py kutsch                                 the page
"""

from __future__ import annotations

from typing import Any

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.published import OTHER
from turnier.studies.kutsch.thesis import GAMES, HEURISTICS, NOTE, UCTN_SCORE, experiment, mctse, score
from turnier.studies.scripts.experiments import run_experiments

HEURISTICS_SCORE = 60_197.0  # published for MCTSE
BEST_OF_60: dict[str, Any] = {"setting": OTHER, "reason": "published is the best of 60 means of 25 games"}
EVALUATORS = {
    "rollouts": "rollout",
    "heuristics": f"heuristics2048({HEURISTICS})",
    "heuristics, no rollout": f"heuristics2048({HEURISTICS},use_rollout=false)",
}
# Recommended by studies/cmaes_rows.py, tuned at three plies.
ROWS = (
    "rows2048(empty=1073.5,merges=48.96,monotonicity=291.1,monotonicity_power=2.355,sum=24.2,sum_power=3.107,"
    "corner=162.6)"
)
PROGRAM = """The weights that the thesis found, with the bonuses of its text and with those of its program. In the
program (GBG, git 3f19fe3d of 27 July 2017) a copy of a state, as every node of the search has one, forgets its highest
tile and learns of new ones only, of which nine in ten are 2. So empty cells count twice their number in place of
hundreds of points, and corner and row hardly count. The bonuses of the text make the agent hoard empty cells: it dies
before it has a 2048. The program itself, built and run with these weights, made 36,256, 56,416, 36,264 and 60,624
points in four games. Besides, 60,197 is the best of 60 means of 25 games each, and such a mean is good to about 7,500
points, so the best of them says little about the weights."""
BY_SEARCH = """The thesis's heuristics, balanced by CMA-ES for MCTS-Expectimax, improved it by 5 to 10 % only; it sets
against that what heuristics do in expectimax (Xiao 2014, a median of 387,222). Here the same heuristics are in both
searches. *Rollouts* is the search without heuristics; the heuristics contain a rollout too, which can be left
out."""
SMALLER = " The published figures are of 3,500 iterations, so they say nothing about this smaller search."
BEYOND = """The thesis expected about 60,000 points to be the most that searches with rollouts reach, and proposed
heuristics together with a majority vote, and values in place of rollouts. Expectimax, three decisions deep, on tables
of rows shows what a value function is worth; it takes a fraction of the time."""


def _setting(figure: float | None) -> dict[str, Any]:
    return BEST_OF_60 if figure == HEURISTICS_SCORE else {}


def by_search(preset: str) -> Experiment:
    """Do heuristics help expectimax more than MCTS-Expectimax? A remark in 7.1.3, put to the test."""
    games, iterations, depth, maxnodes = {
        "quick": (10, 50, 10, 50),
        "paper": (100, 3500, 150, 500),
        "tiny": (2, 10, 5, 10),
    }[preset]
    searches = {
        "MCTSE": f"mctse(iterations={iterations},rollout_depth={depth},maxnodes={maxnodes}",
        "expectimax, one ply": f"expectimax(depth=1,table=0,rollout_depth={depth}",
        "expectimax, two plies": f"expectimax(depth=2,table=0,rollout_depth={depth}",
    }
    # The first was published with a tree depth of 10.
    figures = {"MCTSE, rollouts": float(UCTN_SCORE), "MCTSE, heuristics": HEURISTICS_SCORE}
    agents = {
        f"{search}, {label}": f"{start},evaluator={evaluator})"
        for search, start in searches.items()
        for label, evaluator in EVALUATORS.items()
    }
    rows = [
        score(preset, label, agent, figures.get(label), games, **_setting(figures.get(label)))
        for label, agent in agents.items()
    ]
    text = BY_SEARCH if preset == "paper" else BY_SEARCH + SMALLER
    return experiment(preset, "heuristics", "Heuristics by search", text, rows)


def program(preset: str) -> Experiment:
    """The bonuses of the thesis's text, and those of its program."""
    evaluators = {
        "rollouts": ("rollout", float(UCTN_SCORE)),
        "bonuses of the text": (f"heuristics2048({HEURISTICS})", HEURISTICS_SCORE),
        "bonuses of the program": (f"forgetful2048({HEURISTICS})", HEURISTICS_SCORE),
    }
    rows = [
        score(preset, label, mctse(preset, more=f",evaluator={evaluator}"), figure, **_setting(figure))
        for label, (evaluator, figure) in evaluators.items()
    ]
    return experiment(preset, "program", "Heuristics as printed and as run (7.1, 9.4)", PROGRAM + NOTE[preset], rows)


def beyond(preset: str) -> Experiment:
    """Heuristics with a majority vote, and values in place of rollouts: left open by 7.2 and 8."""
    with_heuristics = mctse(preset, more=f",evaluator={EVALUATORS['heuristics']}")
    agents = {
        "MCTSE": (mctse(preset), float(UCTN_SCORE)),
        "MCTSE, heuristics": (with_heuristics, HEURISTICS_SCORE),
        "MCTSE, heuristics, 5 voters": (f"majority(agent={with_heuristics},members=5)", None),
        "MCTSE, row tables, no rollouts": (mctse(preset, more=f",evaluator={ROWS}"), None),
        "Expectimax, 3 decisions, row tables": (f"expectimax(depth=3,evaluator={ROWS})", None),
    }
    games = -(-2 * GAMES[preset] // 5)
    rows = [score(preset, label, agent, figure, games, **_setting(figure)) for label, (agent, figure) in agents.items()]
    return experiment(preset, "beyond", "Beyond the thesis (7.2, 8)", BEYOND + NOTE[preset], rows)


def build(preset: str) -> list[Experiment]:
    return [by_search(preset), program(preset), beyond(preset)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
