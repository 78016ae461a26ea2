"""`turnier train --self-play`: networks that learn from games of a search with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from turnier.commands.command_line import saving
from turnier.core.errors import UserError
from turnier.core.number_text import estimate, number

if TYPE_CHECKING:
    from turnier.runs.self_play.training import SelfPlayResults


def train_by_search(
    game: str,
    agent: str,
    inapplicable: Sequence[str],
    *,
    store: str,
    where: tuple[str, int | None, str | None],
    **settings: Any,
) -> None:
    """Trains as the options say, see `SelfPlayTraining`, and prints how strong the checkpoints are.

    Args:
        game: the game.
        agent: the search.
        inapplicable: options that were given, but are of other ways to train.
        store: its URL.
        where: executor, workers and address.
        settings: of the training.
    """
    from turnier.results.store.store import Store
    from turnier.runs.self_play.training import SelfPlayTraining

    if inapplicable:
        raise UserError(f"--self-play takes no {inapplicable[0]}; leave it out.")
    if not agent:
        raise UserError('--self-play needs a search; write "puct(selection=gumbel,evaluator=ntuple)".')
    console = Console()
    planned = SelfPlayTraining(game, agent, **settings)
    if planned.finished:
        console.print(f"{planned.out} has {planned.done:,} games already; resume with more --games.", soft_wrap=True)

    def stored() -> str:
        return f"{planned.out} has {planned.done:,} games" if planned.out.exists() else f"{planned.out} is not written"

    executor, workers, address = where
    with Store.open(store) as opened:
        with saving(planned.stop, stored):
            results = planned.run(opened, executor=executor, workers=workers, address=address)
        _print_end(console, results)


def _print_end(console: Console, results: SelfPlayResults) -> None:
    training = results.training
    console.print(f'To play with it: turnier tournament {training.plan.game} "{results.agent}"', soft_wrap=True)
    if not training.evaluating:
        return
    console.print(f"Evaluated against {training.evaluating.against}", soft_wrap=True)
    table = Table(caption=f"turnier results --run {results.id}")
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
