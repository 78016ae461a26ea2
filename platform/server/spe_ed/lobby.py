"""The lobby: clients that wait for the next game, and the rooms of running games."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ...agents.agent import Agent
from ...arena.match import MatchRecord, MatchSpec, derive_seed
from ...core.errors import UserError
from ...core.terminal.visible import say
from ...games.spe_ed.game import SpeEd
from ...results.store.store import Store
from .client import Client
from .configuration import Limits, Rules
from .official_log import official_time, write_lines
from .room import Bot, Room, Seat

MAX_LOST = 10_000  # numbers of games that were begun but not stored, because of kills
THREADS = 64  # bots deciding at once; they watch the clock, so more of them just search less each


class Keeper:
    """Stores finished games; games that cannot be stored, for example on a full disk, wait for the next game's end."""

    def __init__(self, store: Store | None, run_id: str, logs: Path | None) -> None:
        self.store, self.run_id, self.logs = store, run_id, logs
        self.waiting: list[MatchRecord] = []
        self.wrong = ""  # the reason for waiting
        self._lock = threading.Lock()  # games end in several threads

    def keep(self, record: MatchRecord, log: Sequence[str], began: str) -> None:
        with self._lock:
            self.waiting.append(record)
        self.store_waiting()
        if self.logs is not None:
            try:
                write_lines(self.logs / f"{began}-{record.spec.id[:12]}.json", log)
            except UserError as error:
                _say(str(error))

    def store_waiting(self) -> None:
        """Stores the waiting games; prints a message if that fails."""
        with self._lock:
            if self.store is None or not self.waiting:
                return
            try:
                self.store.append(self.run_id, self.waiting)
            except UserError as error:
                self.wrong = str(error)
                _say(f"{len(self.waiting)} games wait to be stored until another one ends: {error}")
            else:
                self.waiting.clear()

    def require_all_stored(self) -> None:
        """Raises UserError if games are still waiting."""
        if self.store is not None and self.waiting:
            kept = f"; their logs are in {self.logs}" if self.logs is not None else ""
            raise UserError(f"{len(self.waiting)} games could not be stored{kept}: {self.wrong}")


def _say(text: str) -> None:
    say(text, errors=True)


