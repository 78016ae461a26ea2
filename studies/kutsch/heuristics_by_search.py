"""Do heuristics help expectimax more than MCTS-Expectimax? A remark of Kutsch 2017 (7.1.3) put to the test.

\b
Examples:
    python studies/kutsch/heuristics_by_search.py                     scaled down, about a minute at most
    python studies/kutsch/heuristics_by_search.py --preset paper      the thesis's search: hours, better on a cluster
    turnier report kutsch                                             the page
"""

from __future__ import annotations

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

GAMES = {"quick": 10, "paper": 100}
MCTSE = {
    "quick": "mctse(iterations=50,rollout_depth=10,maxnodes=50",
    "paper": "mctse(iterations=3500,rollout_depth=150,maxnodes=500",
}
# Kutsch 2017, 9.4: the best of the thesis.
WEIGHTS = "empty_method=1,empty1=0.7214,corner=0.4807,row_method=0,row0=0.4779,merge=0.8080,rollout=0.8435"
EVALUATORS = {
    "rollouts": "rollout",
    "heuristics": f"heuristics2048({WEIGHTS})",
    "heuristics, no rollout": f"heuristics2048({WEIGHTS},use_rollout=false)",
}
PUBLISHED = {"rollouts": 56_989.0, "heuristics": 60_197.0}  # of MCTSE, the first with a tree depth of 10
TEXT = """The thesis's heuristics, balanced by CMA-ES for MCTS-Expectimax, improved it by 5 to 10 % only; it sets
against that what heuristics do in expectimax (Xiao 2014, a median of 387,222). Here the same heuristics are in both
searches. *Rollouts* is the search without heuristics; the heuristics contain a rollout too, which can be left
out.{note}"""
NOTE = " The published figures are of 3,500 iterations, so they say nothing about this smaller search."


def build(preset: str) -> list[Experiment]:
    depth = {"quick": 10, "paper": 150}[preset]
    searches = {
        "MCTSE": MCTSE[preset],
        "expectimax, one ply": f"expectimax(depth=1,table=0,rollout_depth={depth}",
        "expectimax, two plies": f"expectimax(depth=2,table=0,rollout_depth={depth}",
    }
    rows = [
        Row(
            f"{search}, {label}",
            "2048",
            (f"{start},evaluator={evaluator})",),
            GAMES[preset],
            "score",
            PUBLISHED.get(label) if search == "MCTSE" and preset == "paper" else None,
        )
        for search, start in searches.items()
        for label, evaluator in EVALUATORS.items()
    ]
    text = TEXT.format(note="" if preset == "paper" else NOTE)
    return [Experiment("kutsch", f"heuristics-{preset}", "Heuristics by search", text, tuple(rows))]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
