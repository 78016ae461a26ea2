"""How good are MC, MCTS and MCTSE at 2048? The thesis's main figures (Kutsch 2017, 3.3, 4.2, 5.2).

\b
Examples:
    python studies/kutsch/agents.py                     scaled down, about a minute at most
    python studies/kutsch/agents.py --preset paper      50 games a row
    turnier report kutsch                               the page with all of Kutsch's studies
"""

from __future__ import annotations

from settings import GAMES, NOTE, mc, mcts, mctse, published

from turnier.commands.scripts.experiments import run_experiments
from turnier.runs.experiment import Experiment, Row

UCT = ",selection=uct,exploration=0.0566"
TEXT = """MC searches flat, 1,000 rollouts of 20 moves an action. MCTS freezes one outcome of chance in every node,
the flaw that MCTSE mends with nodes for chance. The thesis says that a rollout that ended loses 1 (method 2) for all
of its agents; its program did so only until January 2017, before MCTSE was written, and MCTSE with method 2 dies
early now and then, since one rollout that survives its 150 moves outweighs all differences of score. So MCTS and
MCTSE are played with method 1 here, MC with method 2; the last row is MCTSE with method 2."""


def build(preset: str) -> list[Experiment]:
    games = GAMES[preset]
    rows = [
        ("MC", mc(preset), 2 * games, 51_521),
        ("MCTS, tree depth 1", mcts(preset), games, 34_713),
        ("MCTS, tree depth 10", mcts(preset, 10), games, None),
        ("MCTSE, UCTN", mctse(preset), games, 56_989),
        ("MCTSE, UCT", mctse(preset, more=UCT), games, 52_000),
        ("MCTSE, UCTN, method 2", mctse(preset, more=",score_method=2"), games, None),
    ]
    scores = [
        Row(label, "2048", (agent,), n, "score", published(preset, figure) if figure else None)
        for label, agent, n, figure in rows
    ]
    tiles = [
        Row(f"{label}, {tile} tile", "2048", (agent,), n, f"reaches_{tile}", published(preset, share))
        for label, agent, n, shares in (
            ("MC", mc(preset), 2 * games, {2048: 98.0, 4096: 55.0, 8192: 1.0}),
            ("MCTS", mcts(preset), games, {2048: 84.0, 4096: 10.0}),
        )
        for tile, share in shares.items()
    ]
    text = TEXT + NOTE[preset]
    tiles_text = (
        "Published are *about* 98 and 55 % and *clearly under* 1 % for MC, 84 % and a tenth of the games for MCTS."
    )
    return [
        Experiment("kutsch", f"agents-{preset}", "MC, MCTS and MCTSE (3.3, 4.2, 5.2)", text, tuple(scores)),
        Experiment("kutsch", f"tiles-{preset}", "The tiles they reach (4.3)", tiles_text + NOTE[preset], tuple(tiles)),
    ]


if __name__ == "__main__":
    run_experiments(__doc__, build, GAMES)
