"""`turnier analyse`: agents' opinions of a position, and its best move."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live

from ...core.errors import UserError
from ...core.terminal.console import Console
from ..options import DEFAULT_URL, JsonOption, SeedOption, StoreOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...arena.analysis import Analysis
    from ...games.game import Position

TOP, REPEATS, GAMES = 12, 10, 100
REFRESHES = 4  # per second


def analyse(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GAME [AGENT...]",
            help="a game and agents, with --match only agents; default: expectimax for 2048, otherwise mcts",
        ),
    ] = None,
    board: Annotated[
        str,
        typer.Option(help='the position as the game prints it, with slashes between rows, or "-" for standard input'),
    ] = "",
    moves: Annotated[str, typer.Option(help='the moves that led to the position, such as "d3 c4"')] = "",
    match: Annotated[str, typer.Option(help="a stored match: its id or the beginning of it")] = "",
    move: Annotated[int, typer.Option(help="with --match: the position before this move", min=1)] = 1,
    seconds: Annotated[
        float | None, typer.Option(help="deepen for this many seconds; default: as deep as the agents' parameters say")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="searches to measure certainty from; default: 10, with --best 1", min=1)
    ] = None,
    doublings: Annotated[
        int, typer.Option(help="without --seconds: double the agents' budgets this many times", min=0)
    ] = 0,
    best: Annotated[
        bool, typer.Option("--best", help="the best move: one search, and games continued from every move")
    ] = False,
    games: Annotated[
        int | None, typer.Option(help="maximum games continued from every move; default: 0, with --best 100", min=0)
    ] = None,
    games_by: Annotated[
        str, typer.Option(help="agent for these games, in all seats; default: a quick version of the first agent")
    ] = "",
    game_seconds: Annotated[float, typer.Option(help="time for these games, in seconds", min=0.01)] = 1.0,
    goal: Annotated[
        int | None,
        typer.Option(help="value whose chance is estimated, such as a tile of 2048; default: the next large one"),
    ] = None,
    top: Annotated[int, typer.Option(help="number of moves to show", min=1)] = TOP,
    seed: SeedOption = 1,
    store: StoreOption = DEFAULT_URL,
    as_json: JsonOption = False,
) -> None:
    """Show what agents think of a position: values, visits, certainty and the expected line.

    Each agent searches the position several times, each time with a different seed. In a terminal, the table grows
    meanwhile. The default position is the start of the game. See docs/playing.md for how to write the boards of each
    game.

    With --best or --games, the agent --games-by continues games from every move; shown are the share that reached the
    goal or were won, and the mean result. These are only as good as that agent's play.

    \b
    Examples:
      turnier analyse 2048 --board "2 . . 2 / 4 8 . . / . . . . / . . . 16" "mctse(iterations=500)" "mc(iterations=50)"
      turnier analyse yavalath --moves "E5 D4" "mcts(iterations=1000)" --seconds 10
      turnier analyse chess --board "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" "mcts(iterations=200)" --repeats 3
      turnier analyse 2048 --best --board "4096 2048 512 64 / 2 8 16 32 / . 4 2 8 / . . . 2" --goal 16384
      turnier analyse connect_four "mcts(iterations=5000)" --best --moves "d d c" --json
      turnier analyse --match 3f9a1c --move 12 "mcts(iterations=1000)"
    """
    from ...arena.analysis import PlayingOn
    from ...arena.analysis import analyse as searches
    from ...server.analysis_data import analysis_data

    if sum(map(bool, (board, moves, match))) > 1:
        raise UserError("a position must be given once, got more than one of --board, --moves and --match; choose one.")
    if seed < 0:
        raise UserError(f"a seed must be 0 or larger, got {seed}.")
    position, agents = _of_match(match, move, words or [], store) if match else _of_text(words or [], board, moves)
    played = (GAMES if best else 0) if games is None else games
    found = searches(
        position,
        agents or [position.game.default_agent],
        seconds,
        (1 if best else REPEATS) if repeats is None else repeats,
        seed=seed,
        doublings=doublings,
        playing_on=PlayingOn(played, game_seconds, games_by or None, goal) if played else None,
    )
    if as_json:
        print(json.dumps(analysis_data(_last(found)), indent=2))
    else:
        _show(found, top)


def _show(found: Iterator[Analysis], top: int) -> None:
    from .analysis_table import analysis_text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.print(analysis_text(_last(found), top))
        return
    latest = next(found)
    with Live(console=console, refresh_per_second=REFRESHES, get_renderable=lambda: analysis_text(latest, top)):
        for one in found:
            latest = one  # drawn now and then only: drawing takes longer than many searches


def _last(found: Iterator[Analysis]) -> Analysis:
    *_, last = found
    return last


def _of_text(words: list[str], board: str, moves: str) -> tuple[Position, list[str]]:
    from ...games.registry import make_game
    from ...games.setup.moves import MOVES

    if not words:
        raise UserError("an analysis needs a game; write turnier analyse GAME AGENT, or --match ID.")
    game, agents = make_game(words[0]), words[1:]
    text = sys.stdin.read() if board == "-" else board
    return game.position_of(text or f"{MOVES} {moves}"), agents


def _of_match(match: str, move: int, agents: list[str], store: str) -> tuple[Position, list[str]]:
    from ...arena.analysis.reanalysis import Reanalysis
    from ...results.store.store import Store

    with Store.open(store, read_only=True) as opened:
        moments = Reanalysis(opened.find_record(match)).moments
    if move >= len(moments):
        raise UserError(f"--move must be from 1 to {len(moments) - 1} in this match, got {move}; choose another.")
    return moments[move - 1].position, agents
