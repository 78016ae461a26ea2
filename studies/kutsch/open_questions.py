"""What the thesis left open: does a vote beat one search with the same work, and when does a tree beat flat search?

\b
Examples:
    python studies/kutsch/open_questions.py                     scaled down, about a minute
    python studies/kutsch/open_questions.py --preset paper      the thesis's number of rollouts, 100 games per row
    python studies/kutsch/open_questions.py --only vote         one of its experiments
    python studies/report.py kutsch                                       the page with all of Kutsch's studies

Whether heuristics help is studied in heuristics.py and studies/cmaes_heuristics.py, whether certainty means strength in
certainty_against_score.py.
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.studies.kutsch.thesis import GAMES, NOTE, experiment, mctse, mctse_iterations, scaled, score
from turnier.studies.scripts.experiments import run_experiments

ROLLOUTS = (350, 1000, 3500)  # per move
VOTE = """The thesis compares a vote of five or ten searches with one of them, which makes a fifth or a tenth of the
rollouts. Here all rows make 3,500 rollouts per move: one search, or a vote of five or ten that share them (and the
limit of nodes). *Summed* adds up what the searches found instead of counting votes."""
TREE = """The mean score by rollouts per move. Flat search (MC, 20 moves deep, method 2) divides them among the legal
actions, MCTS-Expectimax (150 moves deep) builds its tree with a node for every seven rollouts, the thesis's ratio."""


def vote(preset: str) -> Experiment:
    def share(members: int) -> str:
        return mctse(preset, 3500 // members, 500 // members)

    agents = {
        "1 search": share(1),
        "vote of 5": f"majority(agent={share(5)},members=5)",
        "vote of 10": f"majority(agent={share(10)},members=10)",
        "5 summed": f"root_parallel(agent={share(5)},members=5)",
    }
    rows = [score(preset, label, agent, games=2 * GAMES[preset]) for label, agent in agents.items()]
    return experiment(preset, "vote", "A vote of searches, or one search of the same work", VOTE + NOTE[preset], rows)


def tree(preset: str) -> Experiment:
    rows = []
    for rollouts in ROLLOUTS:
        number = mctse_iterations(rollouts, preset)
        agents = {
            "flat search": f"mc(iterations={number},divided=true,rollout_depth=20,score_method=2)",
            "tree": f"mctse(iterations={number},maxnodes={scaled(rollouts // 7, preset)})",
        }
        rows += [
            score(preset, f"{name}, {number:,} rollouts", agent, games=2 * GAMES[preset], x=number, series=name)
            for name, agent in agents.items()
        ]
    return experiment(preset, "tree", "A tree, or flat search", TREE + NOTE[preset], rows, "rollouts per move")


def build(preset: str) -> list[Experiment]:
    return [vote(preset), tree(preset)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
