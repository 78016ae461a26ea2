"""`turnier spe_ed join`: one of our agents on a server."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import require_extra
from ...core.terminal.console import Console


def join(
    url: Annotated[str, typer.Option(envvar="URL", help="ws:// or wss:// address of the game")] = (
        "ws://127.0.0.1:8081/spe_ed"
    ),
    key: Annotated[str, typer.Option(envvar="KEY", show_default=False, help="the key; safer in the environment")] = "",
    time_url: Annotated[
        str, typer.Option(envvar="TIME_URL", help="address of the server's clock; default: URL_time")
    ] = "",
    agent: Annotated[str, typer.Option(help="the agent, such as combi")] = "combi",
    games: Annotated[int, typer.Option(help="number of games, 0 = until the --stop file exists", min=0)] = 1,
    stop: Annotated[Path, typer.Option(help="stop after the current game once this file exists")] = Path("stop"),
    margin: Annotated[float, typer.Option(help="answer this many seconds before the deadline", min=0)] = 0.5,
    patience: Annotated[
        float,
        typer.Option(
            help="seconds without a connection before giving up, and of silence (60 to 3600) before reconnecting",
            min=0,
        ),
    ] = 600.0,
    seed: Annotated[int | None, typer.Option(help="seed of the agent; default: random")] = None,
) -> None:
    """Play on a spe_ed server with an agent.

    The server speaks the official protocol of spe_ed; deadlines follow the server's clock. Address, key and clock come
    from the environment variables URL, KEY and TIME_URL, or from options. The agent uses the round's time, or its own
    milliseconds if these are fewer. If the connection is lost or the key is in use, it tries again.

    \b
    Examples:
      KEY=secret turnier spe_ed join --url wss://host/spe_ed --agent combi
      turnier spe_ed join --key secret --agent "combi(milliseconds=300)" --games 0    # touch stop ends it
    """
    require_extra("turnier spe_ed join", "server", "websockets")
    from ...server.spe_ed.agent_client import AgentClient, time_url_of, with_key
    from ...server.spe_ed.timed_player import warm_up

    console = Console(highlight=False)
    address = with_key(url, key)

    def show(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    made, agent_seed = warm_up(agent), secrets.randbits(62) if seed is None else seed
    AgentClient(address, time_url or time_url_of(url), made, agent_seed, margin, games, stop, patience, show).run()
