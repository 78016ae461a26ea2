"""What a measurement of certainty found, for a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console

from turnier.arena.repeated_search import SearchRecord
from turnier.commands.tables import print_certainty
from turnier.games.registry import GAMES
from turnier.results.frames.certainty import agent_certainty, group_certainty, position_certainty, searches_frame
from turnier.results.frames.matches import json_rows
from turnier.runs.certainty import Certainty


def show(console: Console, certainty: Certainty, votes: Sequence[SearchRecord], as_json: bool) -> None:
    """Prints the groups and the means over them, as tables or as JSON."""
    positions = position_certainty(searches_frame(votes))
    groups, agents = group_certainty(positions), agent_certainty(positions)
    if as_json:
        print(json.dumps({"agents": json_rows(agents), "groups": json_rows(groups)}, indent=2))
    else:
        print_certainty(console, groups, agents, GAMES.make(certainty.game).phase_name)
