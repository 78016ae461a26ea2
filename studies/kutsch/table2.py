"""Do several agents that vote play better than one? Kutsch 2017, table 2 and 7.2, and what it left open.

\b
Examples:
    python studies/kutsch/table2.py                    scaled down, about a minute at most
    python studies/kutsch/table2.py --preset paper     50, 20 and 10 games
"""

from __future__ import annotations

from settings import GAMES, GROUPS, NOTE, mctse, means, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

SCORES = {1: 56_989.0, 5: 58_321.0, 10: 60_060.0}
CERTAINTIES = (65.50, 69.49, 72.83)
TEXT = """Several MCTSE agents search the same position, and the action named most often is played. The votes that
cannot change the winner any more are not searched, which changes no move. *Summed visits* (root parallelisation, not
in the thesis) adds up what the members found instead of their votes."""


def build(preset: str) -> list[Experiment]:
    one = mctse(preset)
    agents = {1: one, **{n: f"majority(agent={one},members={n})" for n in (5, 10)}}
    games = {1: GAMES[preset], 5: -(-2 * GAMES[preset] // 5), 10: -(-GAMES[preset] // 5)}
    scores = [
        Row(
            f"{n} agents" if n > 1 else "1 agent",
            "2048",
            (agent,),
            games[n],
            "score",
            published(preset, SCORES[n]),
        )
        for n, agent in agents.items()
    ]
    scores.append(Row("5 agents, summed visits", "2048", (f"root_parallel(agent={one},members=5)",), games[5], "score"))
    voters = {f"{n} agents" if n > 1 else "1 agent": (agent,) for n, agent in agents.items()}
    certainties = means(preset, voters, dict(zip(voters, CERTAINTIES, strict=True)), share=5)
    text = TEXT + NOTE[preset]
    return [
        Experiment("kutsch", f"table2-{preset}", "Majority vote of MCTSE (table 2)", text, tuple(scores)),
        Experiment(
            "kutsch",
            f"table2-certainty-{preset}",
            "Certainty of the majority vote (table 2)",
            "Normalised certainty, a fifth of the thesis's states a group." + GROUPS,
            tuple(certainties),
        ),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
