"""`turnier train GAME dqn`: a deep network that learns from a memory of moves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from turnier.commands.command_line import saving
from turnier.commands.training.end import (
    print_agent,
    print_evaluations,
    print_finished,
    print_learned,
    save_plot,
    stored_games,
)

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
    from turnier.results.store.store import Store
    from turnier.runs.deep.training import DeepTraining

    console = Console()
    planned = DeepTraining(game, network, **settings)
    print_finished(console, planned)
    with Store.open(store) as opened:
        with saving(planned.stop, lambda: stored_games(planned)):
            results = planned.run(opened)
        _print_end(console, results)
        if plot:
            save_plot(console, plot, f"{planned.plan.agent} on {planned.plan.game}", results.run)


def _print_end(console: Console, results: DeepResults) -> None:
    if results.loop.done > results.games_before:
        print_learned(console, results.loop)
    print_agent(console, str(results.loop.plan.game), results.agent)
    print_evaluations(console, results.run)
