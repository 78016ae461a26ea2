"""`turnier play`: one match to look at, move by move."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from turnier.commands.options import EXECUTOR, AddressOption, AgentsArgument, GameArgument, SeedOption, WorkersOption


def play(
    game: GameArgument,
    agents: AgentsArgument,
    seed: SeedOption = 1,
    show: Annotated[bool, typer.Option("--show", help="print every position")] = False,
    executor: Annotated[
        str,
        typer.Option(help="where members of ensembles search: auto (threads or a cluster), ray, threads or serial"),
    ] = EXECUTOR,
    workers: WorkersOption = None,
    address: AddressOption = None,
) -> None:
    """Play one match and show how it ends.

    Give one agent per seat, in the order of the seats. The same seed gives the same match.

    \b
    Examples:
      turnier play 2048 "mc(iterations=50)" --seed 3
      turnier play tictactoe "mcts(iterations=100)" random --show
    """
    from turnier.agents.registry import make_agent
    from turnier.arena.workers.make import make_pool
    from turnier.commands.runs.shown_match import show_match
    from turnier.games.registry import make_game

    made, players = make_game(game), [make_agent(agent) for agent in agents]
    with make_pool(players, executor, workers, address) as pool:
        show_match(Console(), made, players, seed, every_move=show, pool=pool)
