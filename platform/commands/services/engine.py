"""`turnier engine`: one of our agents as an engine for other programs."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ... import __version__
from ...core.errors import require_extra, unknown
from ..options import GameArgument


def engine(
    game: GameArgument,
    agent: Annotated[str, typer.Argument(help='the agent, such as "mcts(milliseconds=500)"')],
    protocol: Annotated[str, typer.Option(help="protocol of the other program: uci, gtp or json")] = "uci",
    seed: Annotated[int | None, typer.Option(help="seed of the agent; default: random")] = None,
    http: Annotated[
        int | None, typer.Option(help="answer on this port over HTTP instead; 0 = any free port", min=0, max=65535)
    ] = None,
    host: Annotated[str, typer.Option(help="with --http: the address to listen on")] = "127.0.0.1",
    seconds: Annotated[
        float, typer.Option(help="with --http: maximum seconds for the games continued from every move", min=0.01)
    ] = 1.0,
    games_by: Annotated[
        str, typer.Option(help="with --http: the agent of the continued games; default: a quick version of the agent")
    ] = "",
) -> None:
    """Run an agent as an engine for another program.

    The agent uses the time that the program gives, or its own milliseconds if these are fewer; agents without a time
    budget follow their parameters. Nothing but the protocol is written to standard output.

    With --http, it answers GET /move?board=... with the best move, as turnier analyse --best --json prints it.

    \b
    Examples:
      turnier engine chess "mcts(milliseconds=500)"                   # in a chess program's list of engines
      turnier engine "go(size=9)" "mcts(iterations=20000)" --protocol gtp
      turnier engine 2048 "expectimax(depth=3,evaluator=ntuple(file=weights.npz))" --http 8081
    """
    if http is not None:
        require_extra("turnier engine --http", "server", "starlette", "uvicorn")
        from ...server.moves.app import serve_moves

        return serve_moves(game, agent, games_by, seconds, host, http)
    from ...agents.registry import make_agent
    from ...games.registry import make_game
    from ...server.engine_protocols.gtp_service import GtpService
    from ...server.engine_protocols.hosted_agent import HostedAgent
    from ...server.engine_protocols.json_service import JsonService
    from ...server.engine_protocols.uci_service import UciService

    protocols: dict[str, Callable[[HostedAgent, Callable[[str], None]], Any]] = {
        "uci": UciService,
        "gtp": GtpService,
        "json": JsonService,
    }
    if protocol not in protocols:
        raise unknown("protocol", protocol, protocols)
    own_seed = secrets.randbits(62) if seed is None else seed
    playing = HostedAgent(make_game(game), make_agent(agent), own_seed, __version__)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    one_at_a_time = threading.Lock()

    def write(text: str) -> None:
        with one_at_a_time:
            print(text, file=out, flush=True)

    # Output of an agent that is not ours would be taken for the protocol, so it goes to standard error.
    with (
        open(sys.stdin.fileno(), encoding="utf-8", errors="replace", closefd=False) as lines,
        contextlib.redirect_stdout(sys.stderr),
        contextlib.suppress(BrokenPipeError),
    ):
        protocols[protocol](playing, write).run(lines)
