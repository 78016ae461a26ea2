"""`turnier move`: the best move of a position."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from turnier.commands.options import GameArgument, JsonOption, SeedOption
from turnier.core.number_text import duration, estimate, number, plus_minus
from turnier.core.terminal.console import Console

if TYPE_CHECKING:
    from turnier.arena.analysis.best_move import BestMove, MoveOutlook

TOP = 12
REFRESHES = 4  # per second


def move(
    game: GameArgument,
    board: Annotated[
        str,
        typer.Argument(
            help='the position: a board as the game prints it, with slashes between rows; moves, such as "moves d3 c4";'
            ' or "-" for standard input'
        ),
    ],
    agent: Annotated[
        str, typer.Option(help="the agent that chooses; default: expectimax for 2048, otherwise mcts")
    ] = "",
    seconds: Annotated[
        float, typer.Option(help="seconds for playing on from every move, after the agent has chosen", min=0.01)
    ] = 1.0,
    games: Annotated[int, typer.Option(help="maximum games from every move, 0 = none", min=0)] = 100,
    games_by: Annotated[
        str, typer.Option(help="the agent that plays on, in every seat; default: a quick version of --agent")
    ] = "",
    tile: Annotated[
        int | None, typer.Option(help="2048: the tile whose chance is estimated; default: the next large one", min=4)
    ] = None,
    top: Annotated[int, typer.Option(help="number of moves to show", min=1)] = TOP,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Show the best move in any position, with every move's value and chances.

    Values come from the agent's own search. Chances come from games that another agent, --games-by, plays on from every
    move: the share of them that reached a tile or were won. They are only as good as that agent's play. See
    docs/playing.md.

    \b
    Examples:
      turnier move 2048 "2 . . 2 / 4 8 . . / . . . . / . . . 16"
      turnier move 2048 "4096 2048 512 64 / 2 8 16 32 / . 4 2 8 / . . . 2" \\
        --agent "expectimax(depth=2,evaluator=rows2048)" --seconds 2 --tile 16384
      turnier move connect_four "moves d d c" --agent "mcts(iterations=5000)" --json
    """
    from turnier.arena.analysis.best_move import best_move, default_agent
    from turnier.core.errors import UserError
    from turnier.games.registry import make_game

    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    made = make_game(game)
    position = made.position_of(sys.stdin.read() if board == "-" else board)
    found = best_move(
        position, agent or default_agent(position.game), seconds, games, player=games_by or None, goal=tile, seed=seed
    )
    console = Console(highlight=False)
    if as_json or not console.is_terminal:
        *_, last = found
        if as_json:
            print(json.dumps(last.data(), indent=2))
        else:
            console.print(move_text(last, top))
        return
    limit: float | None = seconds
    with console.status(f"{agent or 'The agent'} searches ..."):
        latest = next(found)
    with Live(console=console, refresh_per_second=REFRESHES, get_renderable=lambda: move_text(latest, top, limit)):
        for one in found:
            latest = one
        limit = None  # no time is left to be shown


def move_text(found: BestMove, top: int, seconds: float | None = None) -> Group:
    """Returns the board, the best move, a table of the `top` best, and the time left where seconds are given."""
    position = found.position
    game, state = position.game, position.state
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("move", "value", *((f"chance of {_goal(found)}",) * (found.goal is not None)), "result", "games"):
        table.add_column(heading, justify="left" if heading == "move" else "right")
    for one in found.moves[:top]:
        chosen = one.action == found.best
        table.add_row(*_cells(found, one), style="bold" if chosen else "")
    best = Text("Best move: ").append(game.move_text(state, found.best), style="bold")
    best.append(f"  by {found.agent}, {number(found.nodes)} nodes in {duration(found.search_seconds)}\n", style="dim")
    hidden = len(found.moves) - top
    said = [f"{hidden} more moves; --top shows more."] if hidden > 0 else []
    said += [f"Values are the agent's own: {found.unit.text}."]
    if found.games:
        said.append(
            f"Chances and results, with 95 % intervals, are of games that {found.player} played on from every move."
        )
    elif found.player:
        said.append("No game from every move has ended in time; --seconds gives more, --games-by is another player.")
    left = "" if seconds is None else f"  {duration(max(0.0, seconds + found.search_seconds - found.seconds))} left"
    return Group(Text(f"{position}\n"), best, table, Text(" ".join(said) + left))


def _goal(found: BestMove) -> str:
    """Returns what may be reached as a heading: a tile's number, or a win."""
    goal = found.goal
    return "" if goal is None else f"{goal.least:g}" if goal.fact == "max_tile" else str(goal)


def _cells(found: BestMove, one: MoveOutlook) -> list[str]:
    name = found.position.game.move_text(found.position.state, one.action)
    value = "-" if one.value is None else number(one.value)
    cells = [f"{name} *" if one.action == found.best else name, value]
    n = len(one.results)
    if found.goal is not None:
        share, low, high = one.chance
        cells.append(estimate(100 * share, 100 * low, 100 * high, " %") if n else "-")
    mean, half = one.result
    return [*cells, plus_minus(mean, half) if n > 1 else number(mean) if n else "-", str(n)]
