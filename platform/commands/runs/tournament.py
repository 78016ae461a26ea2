"""What a tournament found, for a terminal."""

from __future__ import annotations

from rich.console import Console

from turnier.agents.registry import label_of
from turnier.arena.schedules.adaptive import AdaptiveTournament
from turnier.commands.standings_tables import print_standings
from turnier.commands.tables import print_seats, print_summary
from turnier.results.frames.matches import matches_frame, seat_summary, summary
from turnier.results.frames.standings import Standings
from turnier.results.store.store import Store
from turnier.runs.tournament import Tournament


def show(console: Console, store: Store, tournament: Tournament) -> None:
    """Prints what the run found."""
    frame = matches_frame(store, run=tournament.run_id, ids=False)
    print_summary(console, summary(frame))
    print_seats(console, seat_summary(frame))
    print_standings(console, *Standings.of(frame))
    if tournament.adaptive:
        console.print(_places(tournament.adaptive, tournament.certainty), soft_wrap=True, markup=False, highlight=False)


def _places(found: AdaptiveTournament, wanted: float) -> str:
    leaders = ", ".join(f"{place}. {label_of(agent)}" for place, agent in enumerate(found.leaders(), 1))
    certain = f"certain to {100 * found.certainty:.1f} % after {found.games:,} games"
    if found.certainty >= wanted:
        return f"The first places are {certain}: {leaders}."
    return f"The first places are not yet decided, only {certain}, see --games: {leaders}."
