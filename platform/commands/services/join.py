"""`turnier join`: our agents on servers of others."""

import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.commands.services.serve import SERVED
from turnier.core.errors import unknown


def join(
    game: Annotated[str, typer.Argument(help="the game: spe_ed")],
    url: Annotated[str, typer.Option(envvar="URL", help="ws:// or wss:// address of the game")] = (
        "ws://127.0.0.1:8081/spe_ed"
    ),
    key: Annotated[str, typer.Option(envvar="KEY", show_default=False, help="the key; better in the environment")] = "",
    time_url: Annotated[
        str, typer.Option(envvar="TIME_URL", help="where the server tells the time; default: URL_time")
    ] = "",
    agent: Annotated[str, typer.Option(help="the agent, such as combi")] = "combi",
    games: Annotated[int, typer.Option(help="so many games, 0 = until the file --stop is there", min=0)] = 1,
    stop: Annotated[Path, typer.Option(help="after the running game it ends where this file is")] = Path("stop"),
    margin: Annotated[float, typer.Option(help="seconds before the deadline at which it answers", min=0)] = 0.5,
    patience: Annotated[float, typer.Option(help="seconds without a server until it gives up", min=0)] = 600.0,
    seed: Annotated[int | None, typer.Option(help="of the agent; default: any")] = None,
) -> None:
    """Plays on a server with the official protocol of spe_ed, within its deadlines by its own clock.

    Address, key and time come from the environment as URL, KEY and TIME_URL, or from options. The agent takes the time
    that a round has, or the milliseconds of its parameters where these are fewer. A connection that is lost, or a key
    that is in use, is tried again.

    \b
    Examples:
      KEY=secret turnier join spe_ed --url wss://host/spe_ed --agent combi
      turnier join spe_ed --key secret --agent "combi(milliseconds=300)" --games 0    # touch stop ends it
    """
    if game not in SERVED:
        raise unknown("game to join", game, SERVED)
    from turnier.server.join import Joining, time_url_of, with_key
    from turnier.server.thinker import warm_up

    console = Console(highlight=False)
    address = with_key(url, key)

    def told(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    made, its_seed = warm_up(agent), secrets.randbits(62) if seed is None else seed
    Joining(address, time_url or time_url_of(url), made, its_seed, margin, games, stop, patience, told).run()
