"""`turnier serve`: games over the network, with a live page."""

import asyncio
import json
import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.core.errors import UserError, unknown

SERVED = ("spe_ed",)
StoreOption = Annotated[str, typer.Option("--store", help="SQLite or PostgreSQL URL")]
DEFAULT_BOT = "combi(milliseconds=500)"


def serve(
    game: Annotated[str, typer.Argument(help="the game: spe_ed")],
    host: Annotated[str, typer.Option(help="the address to listen at; 0.0.0.0 lets other machines in")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 = any that is free", min=0, max=65535)] = 8081,
    keys: Annotated[
        Path | None, typer.Option(help="a file with a line KEY NAME for each client; default: TURNIER_SPE_ED_KEYS")
    ] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="an agent that sits in every game from its start; again for more")
    ] = None,
    bot: Annotated[
        list[str] | None, typer.Option(help=f"drawn to fill places when the lobby ends [default: {DEFAULT_BOT}]")
    ] = None,
    width: Annotated[str, typer.Option(help="cells, or a range to draw from")] = "41..80",
    height: Annotated[str, typer.Option(help="cells, or a range to draw from")] = "41..80",
    players: Annotated[str, typer.Option(help="number of players, or a range to draw from")] = "2..6",
    timeout: Annotated[str, typer.Option(help="seconds of a round, or a range to draw from")] = "5..15",
    grace: Annotated[float, typer.Option(help="seconds after the deadline that clients are not told", min=0)] = 2.0,
    lobby: Annotated[
        float, typer.Option(help="seconds from the first client until bots take the places left", min=0)
    ] = 300.0,
    games: Annotated[int, typer.Option(help="stop after so many games, 0 = never", min=0)] = 0,
    seed: Annotated[int | None, typer.Option(help="same seed, same boards one after the other; default: any")] = None,
    idle: Annotated[float, typer.Option(help="seconds until a connection that asks for nothing is closed", min=1)] = 10,
    connections: Annotated[int, typer.Option(help="most connections at once", min=1)] = 1000,
    logs: Annotated[Path, typer.Option(help="folder for logs in the official format")] = Path("log"),
    store: StoreOption = "sqlite:///turnier.db",
) -> None:
    """Serves games by the protocol of the official spe_ed server, with its rules, and a live page at /.

    Clients connect to ws://HOST:PORT/spe_ed?key=KEY; without keys in a file or the environment some are made and shown.
    Every game goes into the store, move by move, and into a folder of logs; those that run when the server is stopped
    (Ctrl-C, SIGTERM) do, too, as far as they went, and count as no result. With as many agents as players, games are
    played without any client, one after the other. An address other than 127.0.0.1 has no encryption: put a proxy with
    TLS in front of it where others can listen.

    \b
    Examples:
      turnier serve spe_ed --keys keys.txt
      turnier serve spe_ed --players 3 --agent "combi(milliseconds=200)" --agent basic --agent rollouts
    """
    if game not in SERVED:
        raise unknown("game to serve", game, SERVED)
    from turnier.arena.match import MatchRecord, derive_seed
    from turnier.results.store.store import Store
    from turnier.server.keys import read_keys
    from turnier.server.lobby import Lobby
    from turnier.server.room import Room
    from turnier.server.serving import listen, make_server
    from turnier.server.serving import serve as run_server
    from turnier.server.settings import Limits, Rules
    from turnier.server.thinker import warm_up

    console = Console(highlight=False)
    rules = Rules.read(width, height, players, timeout, grace, lobby)
    names, made = read_keys(keys)
    own, bots = [warm_up(text) for text in agent or ()], [warm_up(text) for text in bot or (DEFAULT_BOT,)]
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise UserError(f"logs must go into a folder, got {logs}: {failure}; name another after --logs.") from None
    limits = Limits(idle_seconds=idle, connections=connections)
    base = secrets.randbits(62) if seed is None else seed
    definition = {
        "rules": str(rules),
        "agents": [one.full_text() for one in own],
        "bots": [one.full_text() for one in bots],
        "seed": base,
    }
    run_id = f"server:{derive_seed(json.dumps(definition)):016x}"
    with Store.open(store) as results, listen(host, port) as listening:
        results.begin_run(run_id, "server", "spe_ed", definition)
        before = results.match_counts().get(run_id, 0)
        address = f"{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        console.print(f"Page: http://{address}/   Run: {run_id}   Logs: {logs}", soft_wrap=True)
        if made and rules.players.high > len(own):
            console.print("Keys, made for this run:")
            for key, name in names.items():
                console.print(f"  {name}: turnier join spe_ed --url ws://{address}/spe_ed --key {key}", soft_wrap=True)

        def told(room: Room, record: MatchRecord) -> None:
            ends = ", ".join(f"{name} {score:g}" for name, score in zip(room.names, record.scores, strict=True))
            ends = ends if room.position.over else "stopped before its end"
            text = f"game {room.number}, {int(record.facts['rounds'])} rounds, {ends}: {record.spec.id}"
            console.print(text, markup=False, soft_wrap=True)

        async def run() -> None:
            opened = Lobby(rules, limits, names, bots, own, base, before, games, results, run_id, logs)
            opened.on_game = told
            await run_server(opened, make_server(opened), listening)

        asyncio.run(run())
