"""`turnier runs purge`: deletes the games that one machine has played in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..options import DEFAULT_URL, RunArgument, StoreOption, YesOption

if TYPE_CHECKING:
    from ...results.store.store import Run

OF_OTHERS = ("server", "play")  # kinds with games of people and their programs


def purge(
    run: RunArgument,
    worker: Annotated[str, typer.Option(help="the machine, as turnier runs workers names it")],
    yes: YesOption = False,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Delete the games that one machine has played in a run.

    Repeat the command of the run to play them again. Other runs that have some of these games lose them too. The
    command first says what will be deleted. It refuses a run that is still running, and runs whose games cannot be
    played again: studies, training runs and servers.

    \b
    Examples:
      turnier runs workers last
      turnier runs purge last --worker w2/10.77.0.12
    """
    from ...results.store.run_changes import games_of_worker, purge_worker, refuse_running
    from ...results.store.store import Store

    with Store.open(store) as results:
        found = results.find_run(run)
        counts = games_of_worker(results, found, worker)
        for each in counts:
            concerned = results.run(each)
            _refuse_lasting(concerned)
            refuse_running(results, concerned)
        others = [f"{count:,} of them also from {other}" for other, count in counts.items() if other != found.id]
        print(f"{counts[found.id]:,} games of {worker} go from {', '.join([found.id, *others])}.")
        if not yes:
            typer.confirm("Delete them?", abort=True)
        purge_worker(results, found, worker)
    print("Deleted; repeat the command to play them again, or type it with --resume RUN.")


def _refuse_lasting(run: Run) -> None:
    from ...core.errors import UserError
    from ...runs.declared.kinds import changes_of

    others = "whose games others have played; delete it as a whole" if run.kind in OF_OTHERS else ""
    if why := changes_of(run.kind).lasting or others:
        raise UserError(f"games of a {run.kind} must stay, got {run.id}, {why}.")
