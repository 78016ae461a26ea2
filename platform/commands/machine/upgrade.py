"""`turnier upgrade`: converts a store of an earlier version to the current format."""

from __future__ import annotations

from ...core.terminal.console import Console
from ..options import DEFAULT_URL, StoreOption


def upgrade(store: StoreOption = DEFAULT_URL) -> None:
    """Convert a store of an earlier version to the current format.

    Ids, games and results stay; runs resume with their latest options. The conversion is one transaction: if it is
    stopped or finds damage, the store stays as it was. Do not play into the store meanwhile.

    \b
    Examples:
      turnier upgrade
      turnier upgrade --store postgresql://user@host/turnier
    """
    from ...results.upgrade.upgrade import Present
    from ...results.upgrade.upgrade import upgrade as upgraded
    from ...runs.bar import game_bar
    from ...search.storage.upgrade import upgrade_studies

    try:
        with game_bar("upgrading games", 0) as bar:
            done = upgraded(store, upgrade_studies, lambda games: bar.reached(bar.done + games, bar.done + games))
        said = f"Upgraded from schema {done.found}: {done.runs:,} runs, {done.games:,} games."
    except Present as present:
        said = str(present)
    Console().print(said, highlight=False, soft_wrap=True)
