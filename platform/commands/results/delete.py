"""`turnier runs delete`: removes a run and everything that no other run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ...core.terminal.visible import say, visible_line
from ..options import DEFAULT_URL, RunArgument, StoreOption, YesOption

if TYPE_CHECKING:
    from ...results.store.store import Run, Store


def delete(run: RunArgument, yes: YesOption = False, store: StoreOption = DEFAULT_URL) -> None:
    """Delete a run from the store.

    Its games and searches are deleted too, except those that other runs also have, and so are the candidates of a
    study. The command first says what will be deleted; it refuses a run that is still running.

    \b
    Examples:
      turnier runs delete tournament:1f0c
      turnier runs delete last --yes
    """
    from ...results.store.run_changes import refuse_running
    from ...results.store.store import Store
    from ...runs.declared.kinds import changes_of

    with Store.open(store) as results:
        found = results.find_run(run)
        refuse_running(results, found)
        say(visible_line(_what_goes(results, found)))
        if not yes:
            typer.confirm("Delete it?", abort=True)
        changes_of(found.kind).delete(results, found)
    say(visible_line(f"Deleted {found.id}."))


def _what_goes(store: Store, run: Run) -> str:
    """Returns a sentence about the things that a deletion removes or leaves."""
    from ...results.store.run_changes import owned_games, owned_searches
    from ...runs.declared.kinds import changes_of

    games, searches = owned_games(store, run), owned_searches(store, run)
    going = [(games.own, "games"), (searches.own, "searches")]
    kept = [f"{count:,} {what}" for count, what in ((games.shared, "games"), (searches.shared, "searches")) if count]
    going += [(count, what) for what, count in changes_of(run.kind).parts(store, run).items()]
    named = ", ".join(f"{count:,} {what}" for count, what in going if count) or "no games"
    stay = f"; {' and '.join(kept)} stay, since other runs have them too" if kept else ""
    return f"{run.id} ({run.name}) goes with {named}{stay}."
