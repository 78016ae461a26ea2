"""The rating list of a game over all its stored games, and the means of an archive."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from turnier.dashboards import terminal
from turnier.dashboards.agent_names import with_names
from turnier.dashboards.kinds import games
from turnier.dashboards.kinds.tournament import list_of, rating_rows
from turnier.dashboards.tables import Column, Table

from ...core.errors import UserError
from ...core.terminal.console import Console
from ...results.archive.reading import Archive
from ...results.failures import list_failures, store_option
from ...results.frames import Standings, Terms, json_rows, matches_frame, summary
from ...results.frames.terms import anchor_among
from ...results.store.store import Run, Store
from ..runs.show import Shown, print_json, write_crosstable


def show_game(store: Store, game: str, run: Run | None, min_games: int, shown: Shown) -> None:
    """Shows the rating list of a game and of each of its variants, from the games of one run or of all."""
    within = run.id if run else None
    frame = matches_frame(store, run=within, kind=None, game=game, ids=False, variants=True)
    if frame.empty:
        stored = sorted(set(matches_frame(store, run=within, kind=None, ids=False)["game"].astype(str)))
        raise UserError(f"--game must be a stored game, got {game}; stored are {', '.join(stored) or 'none'}.")
    anchor = anchor_among(frame, shown.anchor) if shown.anchor else ""
    runs = [run.id] if run else [str(one) for one in frame["run"].unique()]
    terms = Terms.of_runs(store, runs, anchor, shown.nash)
    standings = Standings.of(frame, pairs=shown.crosstable is not None, min_games=min_games, terms=terms)
    if shown.crosstable is not None:
        write_crosstable(standings, shown.crosstable)
    if shown.as_json:
        print_json(_counted(rating_rows(standings), json_rows(summary(frame))))
        return
    console = Console()
    terminal.say(console, _sources(store, frame))
    for name in standings.ratings["game"].unique():
        terminal.print_sections(console, list_of(standings, str(name)), top=shown.rows)
    left_out = len(frame[["game", "agent"]].drop_duplicates()) - len(standings.ratings)
    if left_out:
        few = "no game against another agent" if min_games == 1 else f"fewer than {min_games} games, see --min-games"
        terminal.say(console, f"Agents left out: {left_out:,} ({few}).")
    failures = list_failures(store, runs, [str(one) for one in frame["game"].unique()])
    for sentence in failures.sentences(store_option(store)):
        terminal.say(console, sentence, "red")


def _counted(ratings: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows of a rating list with the numbers of failed and void games, from rows of `summary`."""
    names = [column.name for column in games.MISHAPS]
    known = {(row["game"], row["agent"]): {name: row[name] for name in names} for row in rows}
    return [row | known[row["game"], row["agent"]] for row in ratings]


def _sources(store: Store, frame: pd.DataFrame) -> str:
    """Returns a sentence with the number of games in a frame, by run."""
    played = {str(run) for run in frame["run"].unique()}
    kinds = Counter(run.kind for run in store.runs() if run.id in played)
    runs = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in kinds.most_common())
    return f"{int((frame['seat'] == 0).sum()):,} games of {runs}"


def show_means(archive: Archive, as_json: bool) -> None:
    """Shows the means of an archive's games, a table per game."""
    from ...results.archive.means import means_of

    table = means_of(archive)
    if as_json:
        print_json(json_rows(table))
        return
    columns = (Column("label", "agent", key=True), games.GAMES, games.MEAN)
    for game, part in table.groupby("game"):
        shares = games.SHARES if part["points_share"].notna().any() else ()
        title = f"{game}: means and points, 95 % intervals"
        [shown] = with_names(part.reset_index(drop=True))
        terminal.print_table(Console(), Table(title, shown, [*columns, *shares]))
