"""Which weights make the row tables of 2048 best? CMA-ES over expectimax games, judged on held-out games.

The search starts from the weights that R. Xiao published with his 2048 program (2014), and has to beat them.

\b
Examples:
    python studies/cmaes_rows.py                        a minute on two cores, two decisions ahead: `make study`
    python studies/cmaes_rows.py --preset paper         about ten minutes, three decisions ahead
    optuna-dashboard sqlite:///turnier.db               watch it from another terminal

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

from __future__ import annotations

from turnier.agents.agent import Agent
from turnier.studies.scripts.study import Preset, run_study

# Without `lost`: all weights in proportion play alike, so one of them sets the scale.
PARAMETERS = tuple(
    f"evaluator.{name}"
    for name in (
        "empty",
        "merges=1..100000",  # all legal values, also of the next two
        "monotonicity=0.01..1000",
        "monotonicity_power",
        "sum=0.01..1000",
        "sum_power",
        "corner",
    )
)
PRESETS = {
    # Under noise, many candidates with one game each learn faster than few candidates with many.
    "quick": Preset("expectimax(depth=2,evaluator=rows2048)", population=64, games=1, generations=30),
    "paper": Preset("expectimax(depth=3,evaluator=rows2048)", population=64, games=1, generations=50),
    "tiny": Preset("expectimax(depth=1,evaluator=rows2048)", population=6, games=1, generations=2),
}


def baselines(start: Agent) -> dict[str, Agent]:
    return {}  # the start is always compared


if __name__ == "__main__":
    run_study(__doc__, "cmaes_rows", "2048(size=4)", PARAMETERS, PRESETS, "Xiao's weights", baselines)
