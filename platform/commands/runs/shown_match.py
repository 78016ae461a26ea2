"""A match that is shown while it is played."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from rich.live import Live
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from ...agents.agent import Agent, Decision
from ...agents.ensembles.pool import Pool
from ...agents.seats.failure import Ending, SeatFailure
from ...arena.match import MatchSpec, Termination
from ...arena.play import check_spec
from ...arena.table import Table, scores_at
from ...core.errors import UserError
from ...core.number_text import number
from ...core.terminal.console import Console
from ...games.game import Game, Position
from ..tables import units_text


def show_match(
    console: Console,
    game: Game,
    agents: Sequence[Agent],
    seed: int,
    *,
    every_move: bool = False,
    pool: Pool | None = None,
) -> Position:
    """Plays a match with one agent per seat, prints how it ended, and returns the final position.

    The moves are those of the MatchSpec with the same game, agents and seed.

    Args:
        every_move: print all positions and the agents' values; otherwise a single line shows the progress.
        pool: workers for the searches of ensembles.
    """
    check_spec(MatchSpec(game.full_text(), tuple(agent.full_text() for agent in agents), seed))
    table = Table(game, agents, seed, pool=pool)
    ending = Termination.NORMAL
    if every_move:
        console.print(_explanation(game, agents), markup=False, highlight=False)
    updated = time.perf_counter()
    with Live(console=console, transient=True, auto_refresh=False) as live, contextlib.closing(table):
        try:
            for seat, position, decision in table.turns():
                if every_move:
                    described = _describe(agents[seat], position, decision)
                    console.print(f"\n{position}\nseat {seat}: {described}", markup=False, highlight=False)
                elif time.perf_counter() - updated > 0.2:
                    updated = time.perf_counter()
                    score = ", ".join(number(r) for r in table.position.returns)
                    live.update(Text(f"move {len(table.seats)}, score {score}"), refresh=True)
        except SeatFailure as failure:
            if failure.ending is not Ending.RESIGNED:
                raise UserError(f"{failure}; the match ends here.") from failure
            ending = Termination.RESIGNED
            console.print(f"\n{failure}", markup=False, highlight=False)
    console.print(f"\n{table.position}\n", markup=False, highlight=False)
    for note in table.notes():
        console.print(note, markup=False, highlight=False)
    shown = RichTable("seat", "agent", "score", "moves", "nodes", "ms/move", title=escape(f"{game}, seed {seed}"))
    scores, decisions = scores_at(table.position, ending), table.decisions()
    for seat, agent in enumerate(agents):
        per_move = 1000 * table.seconds[seat] / max(1, decisions[seat])
        row = (number(scores[seat]), f"{decisions[seat]:,}", f"{table.nodes[seat]:,}", number(per_move))
        shown.add_row(str(seat), escape(str(agent)), *row)
    console.print(shown)
    if pool and pool.lost:
        searches = "1 search was" if pool.lost == 1 else f"{pool.lost} searches were"
        console.print(f"{searches} lost with a worker and repeated with the same seed.")
    return table.position


def _explanation(game: Game, agents: Sequence[Agent]) -> str:
    """Explains the numbers of every move."""
    return f"Values: {units_text(game, agents)}. In brackets: how often the search tried the move."


def _describe(agent: Agent, position: Position, decision: Decision) -> str:
    """Returns the chosen action, and the search's value (in the agent's unit) and visits of every legal one."""
    game = position.game
    scale = agent.value_unit(game).scale
    values = [
        f"{game.action_name(a)} {number(decision.values[a] * scale, digits=4)} ({decision.visits[a]:.0f})"
        for a in position.legal_actions()
        if decision.visits[a] > 0
    ]
    return game.action_name(decision.action) + (f"   values (visits): {', '.join(values)}" if values else "")
