"""`turnier train GAME NETWORK`: an n-tuple network that learns by TD from self-play."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnier.commands.training.end import print_agent, print_evaluations, print_learned, train_and_print
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.runs.training import TrainingResults


def train_ntuple(game: str, network: str, *, store: str, plot: Path | None, begins: str, **settings: Any) -> None:
    """Trains as the options say, see `Training`, and prints how it went.

    Args:
        game: the game.
        network: its parameters; empty where `hours` choose it.
        store: its URL.
        plot: a picture of the curve to be written.
        begins: files of weights to begin with, separated by commas.
        settings: of the training.
    """
    from turnier.agents.ntuple.training import end_all
    from turnier.runs.training import Training

    files = tuple(part.strip() for part in begins.split(",") if part.strip())
    planned = Training(game, network, begins=files, **settings)
    more = "--hours" if settings["hours"] else "--games"

    def title() -> str:
        return f"{planned.plan.evaluator} on {planned.plan.game}"

    train_and_print(planned, store, plot, stop=end_all, print_end=_print_end, title=title, more=more)


def _print_end(console: Console, results: TrainingResults) -> None:
    if results.loop.done > results.games_before:
        print_learned(console, results.loop)
        print_agent(console, str(results.loop.plan.game), results.agent)
    for hint in results.hints():
        console.print(hint, soft_wrap=True, markup=False, highlight=False)
    print_evaluations(console, results.run)
