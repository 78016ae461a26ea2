"""`turnier results`: scores, ratings and pairwise results of what is stored."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from turnier.commands.options import DEFAULT_URL, JsonOption, StoreOption


def results(
    store: StoreOption = DEFAULT_URL,
    run: Annotated[str, typer.Option(help="one run; default: all tournaments")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show scores, ratings and pairwise results.

    Tables show games, mean scores or win rates with 95 % intervals, moves/s and nodes/move per agent, then ratings
    and how each agent did against each other.

    \b
    Examples:
      turnier results
      turnier results --run tournament:1f0c --json
    """
    from turnier.commands.standings_tables import print_standings, with_standings
    from turnier.commands.tables import print_seats, print_summary
    from turnier.results.frames.matches import json_rows, matches_frame, seat_summary, summary
    from turnier.results.frames.standings import Standings
    from turnier.results.store.store import Store

    with Store.open(store, read_only=True) as opened:
        frame = matches_frame(opened, run=run or None, kind=None if run else "tournament", ids=False)
    standings = Standings.of(frame)
    if as_json:
        print(json.dumps(with_standings(json_rows(summary(frame)), *standings), indent=2))
        return
    console = Console()
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, *standings)
