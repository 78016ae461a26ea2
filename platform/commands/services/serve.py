"""`turnier spe_ed serve`: games of spe_ed over the network, with a live page."""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...core.errors import UserError, require_extra
from ...core.number_text import number
from ...core.terminal.console import Console
from ..options import DEFAULT_URL, StoreOption, writable_folder

if TYPE_CHECKING:
    from ...arena.match import MatchRecord
    from ...server.spe_ed.room import Room

DEFAULT_BOT = "combi(milliseconds=500)"


@dataclass
class GamesDone:
    """A server's games as `turnier runs` counts them; without a limit, the planned games are those played."""

    total: int
    done: int
    skipped: int
    unit: str = "games"

    def count(self) -> None:
        self.done += 1
        self.total = max(self.total, self.done)


def serve(
    host: Annotated[str, typer.Option(help="the address to listen on; 0.0.0.0 lets other machines in")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 = any free port", min=0, max=65535)] = 8081,
    keys: Annotated[
        Path | None, typer.Option(help="a file with a line KEY NAME per client; default: TURNIER_SPE_ED_KEYS")
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="an agent that plays in every game; repeat for more")] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            help=f"an agent that may fill an empty place when the lobby ends; repeat for more [default: {DEFAULT_BOT}]"
        ),
    ] = None,
    width: Annotated[str, typer.Option(help="cells, or a range to draw from")] = "41..80",
    height: Annotated[str, typer.Option(help="cells, or a range to draw from")] = "41..80",
    players: Annotated[str, typer.Option(help="number of players, or a range to draw from")] = "2..6",
    timeout: Annotated[str, typer.Option(help="seconds per round, or a range to draw from")] = "5..15",
    grace: Annotated[float, typer.Option(help="extra seconds after the deadline, unknown to clients", min=0)] = 2.0,
    lobby: Annotated[
        float, typer.Option(help="seconds from the first client until bots take the remaining places", min=0)
    ] = 300.0,
    games: Annotated[int, typer.Option(help="stop after this many games, 0 = never", min=0)] = 0,
    seed: Annotated[int | None, typer.Option(help="same seed, same sequence of boards; default: random")] = None,
    idle: Annotated[float, typer.Option(help="seconds until a silent connection is closed", min=1)] = 10,
    connections: Annotated[int, typer.Option(help="maximum connections at once", min=1)] = 1000,
    logs: Annotated[Path, typer.Option(help="folder for logs in the official format", callback=writable_folder)] = Path(
        "log"
    ),
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Serve spe_ed games with a live page.

    The server speaks the official server's protocol and follows its rules; the page is at /. Clients connect to
    ws://HOST:PORT/spe_ed?key=KEY; if neither a file nor the environment has keys, some are created and shown. Every
    game is stored move by move and logged. Stopping the server (Ctrl-C, SIGTERM) stores unfinished games; they do not
    count. With as many agents as players, games are played without clients, one after another. Connections are not
    encrypted: put a proxy with TLS in front of any address other than 127.0.0.1 if others can listen in.

    \b
    Examples:
      turnier spe_ed serve --keys keys.txt
      turnier spe_ed serve --players 3 --agent "combi(milliseconds=200)" --agent basic --agent rollouts
    """
    require_extra("turnier spe_ed serve", "server", "starlette", "uvicorn", "websockets")
    from ...arena.match import derive_seed
    from ...results.store.progress import ProgressReporter
    from ...results.store.store import Store
    from ...server.listening import listen
    from ...server.spe_ed.configuration import Limits, Rules
    from ...server.spe_ed.keys import read_keys
    from ...server.spe_ed.lobby import Lobby, next_number
    from ...server.spe_ed.serving import make_server
    from ...server.spe_ed.serving import serve as run_server
    from ...server.spe_ed.timed_player import warm_up

    console = Console(highlight=False)
    rules = Rules.read(width, height, players, timeout, grace, lobby)
    names, created = read_keys(keys)
    own, bots = [warm_up(text) for text in agent or ()], [warm_up(text) for text in bot or (DEFAULT_BOT,)]
    try:
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise UserError(f"logs must go into a folder, got {logs}: {failure}; choose another with --logs.") from None
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
        if created and rules.players.high > len(own):
            console.print("Keys, created for this run:")
            for key, name in names.items():
                command = shlex.join(["turnier", "spe_ed", "join", "--url", f"ws://{address}/spe_ed", "--key", key])
                console.print(f"  {name}: {command}", soft_wrap=True)

        done = GamesDone(total=before + games, done=before, skipped=before)

        def show(room: Room, record: MatchRecord) -> None:
            done.count()
            ends = ", ".join(f"{name} {number(score)}" for name, score in zip(room.names, record.scores, strict=True))
            ends = ends if room.position.over else "stopped before its end"
            text = f"game {room.number}, {int(record.facts['rounds'])} rounds, {ends}: {record.spec.id}"
            console.print(text, markup=False, soft_wrap=True)

        stored = results.records_of_run(run_id, damage=lambda damaged: None)  # no board has to wait for damage
        first = next_number(base, (record.spec.seed for records in stored for record in records))

        async def run() -> None:
            opened = Lobby(rules, limits, names, bots, own, base, first, games, results, run_id, logs)
            opened.on_game = show
            await run_server(opened, make_server(opened), listening)

        with ProgressReporter(results, run_id, done):
            asyncio.run(run())
