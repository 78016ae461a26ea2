"""`turnier train`: learns an n-tuple network's weights into a file, and goes on where it stopped."""

from __future__ import annotations

import math
from pathlib import Path

from rich.console import Console

from turnier.agents.evaluators.ntuple import NTuple
from turnier.agents.learning.td import LEARNING
from turnier.agents.learning.training import Plan, Training
from turnier.agents.registry import EVALUATORS
from turnier.arena.progress import game_bar
from turnier.games.errors import UserError
from turnier.games.registry import GAMES


def train(
    console: Console,
    game: str,
    evaluator: str,
    learning: str,
    games: int,
    out: Path,
    seed: int,
    threads: int,
    every: int,
) -> None:
    """Trains until `games` games are played in all, those of earlier runs included, and prints what came out."""
    made = EVALUATORS.make(evaluator)
    if not isinstance(made, NTuple):
        raise UserError(f'what is trained must be an n-tuple network, got {made}; write "ntuple(network=4x6)".')
    plan = Plan(GAMES.make(game), made, LEARNING.make(learning), seed, every)
    training = Training(plan, out, games)
    if training.done >= games:
        console.print(f"{out} has {training.done:,} games already; ask for more to go on.", soft_wrap=True)
        return
    if training.done:
        console.print(f"Going on after {training.done:,} games of earlier runs.")
    with game_bar(f"{plan.game}", games, completed=training.done) as bar:

        def report(training: Training, count: int) -> None:
            bar.advance(count)
            bar.note(f"score {_recent(training):,.6g}")

        training.run(threads, report)
    _, count, mean, deviation = training.points.curve()[-1]
    error = 1.96 * deviation / math.sqrt(max(count, 1))
    console.print(
        f"{out}: {training.done:,} games, {training.moves:,} moves, {training.moves / training.seconds:,.0f} moves/s;"
        f" mean of the last {count:,.0f} games {mean:,.6g} ± {error:,.3g}",
        soft_wrap=True,
    )
    console.print(f'To play with it: turnier tournament {game} "greedy(evaluator=ntuple(file={out}))"', soft_wrap=True)


def _recent(training: Training) -> float:
    """Returns the mean score of the newest games, at least half a point of the curve."""
    counts, sums, _ = training.points.sums[-2:].sum(axis=0)
    return float(sums / max(counts, 1.0))
