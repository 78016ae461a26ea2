"""`turnier engine --http`: answers with the best move of any position."""

from __future__ import annotations

import asyncio

import uvicorn

from ...agents.registry import make_agent
from ...arena.analysis import PlayingOn, best_move
from ...games.registry import make_game
from ...server.board.serving import configured, hosts_of
from ...server.listening import listen
from ...server.moves.app import Adviser, make_app


def serve_moves(game: str, agent: str, games_by: str, seconds: float, host: str, port: int) -> None:
    """Serves until it is stopped; raises UserError if the agent cannot play the game."""
    made = make_game(game)
    adviser = Adviser(
        made, make_agent(agent or made.default_agent), make_agent(games_by) if games_by else None, seconds
    )
    start = made.start()
    for _ in best_move(start, adviser.agent, None if start.over else PlayingOn(1, seconds, adviser.player)):
        pass  # compiles, and reports mistakes before the first request
    with listen(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        print(f"Best moves of {made} by {adviser.agent}: {address}/move?board=... (Ctrl-C ends it)", flush=True)
        asyncio.run(uvicorn.Server(configured(make_app(adviser, hosts_of(host)))).serve([listening]))
