"""What `turnier show` shows: a run, the rating lists of a game, or a study."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from turnier.commands.standings_tables import print_ratings, print_standings, rating_rows, with_standings
from turnier.commands.tables import MISHAPS, print_failures, print_means, print_seats, print_summary
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.results.alike_games import results_frame
from turnier.results.archive.reading import Archive
from turnier.results.failures import Failures, list_failures
from turnier.results.frames import Standings, Terms, json_rows, matches_frame, seat_summary, summary
from turnier.results.frames.terms import anchor_among
from turnier.results.store.progress import progress_of_runs
from turnier.results.store.store import Run, Store


class Shown(NamedTuple):
    """How results are shown."""

    top: int  # agents of a rating list
    as_json: bool
    crosstable: Path | None  # file to which it is written, too
    anchor: str = ""  # the agent whose Elo is 0
    nash: bool = False  # whether Nash averages are shown in any case

    def standings(self, frame: pd.DataFrame, run: Run | None, store: Store, **options: Any) -> tuple[Standings, str]:
        """Returns the standings of a frame, and the full text of the agent whose Elo is 0."""
        anchor = anchor_among(frame, self.anchor) if self.anchor else ""
        terms = Terms.of_runs(store, [run.id] if run else _runs_of(frame), anchor, self.nash)
        return Standings.of(frame, terms=terms, **options), terms.anchor


def show_run(store: Store, run: Run | None, shown: Shown) -> None:
    """Shows a run, or all tournaments."""
    frame = results_frame(store, run.id if run else None)
    if run is None and frame.empty and store.match_counts():
        raise UserError("--run or --game must be given, as this store has no tournament; turnier runs lists its runs.")
    standings, anchor = shown.standings(frame, run, store)
    _write_crosstable(standings, shown.crosstable)
    failures = list_failures(store, [run.id] if run else _runs_of(frame))
    if shown.as_json:
        _print_json(_with_reasons(with_standings(json_rows(summary(frame)), standings), failures))
        return
    console = Console()
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, standings, shown.top, anchor)
    print_failures(console, store, failures)


def show_means(archive: Archive, as_json: bool) -> None:
    """Shows the means of an archive's games, a table per game."""
    from turnier.results.archive.means import means_of

    table = means_of(archive)
    if as_json:
        _print_json(json_rows(table))
        return
    print_means(Console(), table)


def _runs_of(frame: pd.DataFrame) -> list[str]:
    return [str(run) for run in frame["run"].unique()]


def _with_reasons(rows: list[dict[str, Any]], failures: Failures) -> list[dict[str, Any]]:
    """Returns JSON rows with why each agent failed."""
    reasons = json_rows(failures.table)
    return [row | {"failed_because": [one for one in reasons if one["agent"] == row["agent"]]} for row in rows]


def show_comparison(store: Store, run: Run, shown: Shown) -> None:
    """Shows a comparison as the command that played it; as JSON or with a crosstable, as any other run."""
    from turnier.commands.runs.compare import print_comparison
    from turnier.runs.stored.comparison import ComparisonResults

    results = ComparisonResults.find(store, run.id)
    standings = results.standings(anchor=shown.anchor, nash=shown.nash)
    _write_crosstable(standings, shown.crosstable)
    if shown.as_json:
        rows = with_standings(json_rows(results.summary(full=True).reset_index()), standings)
        _print_json(_with_reasons(rows, list_failures(store, [run.id])))
    else:
        print_comparison(Console(), results, as_json=False)


