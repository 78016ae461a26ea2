"""Positions set up by users, and analyses of them that search ever deeper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...arena.analysis import Analysis, analyse
from ...core.errors import UserError
from ...games.game import Position
from ...games.registry import GAMES
from ...games.setup.moves import MOVES, names_of_moves
from .frames import moves_on
from .opinions import require_harmless
from .requests import NEVER_STORED
from .streams import Streams
from .tables import require_harmless_game

MOST_AGENTS, MOST_SECONDS = 6, 600


def read_position(game: str, text: str) -> Position:
    """Returns the position of a text, see `Game.position_of`; the start of the game if the text is empty."""
    require_harmless_game(game)
    return GAMES.make(game).position_of(text if text.strip() else MOVES)


def described(position: Position, text: str) -> dict[str, Any]:
    """Returns a position for the page, with its text."""
    game, state = position.game, position.state
    legal, svg = [] if position.over else position.legal_actions(), game.svg(state)
    return {
        "game": str(game),
        "text": text.strip() or MOVES,
        "svg": svg,
        "toMove": position.to_move,
        "returns": position.returns.tolist(),
        "help": game.board_help,
        "legal": moves_on(svg, game, state, legal),
    }


def after(position: Position, text: str, name: str) -> tuple[Position, str]:
    """Returns the position after a move, and its text: the moves if it was set up by moves, otherwise the board."""
    game, action = position.game, position.game.move_of(position.state, name)
    if action is None:
        raise UserError(f"a move must be legal, got {name[:40]!r}; choose another.")
    following, so_far = position.play(action), text.strip() or MOVES
    if names_of_moves(so_far) is not None and not game.has_chance:
        return following, f"{so_far} {game.move_text(position.state, action)}"
    if not game.shows_all(following.state):
        raise UserError(f"{game} has no board text for the next position; set it up by the moves from the start.")
    return following, game.board_text(following.state)


def analyses(position: Position, agents: Sequence[str], seconds: float) -> Iterator[dict[str, Any]]:
    """Yields the results of all agents so far, see `arena.analysis.analyse`."""
    if not 0 < len(agents) <= MOST_AGENTS or not 0 < seconds <= MOST_SECONDS:
        raise UserError(
            f"an analysis takes 1 to {MOST_AGENTS} agents and at most {MOST_SECONDS} s, got {len(agents)} and"
            f" {seconds:g}; choose others."
        )
    for agent in agents:
        require_harmless(agent)
    return map(_shown, analyse(position, agents, seconds))


def _shown(found: Analysis) -> dict[str, Any]:
    game, state = found.position.game, found.position.state
    return {
        "seconds": found.seconds,
        "agents": [
            {
                "agent": one.agent,
                "searching": one.searching,
                "choice": game.move_text(state, one.best),
                "certainty": one.certainty,
                "interval": [one.certainty_interval.low, one.certainty_interval.high],
                "searches": one.searches,
                "nodes": one.nodes,
                "line": [ply.name for ply in one.line],
                "actions": [
                    (
                        game.move_text(state, action),
                        visits,
                        value * one.unit.scale if visits else None,
                        clicks[-1][0] if (clicks := game.clicks(state, action)) else -1,
                    )
                    for action, visits, value in zip(one.legal, one.visits, one.values, strict=True)
                ],
            }
            for one in found.agents
        ],
    }


def analysis_routes(streams: Streams) -> list[Route]:
    """Returns the routes of positions and analyses."""

    async def position(request: Request) -> Response:
        asked = request.query_params

        def read() -> dict[str, Any]:
            found, text = read_position(asked.get("game", ""), asked.get("text", "")), asked.get("text", "")
            if "play" in asked:
                found, text = after(found, text, asked["play"])
            return described(found, text)

        return JSONResponse(await run_in_threadpool(read), headers=NEVER_STORED)

    async def analysis(request: Request) -> Response:
        asked = request.query_params
        try:
            seconds = float(asked.get("seconds", "10"))
        except ValueError:
            raise UserError(f"seconds must be a number, got {asked['seconds'][:20]!r}; write 10.") from None

        def begin() -> Iterator[dict[str, Any]]:
            found = read_position(asked.get("game", ""), asked.get("text", ""))
            return analyses(found, asked.getlist("agent"), seconds)

        return streams.response(await run_in_threadpool(begin))

    return [Route("/api/position", position), Route("/api/analysis", analysis)]
