"""`turnier results`: scores, ratings and pairwise results of what is stored."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from turnier.commands.options import DEFAULT_URL, JsonOption, StoreOption
from turnier.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

    from turnier.results.frames import Standings
    from turnier.results.store.store import Store

TOP = 200  # agents of a rating list


def results(
    store: StoreOption = DEFAULT_URL,
    run: Annotated[str, typer.Option(help="one run; default: all tournaments")] = "",
    game: Annotated[
        str, typer.Option(help="rate the agents of this game over all its stored games, of runs of every kind")
    ] = "",
    top: Annotated[int, typer.Option(help="agents that a rating list shows", min=1)] = TOP,
    crosstable: Annotated[
        Path | None, typer.Option(help="also write who scored what against whom to this CSV file")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show scores, ratings and pairwise results.

    Tables show games, mean scores or points with 95 % intervals, moves/s and nodes/move per agent, then the rating list
    and how each agent did against each other. A win is 1 point, a draw 1/2. Of a study: what it recommends, and the
    held-out games that say so.

    A game without parameters means all of its variants, each with a rating list of its own. Games of one seat are
    ranked by mean score. With --run only the games of that run count.

    \b
    Examples:
      turnier results
      turnier results --run tournament:1f0c --json
      turnier results --game yavalath
      turnier results --game "2048(size=3)" --top 20
      turnier results --run tournament:1f0c --crosstable table.csv
    """
    from turnier.results.store.store import Store

    console = Console()
    with Store.open(store, read_only=True) as opened:
        found = opened.find_run(run) if run else None
        if found is not None and found.kind == "study" and not game:
            from turnier.commands.results.study_results import show_study

            show_study(console, opened, found.name, as_json)
            return
        if game:
            _show_game(console, opened, game, None if found is None else found.id, top, crosstable, as_json)
        else:
            _show_run(console, opened, None if found is None else found.id, top, crosstable, as_json)


def _show_run(
    console: Console, store: Store, run: str | None, top: int, crosstable: Path | None, as_json: bool
) -> None:
    """Shows a run, or all tournaments."""
    from turnier.commands.standings_tables import print_standings, with_standings
    from turnier.commands.tables import print_seats, print_summary
    from turnier.results.frames import Standings, json_rows, matches_frame, seat_summary, summary

    frame = matches_frame(store, run=run, kind=None if run else "tournament", ids=False)
    standings = Standings.of(frame)
    _write_crosstable(crosstable, standings)
    if as_json:
        print(json.dumps(with_standings(json_rows(summary(frame)), *standings), indent=2))
        return
    if frame.empty and store.match_counts():
        console.print("No tournament is stored here, but games of other runs are: turnier status lists them.")
        return
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, *standings, top=top)


def _show_game(
    console: Console, store: Store, game: str, run: str | None, top: int, crosstable: Path | None, as_json: bool
) -> None:
    """Shows the rating lists of a game over all runs, or one."""
    from turnier.commands.standings_tables import print_ratings
    from turnier.results.frames import Standings, json_rows, matches_frame

    frame = matches_frame(store, run=run, kind=None, game=game, ids=False, variants=True)
    if frame.empty:
        stored = sorted(set(matches_frame(store, run=run, kind=None, ids=False)["game"].astype(str)))
        raise UserError(
            f"--game must be a game that is stored here, got {game}; stored are {', '.join(stored) or 'none'}."
        )
    standings = Standings.of(frame, pairs=crosstable is not None)
    _write_crosstable(crosstable, standings)
    if as_json:
        print(json.dumps(json_rows(standings.ratings), indent=2))
        return
    console.print(_sources(store, frame), soft_wrap=True, highlight=False)
    print_ratings(console, standings.ratings, top)


def _sources(store: Store, frame: pd.DataFrame) -> str:
    """Returns a sentence: how many games of which runs."""
    played = {str(run) for run in frame["run"].unique()}
    kinds = Counter(run.kind for run in store.runs() if run.id in played)
    runs = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in kinds.most_common())
    return f"{int((frame['seat'] == 0).sum()):,} games of {runs}"


def _write_crosstable(path: Path | None, standings: Standings) -> None:
    if path is None:
        return
    games = standings.ratings["game"].unique().tolist()
    if len(games) != 1:
        raise UserError(
            f"--crosstable needs the results of one game, got those of {len(games)}"
            f"{': ' + ', '.join(games) if games else ''}; choose one with --game."
        )
    try:
        standings.crosstable().to_csv(path, index_label="agent")
    except OSError as failure:
        raise UserError(f"--crosstable must be a file that can be written, got {path}: {failure.strerror}.") from None