class Lobby:
    """Repeatedly draws a board, waits for its players, and starts a room.

    The same seed gives the same sequence of boards and timeouts; `first` of its games were played before.
    """

    def __init__(
        self,
        rules: Rules,
        limits: Limits,
        keys: Mapping[str, str],
        bots: Sequence[Agent],
        own: Sequence[Agent],
        seed: int,
        first: int = 0,
        games: int = 0,
        store: Store | None = None,
        run_id: str = "",
        logs: Path | None = None,
    ) -> None:
        self.rules, self.limits, self.keys, self.bots, self.own = rules, limits, dict(keys), list(bots), list(own)
        self.seed, self.next, self.last = seed, first, first + games if games else 0
        self.run_id, self.keeper = run_id, Keeper(store, run_id, logs)
        self.threads = ThreadPoolExecutor(THREADS, "bots")
        self.clients: dict[str, Client] = {}  # by key; waiting or playing
        self.waiting: list[Client] = []
        self.rooms: dict[int, Room] = {}
        self.finished: list[int] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.timer: asyncio.TimerHandle | None = None
        self.stopped = False
        self.starts_at = 0.0
        self.on_last: Callable[[], object] = lambda: None
        self.on_game: Callable[[Room, MatchRecord], object] = lambda room, record: None
        self._open()

    def _open(self) -> None:
        """Draws the next board, and begins to wait for its players."""
        self.game_seed = _seed_of(self.seed, self.next)
        rng = np.random.default_rng(self.game_seed)
        players = int(self.rules.players.draw(rng))
        self.game = SpeEd(int(self.rules.width.draw(rng)), int(self.rules.height.draw(rng)), players, silence=True)
        self.rng, self.timer, self.starts_at = rng, None, 0.0

    @property
    def places(self) -> int:
        """The number of places for clients in the next game, maybe 0."""
        return max(0, self.game.players - len(self.own))

    @property
    def closed(self) -> bool:
        return self.stopped or (bool(self.last) and self.next >= self.last)

    def start_if_ready(self) -> None:
        """Starts every game whose places are all taken, while more games may run."""
        loop = asyncio.get_running_loop()
        while not self.closed and self._room_left() and len(self.waiting) >= self.places:
            self._begin()
        if self.waiting and self.timer is None:
            self.starts_at = time.time() + self.rules.lobby
            self.timer = loop.call_later(self.rules.lobby, self._lobby_ends)

    def _room_left(self) -> bool:
        """Whether another game may run; games without clients run one at a time."""
        return len(self.tasks) < (self.limits.games if self.places else 1)

    def _lobby_ends(self) -> None:
        self.timer = None
        if self.waiting and not self.closed and self._room_left():
            self._begin()
        self.start_if_ready()

    def join(self, client: Client) -> None:
        self.waiting.append(client)
        self.start_if_ready()

    def leave(self, client: Client) -> None:
        """Removes a client that disconnected, from the lobby or from its game."""
        self.release(client)
        if client in self.waiting:
            self.waiting.remove(client)
            if not self.waiting and self.timer is not None:
                self.timer.cancel()
                self.timer = None
        if client.room is not None:
            client.room.leave(client.seat, client.cut_reason)

    def release(self, client: Client) -> None:
        """Frees a client's key."""
        if self.clients.get(client.key) is client:
            del self.clients[client.key]

    def _begin(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        number, places = self.next, self.places
        players, self.waiting = self.waiting[:places], self.waiting[places:]
        seats: list[Seat] = [*players, *(Bot(agent, self.game_seed) for agent in self.own[: self.game.players])]
        while len(seats) < self.game.players:
            seats.append(Bot(self.bots[int(self.rng.integers(len(self.bots)))], self.game_seed))
        spec = MatchSpec(self.game.full_text(), tuple(seat.agent for seat in seats), self.game_seed)
        room = Room(number, spec, seats, self.rules, self.threads)
        for seat, client in enumerate(players):
            client.room, client.seat = room, seat
        self.rooms[number] = room
        self.next += 1
        self._open()
        task = asyncio.create_task(self._play(room))
        self.tasks.add(task)
        task.add_done_callback(self._done)

    async def _play(self, room: Room) -> None:
        """Plays a room to its end and stores the game; a failure ends only that room."""
        began = official_time(time.time())
        try:
            record = await room.play()
            for seat in room.seats:
                if isinstance(seat, Client):
                    self.release(seat)
            if room.plies:
                await asyncio.to_thread(self.keeper.keep, record, room.log, began)
                self.on_game(room, record)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            for seat in room.seats:
                if isinstance(seat, Client):
                    seat.drop()
        self.finished.append(room.number)
        while len(self.finished) > self.limits.games:
            del self.rooms[self.finished.pop(0)]

    async def stop(self) -> None:
        """Ends all games now and stores those with at least one round; no other game begins."""
        self.stopped = True
        for room in self.rooms.values():
            room.stop()
        await asyncio.gather(*self.tasks)
        await asyncio.to_thread(self.keeper.store_waiting)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if self.closed and not self.tasks:
            self.on_last()
        self.start_if_ready()

    def summary(self) -> dict[str, Any]:
        """Returns the lobby and all rooms still kept, the newest first, as plain data."""
        return {
            "lobby": None
            if self.closed
            else {
                "width": self.game.width,
                "height": self.game.height,
                "places": self.places,
                "taken": len(self.waiting),
                "starts_at": self.starts_at if self.timer is not None else None,
            },
            "games": [self.rooms[number].summary() for number in sorted(self.rooms, reverse=True)],
        }


def next_number(seed: int, seeds: Iterable[int]) -> int:
    """Returns the number after that of the last stored game, so that no board is repeated.

    Games end in any order: after a kill, some lower numbers may be missing.

    Args:
        seed: seed of the server.
        seeds: seeds of its stored games.
    """
    stored = set(seeds)
    numbers = range(len(stored) + MAX_LOST)
    return 1 + max((number for number in numbers if _seed_of(seed, number) in stored), default=-1)


def _seed_of(seed: int, number: int) -> int:
    """Returns the seed of a game's board and match."""
    return derive_seed("spe_ed", seed, number)
