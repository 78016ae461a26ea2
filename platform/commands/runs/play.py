"""`turnier play`: one match to look at, move by move, or games in which people take part."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from ...arena.workers.where import ANYWHERE, Where
from ...core.errors import UserError
from ...core.terminal.console import Console
from ..options import DEFAULT_URL, AgentsArgument, GameArgument, StoreOption, TrustOption
from ..place import placed


@placed
def play(
    game: GameArgument,
    agents: AgentsArgument,
    seed: Annotated[
        int | None,
        typer.Option(help="same seed, same game; default: 1, with people the first seed without a finished game"),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="print every position")] = False,
    name: Annotated[str, typer.Option(help="name of the person who plays as human; default: the login name")] = "",
    games: Annotated[int, typer.Option(help="with people: number of games, in rotating seats", min=1, max=1000)] = 1,
    ladder: Annotated[
        bool, typer.Option("--ladder", help="choose a person's opponents from stored agents of about the same strength")
    ] = False,
    store: StoreOption = DEFAULT_URL,
    where: Where = ANYWHERE,
    trust: TrustOption = False,
) -> None:
    """Play one match and show how it ends, or take a seat yourself.

    Name one agent per seat, in seat order. The same seed gives the same match.

    The agent human is a person at this terminal, who types the names of moves, or help to list the commands.
    Games with people are stored; the same command resumes an unfinished game. After several games, a rating list shows
    the person's strength.

    \b
    Examples:
      turnier play 2048 "mc(iterations=50)" --seed 3
      turnier play tictactoe "mcts(iterations=100)" random --show
      turnier play yavalath human "mcts(iterations=1000)"
      turnier play hex "human(name=Ann)" "human(name=Bo)"
      turnier play yavalath human --ladder --games 10
    """
    from ...agents.human.agent import Human
    from ...agents.registry import make_agent
    from ...arena.workers.make import make_pool
    from ...games.registry import make_game

    console, made, players = Console(), make_game(game), [make_agent(agent) for agent in agents]
    if not any(isinstance(player, Human) for player in players):
        if name or games > 1 or ladder:
            raise UserError("--name, --games and --ladder need an agent human; without people, use turnier tournament.")
        from .shown_match import show_match

        with make_pool(players, where) as pool:
            show_match(console, made, players, 1 if seed is None else seed, every_move=show, pool=pool)
        return
    from ...results.store.store import Store
    from .play_people import Series, play_series

    series = Series.of(made, agents, name, games, seed, ladder)
    with make_pool(players, where) as pool, Store.open(store) as opened:
        play_series(console, series, opened, lambda prompt: console.input(Text(prompt)), pool)
