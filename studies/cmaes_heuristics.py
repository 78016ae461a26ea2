"""Which weights make the 2048 heuristics of MCTS-Expectimax best? CMA-ES on Ray, after Kutsch 2017, 7.1.2.

\b
Examples:
    python studies/cmaes_heuristics.py                          about three minutes on two cores
    python studies/cmaes_heuristics.py --preset two_hours       at the end, twice as many held-out games as the search's
    python studies/cmaes_heuristics.py --preset paper           the thesis's setting: hours, better on a cluster
    python studies/cmaes_heuristics.py --preset thesis          the thesis's agent, with more candidates
    python studies/cmaes_heuristics.py --address auto --store postgresql://user@host/turnier
    optuna-dashboard sqlite:///turnier.db                       watch it from another terminal

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

from __future__ import annotations

from turnier.agents.agent import Agent
from turnier.agents.registry import EVALUATORS
from turnier.studies.scripts.study import Preset, run_study

# Kutsch 2017, 9.4: the best of the thesis, found in generation 5.
PUBLISHED = "(empty_method=1,empty1=0.7214,corner=0.4807,row_method=0,row0=0.4779,merge=0.8080,rollout=0.8435)"


def agent(iterations: int, rollout_depth: int, maxnodes: int) -> str:
    search = f"iterations={iterations},rollout_depth={rollout_depth},maxnodes={maxnodes}"
    return f"mctse({search},evaluator=heuristics2048)"


PRESETS = {
    # Under noise, many candidates with one game each learn faster than few candidates with many.
    "quick": Preset(agent(50, 10, 50), population=64, games=1, generations=16, verify=1.0),
    # A seventeenth of the thesis's iterations, one game per candidate: about two hours on two shared cores.
    "two_hours": Preset(agent(200, 150, 150), population=64, games=1, generations=24, verify=2.0),
    # The thesis's agent, searched in the same way; 3,840 held-out games of eight finalists: about fifteen CPU hours.
    "thesis": Preset(agent(3500, 150, 500), population=64, games=1, generations=24, verify=2.5),
    "paper": Preset(agent(3500, 150, 500), population=12, games=25, generations=10),
    # For tests and for trying out commands.
    "tiny": Preset(agent(10, 2, 10), population=8, games=2, generations=3),
}


def baselines(start: Agent) -> dict[str, Agent]:
    return {
        "plain rollouts": start.replace(evaluator=EVALUATORS.make("rollout")),
        "Kutsch 2017": start.replace(evaluator=EVALUATORS.make(f"heuristics2048{PUBLISHED}")),
        "Kutsch 2017, as run": start.replace(evaluator=EVALUATORS.make(f"forgetful2048{PUBLISHED}")),
    }


if __name__ == "__main__":
    run_study(__doc__, "cmaes_heuristics", "2048(size=4)", ("evaluator.*",), PRESETS, "default heuristics", baselines)
