"""A match that is shown while it is played."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from turnier.agents.agent import Agent, Decision, FollowingPlayer, Player, decide
from turnier.agents.ensembles.ensemble import start_player
from turnier.agents.ensembles.pool import Pool
from turnier.agents.failure import SeatFailure
from turnier.arena.match import MatchSpec
from turnier.arena.play import check_spec, first_position, seen_by
from turnier.commands.tables import units_text
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.games.abi import CHANCE
from turnier.games.game import Game, Position


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
        pool: where members of ensembles search.
    """
    check_spec(MatchSpec(game.full_text(), tuple(agent.full_text() for agent in agents), seed))
    players = [start_player(agent, game, seat, seed, pool) for seat, agent in enumerate(agents)]
    position = first_position(game, seed)
    plies: list[int] = []
    before: list[Position] = []
    if every_move:
        console.print(_explanation(game, agents), markup=False, highlight=False)
    decisions, nodes, seconds = (np.zeros(game.num_seats) for _ in range(3))
    updated = time.perf_counter()
    with Live(console=console, transient=True, auto_refresh=False) as live, closing_players(players):
        while not position.over:
            before.append(position)
            if position.to_move == CHANCE:
                plies.append(position.draw_outcome())
                position = position.play(plies[-1], draw_chance=False)
                continue
            seat = position.to_move
            if isinstance(player := players[seat], FollowingPlayer):
                player.follow(plies, before[:-1])
            decision = decide(player, seen_by(position, seat, seed, int(decisions.sum())))
            decisions[seat] += 1
            nodes[seat] += decision.nodes
            seconds[seat] += decision.seconds
            if every_move:
                described = _describe(agents[seat], position, decision)
                console.print(f"\n{position}\nseat {seat}: {described}", markup=False, highlight=False)
            elif time.perf_counter() - updated > 0.2:
                updated = time.perf_counter()
                score = ", ".join(number(r) for r in position.returns)
                live.update(Text(f"move {int(decisions.sum())}, score {score}"), refresh=True)
            plies.append(decision.action)
            position = position.play(decision.action, draw_chance=False)
    console.print(f"\n{position}\n", markup=False, highlight=False)
    table = Table("seat", "agent", "score", "moves", "nodes", "ms/move", title=escape(f"{game}, seed {seed}"))
    for seat, agent in enumerate(agents):
        per_move = 1000 * seconds[seat] / max(1, decisions[seat])
        row = (number(position.returns[seat]), f"{decisions[seat]:,.0f}", f"{nodes[seat]:,.0f}", number(per_move))
        table.add_row(str(seat), escape(str(agent)), *row)
    console.print(table)
    if pool and pool.lost:
        searches = "1 search was" if pool.lost == 1 else f"{pool.lost} searches were"
        console.print(f"{searches} lost with a worker and repeated with the same seed.")
    return position


@contextlib.contextmanager
def closing_players(players: Sequence[Player]) -> Iterator[None]:
    """Ends the part of programs in a match; raises UserError where one of them has failed."""
    try:
        yield
    except SeatFailure as failure:
        raise UserError(f"{failure}; the match ends here.") from failure
    finally:
        for player in players:
            if isinstance(player, FollowingPlayer):
                player.close()


def _explanation(game: Game, agents: Sequence[Agent]) -> str:
    """Says what the numbers of every move are."""
    said = f"Values: {units_text(game, agents)}. In brackets: how often the search tried the move."
    if game.num_seats == 1:
        highest = number(game.max_return, digits=4)
        said += f" With score_method=2 a rollout to the end of the game counts {highest} less."
    return said


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
