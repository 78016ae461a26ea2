"""Pandas views of a store: matches, summaries with 95 % intervals, ratings, breakdowns, certainty. Nothing is stored.

Begin with `matches_frame(store)`, which has one row per match and seat; the functions for matches take that frame.
`searches_of_runs(store, run_ids)` is the same for repeated searches, the basis of certainty.
"""

from .breakdown import by_opponent, by_parameter, by_players
from .certainty import agent_certainty, group_certainty, position_certainty, searches_frame, searches_of_runs
from .matches import json_rows, matches_frame, runs_frame, seat_summary, summary, win_share
from .standings import Standings
from .teams import death_reasons, teams_frame
from .terms import Terms

__all__ = [
    "Standings",
    "Terms",
    "agent_certainty",
    "by_opponent",
    "by_parameter",
    "by_players",
    "death_reasons",
    "group_certainty",
    "json_rows",
    "matches_frame",
    "position_certainty",
    "runs_frame",
    "searches_frame",
    "searches_of_runs",
    "seat_summary",
    "summary",
    "teams_frame",
    "win_share",
]
