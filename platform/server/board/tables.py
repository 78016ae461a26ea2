"""Tables for people and agents: their seats, turns and views of the match."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Self

from ...agents.agent import Agent
from ...agents.human.agent import Human
from ...agents.registry import AGENTS, label_of
from ...arena.hosted_match import HostedMatch
from ...arena.match import MatchRecord, MatchSpec, Termination
from ...core.errors import UserError
from ...core.outside.classes import is_outside
from ...games.game import Game, Position
from ...games.registry import GAMES
from ...results.store.store import Store
from ...runs.people.hosted_games import store_game, unused
from .opinions import require_harmless

MAX_TABLES = 100  # the one idle for longest makes room for another
PERSON = "human"
MAX_TEXT = 2000  # characters of a game or an agent
KEY_BYTES = 12
PARAMETERS = re.compile(r"\bopenspiel\b.*\(.*\(", re.DOTALL)  # also within the text of another game

AGENT_THREADS = 16  # for decisions and hints: a few long ones must not hold up all tables

Keep = Callable[[MatchRecord], str]  # stores a match and returns its run
Begin = Callable[[Game, Sequence[Agent], Sequence[int]], HostedMatch]  # (game, agents, opening)


def read_agent(text: object) -> Agent:
    """Returns the agent, or the person, of a seat; raises UserError for anything that a page must not start."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise UserError("a seat must have the text of an agent; choose another.")
    if text.partition("(")[0].strip() == PERSON:
        return AGENTS.make(text)
    require_harmless(text)
    return AGENTS.make(text)


