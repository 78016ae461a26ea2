"""`turnier check RUN --sample SHARE`: plays some of a run's games again and names the machines whose games differ."""

from __future__ import annotations

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ...arena.workers.make import make_executor
from ...arena.workers.where import Where
from ...core.errors import UserError
from ...core.terminal.console import Console
from ...results.store.store import Store
from ...results.verification import Verification, sample_of_run
from ...runs.bar import game_bar

SHOWN_ID = 12  # digits


def verify_sample(run: str, share: str, url: str) -> None:
    """Prints how many games agree; if some do not, prints the machines that played them and exits with 1.

    Args:
        run: its name or id.
        share: share of its games, such as 5%.
        url: URL of the store.
    """
    part = _share_of(share)
    with Store.open(url, read_only=True) as store:
        found = store.find_run(run)
        verification = Verification(sample_of_run(store, found.id, part))
    count = len(verification.stored)
    with make_executor(Where("threads")) as executor, game_bar("playing again", count) as bar:
        for done in verification.compare(executor.play([record.spec for record in verification.stored])):
            bar.advance(done)
    if not verification.differing:
        print(f"{found.id}: all {count:,} games that were played again are the same.")
        return
    wrong = len(verification.differing)
    print(f"{found.id}: {wrong:,} of {count:,} games that were played again went differently.")
    Console().print(_table(verification))
    raise typer.Exit(1)


def _table(verification: Verification) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("worker", overflow="fold")
    for heading in ("release", "again", "differ", "such as"):
        table.add_column(heading, justify="right", overflow="fold")
    for row in verification.by_worker().to_dict("records"):
        example = row["match"][:SHOWN_ID] if row["differing"] else ""
        cells = (row["worker"], row["release"], f"{row['again']:,}", f"{row['differing']:,}", example)
        table.add_row(*map(Text, cells))
    return table


def _share_of(text: str) -> float:
    """Returns a share from text such as 5%; raises UserError unless it is above 0 and at most 1."""
    try:
        share = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UserError(f"--sample must be a share above 0 and at most 100%, got {text}; write, for example, 5%.")
    return share
