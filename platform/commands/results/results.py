"""`turnier results`: scores, ratings and pairwise results of what is stored."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnier.commands.options import DEFAULT_URL, JsonOption, StoreOption, writable_file
from turnier.core.errors import UserError

if TYPE_CHECKING:
    from turnier.results.store.store import Run

TOP = 200  # agents of a rating list
MIN_GAMES = 10  # of an agent in the rating list of a game


def results(
    archive: Annotated[Path | None, typer.Argument(help="a file of turnier archive, in place of a store")] = None,
    store: StoreOption = DEFAULT_URL,
    run: Annotated[str, typer.Option(help="one run; default: all tournaments, or if there are none, the servers")] = "",
    game: Annotated[
        str, typer.Option(help="rate the agents of this game over all its stored games, from runs of every kind")
    ] = "",
    top: Annotated[int, typer.Option(help="number of agents that a rating list shows", min=1)] = TOP,
    min_games: Annotated[
        int, typer.Option(help=f"with --game: leave out agents with fewer games; default: {MIN_GAMES}", min=0)
    ] = 0,
    anchor: Annotated[str, typer.Option(help="the agent whose Elo is 0; default: as the run was played")] = "",
    nash: Annotated[
        bool, typer.Option(help="show Nash averages, which copies of an agent do not change, beside Elo in any case")
    ] = False,
    crosstable: Annotated[
        Path | None,
        typer.Option(help="also write who scored what against whom to this CSV file", callback=writable_file),
    ] = None,
    means: Annotated[
        bool, typer.Option("--means", help="of an archive: only means and shares of points, of any number of games")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show scores, ratings and pairwise results.

    For each agent, tables show games, mean score or points with a 95 % interval, and nodes, CPU time and wall-clock
    time per move, then the rating list and how the agents did against each other. A win is 1 point, a draw 1/2. For a
    study: what it recommends, and the held-out games that say so. For a comparison: its verdict. For a server: a table
    of its teams over all boards, with their places and why they went out.

    A game without parameters means all its variants, each with its own rating list. In single-player games, agents are
    ranked by mean score. With --run, only the games of that run count.

    \b
    Examples:
      turnier results
      turnier results --run tournament:1f0c --json
      turnier results --game yavalath
      turnier results --game "2048(size=3)" --top 20
      turnier results --run tournament:1f0c --crosstable table.csv
      turnier results --game yavalath --anchor random
      turnier results tournament-1f0c.parquet --means
    """
    from turnier.commands.results import result_tables, teams
    from turnier.results.store.store import Store

    if means and archive is None:
        raise UserError("--means must have a file of turnier archive, got none; write turnier results FILE --means.")
    shown = result_tables.Shown(top, as_json, crosstable, anchor, nash)
    found: Run | None
    with contextlib.ExitStack() as stack:
        if archive is not None:
            from turnier.results.archive.reading import Archive
            from turnier.results.archive.restoring import as_store

            if run:
                raise UserError(f"results takes an archive or --run, got {archive} and {run}; leave one out.")
            whole = Archive.open(archive)
            if means:
                result_tables.show_means(whole, as_json)
                return
            opened, found = stack.enter_context(as_store(whole))
        else:
            opened = stack.enter_context(Store.open(store, read_only=True))
            found = opened.find_run(run) if run else None
        if game:
            result_tables.show_game(opened, game, found, min_games or MIN_GAMES, shown)
        elif found is not None and found.kind == "study":
            result_tables.show_study(opened, found, shown)
        elif found is not None and found.kind == "comparison":
            result_tables.show_comparison(opened, found, shown)
        elif (games := teams.games_of_servers(opened, found, shown)) is not None:
            teams.show_teams(opened, games, shown)
        else:
            result_tables.show_run(opened, found, shown)
