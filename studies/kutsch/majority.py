"""Do agents that vote play better than one, or than one that searches longer? Kutsch 2017, tables 2 and 3, and 7.2.

\b
Examples:
    python studies/kutsch/majority.py                    scaled down, about a minute
    python studies/kutsch/majority.py --only table2      the scores of the vote
    python studies/kutsch/majority.py --preset paper     50, 20 and 10 games
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.certainty_rows import GROUPS, looked_at, means
from turnier.studies.kutsch.thesis import GAMES, NOTE, UCTN_SCORE, experiment, mctse, mctse_iterations, score
from turnier.studies.scripts.experiments import run_experiments

VOTE = """\
Several MCTSE agents search the same position, and the action named most often is played. The votes that
cannot change the winner any more are not searched, which changes no move. *Summed visits* (root parallelisation, not
in the thesis) adds up what the members found instead of their votes."""
ITERATIONS = """\
Iterations, nodes and tree depth are multiplied by 1, 5 and 10, as much work as majority votes of as many
agents. The thesis found more certainty than with a vote, but hardly more score."""
CERTAINTY = (
    "Normalised certainty, a fifth of the thesis's states a group; more of those with at most six empty cells, whose"
    " means are compared." + GROUPS
)


def games(preset: str, work: int) -> int:
    """Returns the number of games of an agent with the work of 1, 5 or 10: 50, 20 and 10 in the thesis."""
    return -(-GAMES[preset] * {1: 5, 5: 2, 10: 1}[work] // 5)


def _score(preset: str, label: str, agent: str, figure: float, work: int) -> Row:
    return score(preset, label, agent, figure, games(preset, work), published_games=games("paper", work))


def table2(preset: str) -> list[Experiment]:
    """Do several agents that vote play better than one?"""
    one = mctse(preset)
    agents = {1: one, **{n: f"majority(agent={one},members={n})" for n in (5, 10)}}
    labels = {n: f"{n} agents" if n > 1 else "1 agent" for n in agents}
    figures = {1: float(UCTN_SCORE), 5: 58_321.0, 10: 60_060.0}
    scores = [_score(preset, labels[n], agent, figures[n], n) for n, agent in agents.items()]
    summed = f"root_parallel(agent={one},members=5)"
    scores.append(score(preset, "5 agents, summed visits", summed, games=games(preset, 5)))
    certainties = {labels[1]: 65.50, labels[5]: 69.49, labels[10]: 72.83}
    rows = means(preset, {labels[n]: (agent,) for n, agent in agents.items()}, certainties, share=5)
    looked = looked_at(preset, "table2-certainty", rows)
    return [
        experiment(preset, "table2", "Majority vote of MCTSE (table 2)", VOTE + NOTE[preset], scores),
        experiment(preset, "table2-certainty", "Certainty of the majority vote (table 2)", CERTAINTY, looked),
    ]


def table3(preset: str) -> list[Experiment]:
    """Do more iterations improve MCTSE?"""
    figures = {1: float(UCTN_SCORE), 5: 57_236.0, 10: 57_693.0}
    agents = {n: mctse(preset, 3500 * n, 500 * n, more=f",tree_depth={10 * n}" if n > 1 else "") for n in figures}
    labels = {n: f"{mctse_iterations(3500 * n, preset):,} iterations" for n in agents}
    scores = [_score(preset, labels[n], agent, figures[n], n) for n, agent in agents.items()]
    certainties = {labels[1]: 65.50, labels[5]: 82.41, labels[10]: 84.26}
    rows = means(preset, {labels[n]: (agent,) for n, agent in agents.items()}, certainties, share=5)
    looked = looked_at(preset, "table3-certainty", rows)
    return [
        experiment(preset, "table3", "MCTSE with more iterations (table 3)", ITERATIONS + NOTE[preset], scores),
        experiment(preset, "table3-certainty", "Certainty with more iterations (table 3)", CERTAINTY, looked),
    ]


def build(preset: str) -> list[Experiment]:
    return [*table2(preset), *table3(preset)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
