"""`turnier train GAME dqn`: a deep network that learns from a memory of moves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnier.commands.training.end import print_agent, print_evaluations, print_learned, train_and_print
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.runs.deep.training import DeepResults


def train_deep(game: str, network: str, *, store: str, plot: Path | None, **settings: Any) -> None:
    """Trains as the options say, see `DeepTraining`, and prints how it went.

    Args:
        game: the game.
        network: the layers.
        store: its URL.
        plot: a picture of the curve to be written.
        settings: of the training.
    """
    from turnier.runs.deep.training import DeepTraining

    planned = DeepTraining(game, network, **settings)

    def title() -> str:
        return f"{planned.plan.agent} on {planned.plan.game}"

    train_and_print(planned, store, plot, stop=planned.stop, print_end=_print_end, title=title)


def _print_end(console: Console, results: DeepResults) -> None:
    if results.loop.done > results.games_before:
        print_learned(console, results.loop)
    print_agent(console, str(results.loop.plan.game), results.agent)
    print_evaluations(console, results.run)
