"""What Kutsch 2017 left open (7.2, 8): heuristics with a majority vote, and values in place of rollouts.

\b
Examples:
    python studies/kutsch/beyond.py                    scaled down, about a minute at most
    python studies/kutsch/beyond.py --preset paper     20 games a row
"""

from __future__ import annotations

from settings import GAMES, NOTE, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

# Kutsch 2017, 9.4: the best of the thesis.
HEURISTICS = (
    "heuristics2048(empty_method=1,empty1=0.7214,corner=0.4807,row_method=0,row0=0.4779,merge=0.8080,rollout=0.8435)"
)
# Recommended by studies/cmaes_rows.py, which tuned them at three plies.
ROWS = (
    "rows2048(empty=1073.5,merges=48.96,monotonicity=291.1,monotonicity_power=2.355,sum=24.2,sum_power=3.107,"
    "corner=162.6)"
)
TEXT = """The thesis expected about 60,000 points to be the most that searches with rollouts reach, and proposed
heuristics together with a majority vote, and values in place of rollouts. Expectimax, three decisions deep, on tables
of rows shows what a value function is worth; it takes a fraction of the time."""


def build(preset: str) -> list[Experiment]:
    with_heuristics = mctse(preset, more=f",evaluator={HEURISTICS}")
    agents = {
        "MCTSE": (mctse(preset), 56_989.0),
        "MCTSE, heuristics": (with_heuristics, 60_197.0),
        "MCTSE, heuristics, 5 voters": (f"majority(agent={with_heuristics},members=5)", None),
        "MCTSE, row tables, no rollouts": (mctse(preset, more=f",evaluator={ROWS}"), None),
        "Expectimax, 3 decisions, row tables": (f"expectimax(depth=3,evaluator={ROWS})", None),
    }
    games = -(-2 * GAMES[preset] // 5)
    rows = [
        Row(label, "2048", (agent,), games, "score", published(preset, figure) if figure else None)
        for label, (agent, figure) in agents.items()
    ]
    title = "Beyond the thesis (7.2, 8)"
    return [Experiment("kutsch", f"beyond-{preset}", title, TEXT + NOTE[preset], tuple(rows))]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
