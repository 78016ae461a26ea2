"""Which learning parameters teach an n-tuple network fastest? Optuna's TPE; slow learners stop early.

\b
Examples:
    python studies/ntuple_learning.py                       2048 with a small network
    python studies/ntuple_learning.py --preset paper        2048 with the 4x6 network
    python studies/ntuple_learning.py --preset yavalath     Yavalath, games won against MCTS
    optuna-dashboard sqlite:///turnier.db                   watch it from another terminal

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

from __future__ import annotations

from dataclasses import replace

from turnier.search.learning_study import LearningParameter, LearningStudyDefinition
from turnier.studies.scripts.learning import Preset, run_learning_study

RATE = (
    LearningParameter("alpha", 0.01, 3.0, log=True),
    LearningParameter("alpha_end", 0.01, 3.0, log=True),
    LearningParameter("coherence", values=(True, False)),
)
ALONE = (*RATE, LearningParameter("optimism", 0.0, 100_000.0))
# Weitz 2022, 4.1: against an opponent, exploration matters, too.
TWO_SEATS = (*RATE, LearningParameter("epsilon", 0.0, 0.5), LearningParameter("epsilon_end", 0.0, 0.2))
QUICK = LearningStudyDefinition(
    name="",
    game="2048",
    evaluator="ntuple(network=walk,tuples=8,length=5)",
    learning="td(alpha=1,alpha_end=1)",
    searched=ALONE,
    candidates=9,
    rungs=(200, 600, 1800),
    games=40,
)
PRESETS = {
    "quick": Preset(QUICK, rounds=2, held_out=200),
    "paper": Preset(
        replace(QUICK, evaluator="ntuple(network=4x6)", rungs=(3000, 10_000, 30_000), games=100),
        rounds=6,
        held_out=1000,
    ),
    "yavalath": Preset(
        LearningStudyDefinition(
            name="",
            game="yavalath",
            evaluator="ntuple(network=walk,tuples=100,length=6)",
            learning="td(alpha=0.1,alpha_end=0.05,epsilon=0.3,epsilon_end=0.1)",
            searched=TWO_SEATS,
            candidates=9,
            rungs=(500, 1500, 4500),
            games=40,
            against="mcts(iterations=200)",
        ),
        rounds=4,
        held_out=200,
    ),
    "tiny": Preset(
        LearningStudyDefinition(
            name="",
            game="tictactoe",
            evaluator="ntuple(network=walk,tuples=4,length=3)",
            learning="td(alpha=0.1,alpha_end=0.1,epsilon_end=0.1)",
            searched=TWO_SEATS,
            candidates=4,
            rungs=(20, 60),
            games=4,
            against="random",
        ),
        rounds=2,
        held_out=8,
    ),
}

if __name__ == "__main__":
    run_learning_study(__doc__, "ntuple_learning", PRESETS)