@dataclass
class Table:
    """A match under way, and the keys of its people.

    Everything happens in the event loop except agents' decisions, which are made on a thread: during one, even after a
    move is taken back, nothing else may happen. `turn` counts changes, which reveals decisions that come too late.
    """

    id: str
    match: HostedMatch
    threads: ThreadPoolExecutor
    keep: Keep
    begin: Begin
    keys: dict[int, str] = field(default_factory=dict)  # of the seats of people
    turn: int = 0
    thinking: bool = False
    trouble: str = ""  # the failure of an agent or of the store
    stored: bool = False
    closed: bool = False
    latest: MatchRecord | None = None  # the match when last no thread was changing it
    task: asyncio.Task[None] | None = None  # agents decide in it; kept, since the event loop may forget it
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        for seat, agent in enumerate(self.match.agents):
            if isinstance(agent, Human):
                self.keys[seat] = secrets.token_urlsafe(KEY_BYTES)

    @property
    def game(self) -> Game:
        return self.match.game

    def seat_of(self, key: str) -> int | None:
        """Returns the seat of a key; None for onlookers."""
        given = key.encode("utf-8", "replace")
        return next((seat for seat, known in self.keys.items() if secrets.compare_digest(known.encode(), given)), None)

    def require_seat(self, key: str) -> int:
        seat = self.seat_of(key)
        if seat is None:
            raise UserError("only the holder of a seat's link may play it; ask for the link.")
        return seat

    async def announce(self) -> None:
        self.turn += 1
        async with self.changed:
            self.changed.notify_all()

    async def await_change(self, turn: int) -> None:
        """Waits until the table has changed since a turn."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.turn != turn)

    async def play(self, key: str, turn: int, action: int) -> None:
        """Plays the move of the person with this key."""
        seat = self.require_seat(key)
        if turn != self.turn or self.thinking or self.match.over or self.match.position.to_move != seat:
            raise UserError("this move came too late, after its turn; look at the board.")
        self.match.play(action)
        await self.advance()

    async def advance(self) -> None:
        """Plays the decisions of agents until a person is to move or the match is over, and then stored."""
        self.latest = self.match.record()
        if not self.match.over and not self.match.human_to_move:
            self.thinking = True
            self.task = asyncio.create_task(self._think())
        await self.announce()
        if self.match.over:
            await self.store()

    async def _think(self) -> None:
        try:
            while not self.match.over and not self.match.human_to_move:
                await asyncio.get_running_loop().run_in_executor(self.threads, self.match.ask)
                self.latest = self.match.record()
                await self.announce()
        except Exception as failure:  # of an agent: shown to the people at the table
            self.trouble = str(failure) if isinstance(failure, UserError) else f"{type(failure).__name__}: {failure}"
        finally:
            self.thinking = False
            await self.announce()
        if self.match.over:
            await self.store()

    async def undo(self, key: str) -> None:
        """Takes back the latest move of the person with this key, who must be to move, and everything after it."""
        seat = self.require_seat(key)
        self.require_quiet()
        if self.match.position.to_move != seat:  # the match takes back the move of the seat to move
            raise UserError("you can take a move back only on your turn; wait for it.")
        if not await self._alone(self.match.undo):
            await self.announce()
            raise UserError("you have no move to take back; play one first.")
        await self.advance()

    async def resign(self, key: str) -> None:
        seat = self.require_seat(key)
        self.require_quiet()
        if self.match.position.to_move != seat:
            raise UserError("you can resign only on your turn; wait for it.")
        self.match.resign()
        await self.advance()

    async def exchange(self, key: str, seat: int, agent: Agent) -> str:
        """Gives a seat to another agent or person from here on; returns a person's new key.

        The moves so far become the opening of a new match, decided by nobody in it.
        """
        self.require_seat(key)
        self.require_quiet()
        if not 0 <= seat < self.game.num_seats:
            raise UserError(f"{self.game} has the seats 0 to {self.game.num_seats - 1}, got {seat}; choose one.")
        agents = [agent if other == seat else known for other, known in enumerate(self.match.agents)]
        before = self.match

        def begin() -> HostedMatch:
            before.close()
            return self.begin(self.game, agents, before.plies)

        self.match = await self._alone(begin)
        self.keys.pop(seat, None)
        if isinstance(agent, Human):
            self.keys[seat] = secrets.token_urlsafe(KEY_BYTES)
        self.trouble = ""
        await self.advance()
        return self.keys.get(seat, "")

    def require_quiet(self) -> None:
        """Raises UserError while an agent decides, and after the end."""
        if self.thinking:
            raise UserError("an agent is deciding; wait for its move.")
        if self.match.over:
            raise UserError("the game is over; begin another.")

    async def store(self) -> None:
        """Stores the present match if it has moves; a failure is shown, and the moves stay on the board."""
        record = self.latest
        if self.stored or record is None or not record.plies:
            return
        try:
            await asyncio.get_running_loop().run_in_executor(None, self.keep, record)
            self.stored = record.termination is not Termination.UNFINISHED
        except UserError as failure:
            self.trouble = str(failure)
        await self.announce()

    async def _alone(self, work: Callable[[], Any]) -> Any:
        """Does something with the match on a thread, while nothing else may happen at the table.

        The caller announces the result; a failure is announced here.
        """
        self.thinking = True
        await self.announce()
        try:
            done = await asyncio.get_running_loop().run_in_executor(self.threads, work)
        except BaseException:
            self.thinking, self.latest = False, self.match.record()
            await self.announce()
            raise
        self.thinking = False
        return done

    async def close(self) -> None:
        """Stores the moves so far and ends the agents."""
        await self.store()
        self.closed = True
        await self.announce()
        with contextlib.suppress(Exception):
            self.match.close()


class Tables:
    """All tables of a server."""

    def __init__(self, keep: Keep, unused: Callable[[MatchSpec, Collection[str]], MatchSpec]) -> None:
        """
        Args:
            keep: stores a match.
            unused: (match, ids of others) -> the match with a seed that is neither stored nor among the others.
        """
        self._keep, self._unused = keep, unused
        self._threads = ThreadPoolExecutor(AGENT_THREADS, "table")
        self._tables: dict[str, Table] = {}
        self._begun, self._beginning = set[str](), threading.Lock()  # ids of all matches that began here

    @classmethod
    def of_store(cls, url: str) -> Self:
        """Returns tables whose matches go into a store, opened only for them, in runs of kind `play`."""

        def keep(record: MatchRecord) -> str:
            with Store.open(url) as store:
                return store_game(store, record)

        def unused_in_store(spec: MatchSpec, taken: Collection[str]) -> MatchSpec:
            with Store.open(url) as store:
                return unused(store, spec, taken)

        return cls(keep, unused_in_store)

    def _begin(self, game: Game, agents: Sequence[Agent], opening: Sequence[int] = ()) -> HostedMatch:
        """Begins a match with an unused id, neither stored nor at another table."""
        texts = tuple(agent.full_text() for agent in agents)
        with self._beginning:
            spec = self._unused(MatchSpec(game.full_text(), texts, 1, opening=tuple(opening)), self._begun)
            self._begun.add(spec.id)
        return HostedMatch(game, agents, spec.seed, opening=opening)

    async def open(self, game: object, agents: object) -> Table:
        """Opens a table; raises UserError if its match cannot begin."""
        if not isinstance(game, str) or len(game) > MAX_TEXT or not isinstance(agents, list):
            raise UserError("a table needs a game and an agent for each seat; reload the page.")
        require_harmless_game(game)

        def begin() -> HostedMatch:
            made, seated = GAMES.make(game), [read_agent(text) for text in agents]
            if not any(isinstance(agent, Human) for agent in seated):
                raise UserError("a table needs a person in a seat, got only agents; use `turnier tournament`.")
            return self._begin(made, seated)

        match = await asyncio.get_running_loop().run_in_executor(None, begin)
        while len(self._tables) >= MAX_TABLES:
            oldest = next(iter(self._tables))
            await self._tables.pop(oldest).close()
        table = Table(secrets.token_urlsafe(KEY_BYTES), match, self._threads, self._keep, self._begin)
        self._tables[table.id] = table
        await table.advance()
        return table

    def get(self, id: str) -> Table:
        """Returns a table and counts it as used; raises UserError if there is none."""
        table = self._tables.pop(id, None)
        if table is None:
            raise UserError("this table no longer exists; begin another game from the start page.")
        self._tables[id] = table
        return table

    async def close(self) -> None:
        """Stores all matches, finished or not."""
        for table in list(self._tables.values()):
            await table.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def require_harmless_game(text: str) -> None:
    """Raises UserError for a game that would run code of others, read a file, or take all memory.

    The last two are games of OpenSpiel with parameters, which have no bounds.
    """
    if is_outside(text):
        raise UserError(f"the board plays only games of Turnier, got {text[:80]}; use `turnier play` for others.")
    if PARAMETERS.search(text):
        raise UserError(
            f"the board plays games of OpenSpiel only without parameters, got {text[:80]}; use `turnier play` for"
            " others."
        )


def label(agent: Agent) -> str:
    """Returns the name of a seat's occupant for people."""
    return agent.name if isinstance(agent, Human) else label_of(agent.full_text())


def visible(match: HostedMatch, seat: int | None) -> Position:
    """Returns the position as a seat, or an onlooker, may see it: of simultaneous moves only its own."""
    position = match.position
    if not match.game.kernels.has_observe or position.over:
        return position
    viewer = position.to_move if seat is None else seat
    return match.game.position(position.view(viewer), position.returns)