def show_game(store: Store, game: str, run: Run | None, min_games: int, shown: Shown) -> None:
    """Shows the rating list of a game and of each of its variants, by the games of a run, or of all."""
    frame = matches_frame(store, run=run.id if run else None, kind=None, game=game, ids=False, variants=True)
    if frame.empty:
        stored = sorted(
            set(matches_frame(store, run=run.id if run else None, kind=None, ids=False)["game"].astype(str))
        )
        raise UserError(f"--game must be a stored game, got {game}; stored are {', '.join(stored) or 'none'}.")
    standings, anchor = shown.standings(frame, run, store, pairs=shown.crosstable is not None, min_games=min_games)
    _write_crosstable(standings, shown.crosstable)
    if shown.as_json:
        _print_json(_counted(rating_rows(standings), json_rows(summary(frame))))
        return
    console = Console()
    console.print(_sources(store, frame), highlight=False)
    print_ratings(console, standings, shown.top, anchor)
    left_out = len(frame[["game", "agent"]].drop_duplicates()) - len(standings.ratings)
    if left_out:
        few = "no game against another agent" if min_games == 1 else f"fewer than {min_games} games, see --min-games"
        console.print(f"Agents left out: {left_out:,} ({few}).", highlight=False)
    print_failures(console, store, list_failures(store, _runs_of(frame), [str(one) for one in frame["game"].unique()]))


def _counted(ratings: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows of a rating list with the numbers of games that failed and of void ones, from rows of `summary`."""
    known = {(row["game"], row["agent"]): {name: row[name] for name in MISHAPS.values()} for row in rows}
    return [row | known[row["game"], row["agent"]] for row in ratings]


def show_study(store: Store, run: Run, shown: Shown) -> None:
    """Shows how far a study is, and the verdict or the front with which it ended; never its candidates."""
    from turnier.commands.search_tables import print_figures, print_points, print_verdict
    from turnier.search.front.points import stored_points
    from turnier.search.storage.checked_studies import FINISHED
    from turnier.search.storage.commands import to_play_on
    from turnier.search.storage.definitions import StudyFacts
    from turnier.search.storage.studies import stored_verdict
    from turnier.search.storage.trials import study_names, trials_frame, unit

    state = next((one.state for one in progress_of_runs(store) if one.run == run.id), "unknown")
    candidates = int(trials_frame(store, run.name)["state"].isin(FINISHED).sum())
    games = store.match_counts().get(run.id, 0)
    begun = run.name in study_names(store)
    verdict = stored_verdict(store, run.name) if begun else None
    points = stored_points(store, run.name) if begun else []
    play_on = to_play_on(store, run.definition, verdict)
    failures = list_failures(store, [run.id])
    if shown.as_json:
        counts = {"study": run.name, "state": state, "candidates": candidates, "games": games}
        front = {"front": [point.row() for point in points]} if points else {}
        failed = {"failures": json_rows(failures.table)}
        _print_json(
            counts | {"verdict": None if verdict is None else verdict.to_json() | {"play_on": play_on}} | front | failed
        )
        return
    console = Console()
    console.print(
        f"Study {run.name}: {state}, {candidates:,} candidates, {games:,} games.", soft_wrap=True, markup=False
    )
    if points:
        print_points(console, points, unit(store, run.name), StudyFacts.of(run.definition).unit_games)
    elif verdict is None:
        console.print("It has no verdict yet: repeat its command, which resumes it and ends with one.")
    else:
        print_figures(console, verdict, unit(store, run.name))
        print_verdict(console, verdict, play_on)
    print_failures(console, store, failures)


def _sources(store: Store, frame: pd.DataFrame) -> str:
    """Returns how many games of which runs a frame has."""
    played = {str(run) for run in frame["run"].unique()}
    kinds = Counter(run.kind for run in store.runs() if run.id in played)
    runs = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in kinds.most_common())
    return f"{int((frame['seat'] == 0).sum()):,} games of {runs}"


def _write_crosstable(standings: Standings, path: Path | None) -> None:
    if path is None:
        return
    games = standings.ratings["game"].unique().tolist()
    if len(games) != 1:
        named = f"{len(games)}: {', '.join(games)}" if games else "none with two agents"
        raise UserError(f"--crosstable must be of one game, got {named}; choose one with --game.")
    try:
        standings.crosstable().to_csv(path, index_label="agent")
    except OSError as failure:
        raise UserError(f"--crosstable must be a file that can be written, got {path}: {failure.strerror}.") from None


def _print_json(content: Any) -> None:
    """Prints JSON, in which what is unknown (NaN) is null."""
    print(json.dumps(json.loads(json.dumps(content), parse_constant=lambda _: None), indent=2))
