"""`turnier train --self-play`: networks that learn from games of a search with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from turnier.commands.command_line import saving
from turnier.commands.training.end import print_agent, print_finished, stored_games
from turnier.core.errors import UserError
from turnier.core.number_text import estimate, number
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.arena.workers.where import Where
    from turnier.runs.self_play.training import SelfPlayResults


def train_by_search(game: str, agent: str, *, store: str, where: Where, **settings: Any) -> None:
    """Trains as the options say, see `SelfPlayTraining`, and prints how strong the checkpoints are.

    Args:
        game: the game.
        agent: the search.
        store: its URL.
        where: where it plays.
        settings: of the training.
    """
    from turnier.results.store.store import Store
    from turnier.runs.self_play.training import SelfPlayTraining

    if not agent:
        raise UserError('--self-play needs a search; write "puct(selection=gumbel,evaluator=ntuple)".')
    console = Console()
    planned = SelfPlayTraining(game, agent, **settings)
    print_finished(console, planned)
    with Store.open(store) as opened:
        with saving(planned.stop, lambda: stored_games(planned)):
            results = planned.run(opened, where=where)
        _print_end(console, results)


def _print_end(console: Console, results: SelfPlayResults) -> None:
    training = results.training
    print_agent(console, str(training.plan.game), results.agent)
    if not training.evaluating:
        return
    console.print(f"Evaluated against {training.evaluating.against}", soft_wrap=True)
    table = Table(caption=f"turnier show {results.id}")
    for heading in ("games", "minutes", "games won, 95 %", "Elo, 95 %", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in results.table().itertuples():
        table.add_row(
            f"{row.games:,}",
            number(row.minutes),
            estimate(row.value, row.low, row.high),
            estimate(row.elo, row.elo_low, row.elo_high, signed=True),
            "best" if row.games == results.best else "",
        )
    console.print(table)
