"""How good are MC, MCTS and MCTSE at 2048? The thesis's main figures (Kutsch 2017, 3.3, 4.2, 5.2).

\b
Examples:
    python studies/kutsch/agents.py                     scaled down, about a minute
    python studies/kutsch/agents.py --preset paper      50 games per row
    python studies/kutsch/agents.py --only tiles        one of its experiments
    python studies/report.py kutsch                               the page with all of Kutsch's studies
"""

from __future__ import annotations

from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.kutsch.thesis import (
    GAMES,
    MC_SCORE,
    MCTS_SCORE,
    NOTE,
    PUBLISHED_GAMES,
    UCT,
    UCT_SCORE,
    UCTN_SCORE,
    experiment,
    mc,
    mcts,
    mctse,
    published,
    score,
)
from turnier.studies.scripts.experiments import run_experiments

SCORES = """MC searches flat, 1,000 rollouts of 20 moves an action. MCTS freezes one outcome of chance in every node,
the flaw that MCTSE mends with nodes for chance. The thesis says that a rollout that ended loses 1 (method 2) for all
of its agents; its program did so only until January 2017, before MCTSE was written, and MCTSE with method 2 dies
early now and then, since one rollout that survives its 150 moves outweighs all differences of score. So MCTS and
MCTSE are played with method 1 here, MC with method 2; the last row is MCTSE with method 2."""
TILES = "Published are *about* 98 and 55 % and *clearly under* 1 % for MC, 84 % and a tenth of the games for MCTS."


def scores(preset: str) -> Experiment:
    rows = [
        score(preset, "MC", mc(preset), MC_SCORE, 2 * GAMES[preset]),
        score(preset, "MCTS, tree depth 1", mcts(preset), MCTS_SCORE),
        score(preset, "MCTS, tree depth 10", mcts(preset, 10)),
        score(preset, "MCTSE, UCTN", mctse(preset), UCTN_SCORE),
        score(preset, "MCTSE, UCT", mctse(preset, more=UCT), UCT_SCORE),
        score(preset, "MCTSE, UCTN, method 2", mctse(preset, more=",score_method=2")),
    ]
    return experiment(preset, "agents", "MC, MCTS and MCTSE (3.3, 4.2, 5.2)", SCORES + NOTE[preset], rows)


def tiles(preset: str) -> Experiment:
    games = GAMES[preset]
    rows = [
        Row(
            f"{label}, {tile} tile",
            "2048",
            (agent,),
            n,
            f"reaches_{tile}",
            published(preset, share),
            published_games=PUBLISHED_GAMES,
        )
        for label, agent, n, shares in (
            ("MC", mc(preset), 2 * games, {2048: 98.0, 4096: 55.0, 8192: 1.0}),
            ("MCTS", mcts(preset), games, {2048: 84.0, 4096: 10.0}),
        )
        for tile, share in shares.items()
    ]
    return experiment(preset, "tiles", "The tiles they reach (4.3)", TILES + NOTE[preset], rows)


def build(preset: str) -> list[Experiment]:
    return [scores(preset), tiles(preset)]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
