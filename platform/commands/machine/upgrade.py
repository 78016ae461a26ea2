"""`turnier upgrade`: brings a store of an earlier version to the present form."""

from __future__ import annotations

from turnier.commands.options import DEFAULT_URL, StoreOption
from turnier.core.terminal.console import Console


def upgrade(store: StoreOption = DEFAULT_URL) -> None:
    """Bring a store of an earlier version to the present form.

    Ids, games and results stay; runs resume with the options that they were last played with. It is one transaction:
    if it is stopped or finds damage, the store stays as it was. Nobody may play into the store meanwhile.

    \b
    Examples:
      turnier upgrade
      turnier upgrade --store postgresql://user@host/turnier
    """
    from turnier.results.upgrade.upgrade import upgrade as upgraded
    from turnier.runs.bar import game_bar
    from turnier.search.storage.upgrade import upgrade_studies

    with game_bar("upgrading games", 0) as bar:
        done = upgraded(store, upgrade_studies, lambda games: bar.reached(bar.done + games, bar.done + games))
    said = f"Upgraded from schema {done.found}: {done.runs:,} runs, {done.games:,} games."
    Console().print(said, highlight=False, soft_wrap=True)
