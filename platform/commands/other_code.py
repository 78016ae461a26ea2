"""The sentence that commands end with where other code of Turnier has played some of a run's games."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.terminal.console import Console

if TYPE_CHECKING:
    from ..results.store.store import Store


def print_other_code(store: Store, run_id: str, as_json: bool = False) -> None:
    """Says how many of a run's games other code has played, and whether this code plays them in the same way.

    Args:
        store: as the run has played into it: without games from before, nothing is looked up.
        run_id: the run.
        as_json: leave the standard output to what is read as JSON.
    """
    if run_id not in store.with_older_games:
        return
    from ..results.other_code import other_code

    if found := other_code(store, run_id):
        style = "yellow" if found.differing else None
        Console(stderr=as_json).print(str(found), style=style, soft_wrap=True, markup=False, highlight=False)
