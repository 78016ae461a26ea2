"""Every headline of the documents beside an agent of ours that exceeds it with no more work or time per move.

\b
Examples:
    python studies/beaten.py                     a few minutes on two cores
    python studies/beaten.py --preset paper      100 to 1,000 games per row
    python studies/report.py kutsch                        the page; also weitz and staehli

The network above 29,900 points is in studies/kutsch/learning.py (larger), Combi's 88 % in studies/brot/strategies.py,
the median of 387,222 in docs/reproduction.md.
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.published import BEATEN
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.heuristics import HEURISTICS_SCORE, ROWS
from turnier.studies.kutsch.thesis import MC_SCORE, MCTS_SCORE, UCTN_SCORE
from turnier.studies.scripts.experiments import run_experiments
from turnier.studies.staehli.matrices import COMBINED, PUBLISHED
from turnier.studies.weitz.table1 import STAND_IN

GAMES = {"quick": 10, "paper": 100, "tiny": 2}  # per row, ten times as many if cheap
ROWS_AHEAD = """Expectimax looks three decisions ahead by tables of rows that CMA-ES tuned, in a tenth of MC's time.
Learned networks and formation tables are far above that: see docs/results/2048_learning.md and docs/formations.md."""
ONE_PLY = "One ply, as in the blog, with tables of rows that CMA-ES tuned in place of weight matrices."
YAVALATH = """MCTS with 10,000 iterations, a solver and threat sequences, without anything learned. The first three
play the stand-in for Ludii ({stand_in:,} iterations of UCT, see table 1); published are MCTS with 25,000 iterations,
TCL3 and TDN7. The last plays MCTS1, as the networks of the thesis do in training, of which the best make about 90 %."""
# the thesis's agents -> their published mean scores
HEADLINES = {
    "MC": MC_SCORE,
    "MCTS": MCTS_SCORE,
    "MCTSE": UCTN_SCORE,
    "MCTSE with heuristics": HEURISTICS_SCORE,
    "vote of 5 MCTSE": 58_321.0,
    "vote of 10 MCTSE": 60_060.0,
}


def build(preset: str) -> list[Experiment]:
    games, scale = GAMES[preset], 100 if preset == "tiny" else 1

    def score(label: str, agent: str, published: float, more: int = 1) -> Row:
        return Row(label, "2048", (agent,), more * games, "score", float(published), setting=BEATEN)

    rows = [
        score(f"above {name}", f"expectimax(depth=3,evaluator={ROWS})", figure) for name, figure in HEADLINES.items()
    ]
    one_ply = score("above all matrices combined", f"greedy(evaluator={ROWS})", PUBLISHED[COMBINED], 10)
    ours = f"mcts(iterations={10_000 // scale},solver=true,forced_depth=8)"
    opponents = {
        "above MCTS, 25,000 iterations": (STAND_IN, 44.5),
        "above TCL3": (STAND_IN, 78.5),
        "above TDN7": (STAND_IN, 84.5),
        "above all learners in training": (10_000, 90.0),
    }
    yavalath = [
        Row(label, "yavalath", (ours, _uct(iterations, scale)), 2 * games, "win_rate", share, setting=BEATEN)
        for label, (iterations, share) in opponents.items()
    ]
    title = "What is above the headlines"
    return [
        Experiment("kutsch", f"beaten-{preset}", title, ROWS_AHEAD, tuple(rows)),
        Experiment("weitz", f"beaten-{preset}", title, YAVALATH.format(stand_in=STAND_IN), tuple(yavalath)),
        Experiment("staehli", f"beaten-{preset}", title, ONE_PLY, (one_ply,)),
    ]


def _uct(iterations: int, scale: int) -> str:
    depth = ",tree_depth=61" if iterations == STAND_IN else ""  # Ludii has no limit, MCTS1 has 25
    return f"mcts(iterations={iterations // scale}{depth})"


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
