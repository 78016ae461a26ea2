"""Shows the results of a run in the terminal; every command that plays a run ends with this."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from turnier.commands.other_code import print_other_code
from turnier.commands.results.result_tables import Shown, show_run
from turnier.commands.runs.train import print_training
from turnier.commands.standings_tables import print_standings
from turnier.commands.tables import (
    print_certainty,
    print_failures,
    print_judged,
    print_seats,
    print_summary,
    require_rated,
)
from turnier.core.terminal.console import Console
from turnier.results.alike_games import results_frame
from turnier.results.failures import list_failures
from turnier.results.frames import Standings, Terms, json_rows, seat_summary, summary
from turnier.results.store.store import Run, Store
from turnier.runs.stored.certainty import CertaintyResults
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.stored.judging import JudgingResults
from turnier.runs.stored.tournament import TournamentResults
from turnier.runs.stored.training import TrainingResults
from turnier.search.storage.results import SearchResults


def show(results: Any, as_json: bool = False) -> None:
    """Prints the results of a run."""
    if isinstance(results, ComparisonResults):
        from turnier.commands.runs.compare import print_comparison

        print_comparison(Console(), results, as_json)
    elif isinstance(results, CertaintyResults):
        if as_json:
            print(json.dumps({"agents": json_rows(results.agents()), "groups": json_rows(results.groups())}, indent=2))
        else:
            from turnier.games.registry import game_of

            phase = game_of(str(results.store.run(results.id).definition["game"])).phase_name
            print_certainty(Console(), results.groups(), results.agents(), phase)
    elif isinstance(results, JudgingResults):
        if as_json:
            chance = {"optimal": results.chance, "kept": results.contested_chance}
            rows = json_rows(results.agents())
            print(json.dumps({"judge": results.judge, "random": chance, "agents": rows}, indent=2))
        else:
            print_judged(Console(), str(results.game), results)
    elif isinstance(results, SearchResults):
        from turnier.commands.runs.tune import print_search

        print_search(results, as_json)
    elif isinstance(results, TournamentResults):
        _tournament(results, as_json)
    elif isinstance(results, TrainingResults):
        print_training(Console(), results, as_json)
    print_other_code(results.store, results.id, as_json)


def show_stored(store: Store, run: Run, shown: Shown) -> None:
    """Prints a stored run of any kind."""
    from turnier.commands.results import result_tables, teams
    from turnier.runs.declared.kinds import results_of

    if run.kind == "study":
        result_tables.show_study(store, run, shown)
    elif run.kind == "comparison":
        result_tables.show_comparison(store, run, shown)
    elif run.kind in ("certainty", "judging", "training"):
        show(results_of(store, run), shown.as_json)
    elif (games := teams.games_of_servers(store, run, shown)) is not None:
        teams.show_teams(store, games, shown)
    else:
        result_tables.show_run(store, run, shown)


def _tournament(results: TournamentResults, as_json: bool) -> None:
    console = Console()
    frame = results_frame(results.store, results.id)
    terms = Terms.of_runs(results.store, [results.id])
    if as_json:
        show_run(results.store, results.store.run(results.id), Shown(200, True, None))
        return
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, Standings.of(frame, terms=terms), anchor=terms.anchor)
    if text := results.first_places():
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    _print_repeats(console, frame, results)
    print_failures(console, results.store, list_failures(results.store, [results.id]))
    require_rated(frame)


def _print_repeats(console: Console, frame: pd.DataFrame, results: TournamentResults) -> None:
    """Says which agents repeated games by construction."""
    repeated = frame[frame["repeat"]]
    labels = sorted(repeated["label"].unique())
    if labels and results.tournament:
        among = frame["label"].isin(labels).groupby(frame["match"]).all()
        again = f"{' and '.join(labels)} {'play' if len(labels) > 1 else 'plays'} the same game with every seed"
        numbers = f"{among.sum():,} games, {among.sum() - repeated['match'].nunique():,} different"
        console.print(f"{numbers}: {again}; {results.tournament.cure}.", soft_wrap=True, markup=False, highlight=False)
