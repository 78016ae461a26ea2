"""`turnier runs note`: a user's note on a run."""

from __future__ import annotations

from typing import Annotated

import typer

from ...core.terminal.visible import say, visible_line
from ..options import DEFAULT_URL, RunArgument, StoreOption


def note(
    run: RunArgument,
    text: Annotated[str | None, typer.Argument(help="the note; an empty text removes it, no text shows it")] = None,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Attach a note to a run.

    The note is shown by turnier runs and on the Runs page of the dashboards.

    \b
    Examples:
      turnier runs note tournament:1f0c "with the new heuristic"
      turnier runs note last
    """
    from ...results.store.annotations import NOTE
    from ...results.store.store import Store

    with Store.open(store, read_only=text is None) as results:
        found = results.find_run(run)
        if text is not None:
            results.annotations.set(found.id, NOTE, " ".join(text.split()))
        kept = results.annotations.get(found.id, NOTE)
    say(visible_line(f"{found.id}: {kept or 'no note'}"))
