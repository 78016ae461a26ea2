"""`turnier runs rename`: another name for a run."""

from __future__ import annotations

from typing import Annotated

import typer

from ...core.errors import UserError
from ...core.terminal.visible import say, visible_line
from ..options import DEFAULT_URL, RunArgument, StoreOption, YesOption


def rename(
    run: RunArgument,
    name: Annotated[str, typer.Argument(help="its new name")],
    yes: YesOption = False,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Rename a run.

    A run keeps its id, except a study, whose id is its name: resume a renamed study with --name NAME.

    \b
    Examples:
      turnier runs rename tournament:1f0c "first heuristics"
      turnier runs rename study:2048-mctse-1f0c2b corners --yes
    """
    from ...results.store.store import Store
    from ...runs.declared.kinds import changes_of

    name = " ".join(name.split())
    if not name:
        raise UserError("a run needs a name, got an empty one; write at least one letter.")
    with Store.open(store) as results:
        found = results.find_run(run)
        if not yes:
            typer.confirm(f"Rename {visible_line(found.id)} from {found.name!r} to {name!r}?", abort=True)
        changes_of(found.kind).rename(results, found, name)
    say(visible_line(f"Renamed {found.id}: {name}"))
