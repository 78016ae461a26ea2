"""The last sentence of commands if other code of Turnier has played some of a run's games."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.terminal.console import Console

if TYPE_CHECKING:
    from ..results.store.store import Store


def print_other_code(store: Store, run_id: str, as_json: bool = False) -> None:
    """Says how many of a run's games other code has played, and whether this code plays them in the same way.

    Args:
        store: the store after the run; if it had none of the run's games before, nothing is looked up.
        run_id: the run.
        as_json: print to standard error, as standard output is read as JSON.
    """
    if run_id not in store.with_older_games:
        return
    from ..results.other_code import other_code

    if found := other_code(store, run_id):
        style = "yellow" if found.differing else None
        Console(stderr=as_json).print(str(found), style=style, soft_wrap=True, markup=False, highlight=False)
