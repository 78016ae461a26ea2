"""`turnier train GAME dqn`: a deep network that learns from a memory of moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from turnier.commands.command_line import saving
from turnier.commands.training.end import print_evaluations, save_plot
from turnier.core.errors import UserError
from turnier.core.number_text import plus_minus

if TYPE_CHECKING:
    from turnier.runs.deep.training import DeepResults


def train_deep(
    game: str, network: str, inapplicable: Sequence[str], *, store: str, plot: Path | None, **settings: Any
) -> None:
    """Trains as the options say, see `DeepTraining`, and prints how it went.

    Args:
        game: the game.
        network: the layers.
        inapplicable: options that were given, but are of other ways to train.
        store: its URL.
        plot: a picture of the curve to be written.
        settings: of the training.
    """
    from turnier.results.store.store import Store
    from turnier.runs.deep.training import DeepTraining

    if inapplicable:
        raise UserError(f"dqn takes no {inapplicable[0]}; leave it out.")
    console = Console()
    planned = DeepTraining(game, network, **settings)
    if planned.finished:
        console.print(f"{planned.out} has {planned.done:,} games already; resume with more --games.", soft_wrap=True)

    def stored() -> str:
        return f"{planned.out} has {planned.done:,} games" if planned.out.exists() else f"{planned.out} is not written"

    with Store.open(store) as opened:
        with saving(planned.stop, stored):
            results = planned.run(opened)
        _print_end(console, results)
        if plot:
            save_plot(console, plot, f"{planned.plan.agent} on {planned.plan.game}", results.run)


def _print_end(console: Console, results: DeepResults) -> None:
    loop = results.loop
    if loop.done > results.games_before:
        _, count, mean, deviation = loop.points.curve()[-1]
        error = 1.96 * deviation / math.sqrt(max(count, 1))
        console.print(
            f"{loop.out}: {loop.done:,} games, {loop.moves:,} moves, {loop.moves_per_second:,.0f} moves/s;"
            f" mean of the last {count:,.0f} games {plus_minus(mean, error)}",
            soft_wrap=True,
        )
    console.print(f'To play with it: turnier tournament {loop.plan.game} "{results.agent}"', soft_wrap=True)
    print_evaluations(console, results.run)
