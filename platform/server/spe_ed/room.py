"""One game of spe_ed on the server: its rounds, deadlines, and the answers of clients and bots."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from ...agents.agent import Agent, Decision
from ...arena.match import MatchRecord, MatchSpec, Termination, derive_seed, pack_plies
from ...games.game import Ints, Position
from ...games.registry import game_of
from ...games.spe_ed.board import ACTIONS, ACTIVE, NO_ANSWER, PLAYERS
from ...games.spe_ed.messages import message_of
from ...games.spe_ed.reasons import reasons
from .configuration import Rules
from .official_log import encode, final_message, head, official_time
from .page.live_game import LiveGame
from .timed_player import TimedPlayer

BOT_MARGIN = 0.3  # seconds of a round that bots leave unused, but at most a third of the round
LEAST_SECONDS = 0.02  # for a bot whose deadline has nearly passed, as in `turnier spe_ed join`
BAD_JSON, UNKNOWN, TWICE, SILENT, GONE = "bad JSON", "unknown action", "answered twice", "no answer", "disconnected"


class Seat(ABC):
    """The player in a seat: a connected client, or a bot."""

    name: str
    agent: str  # its text in the store

    @abstractmethod
    def send(self, text: str, last: bool, asked: bool) -> None:
        """Sends a state: the `last` one, one that must be answered (`asked`), or neither."""


class Bot(Seat):
    """An agent of ours, which decides in a thread."""

    def __init__(self, agent: Agent, seed: int) -> None:
        self.made, self.seed = agent, seed
        self.name, self.agent = str(agent), agent.full_text()
        self.timed_player: TimedPlayer | None = None
        self.late = 0  # nanoseconds of its lateness, mostly on a busy machine; it stops that much earlier

    def send(self, text: str, last: bool, asked: bool) -> None:
        pass  # it gets the state with the request to decide

    def sit(self, state: Ints, seat: int) -> None:
        width, height, players = (int(word) for word in state[:3])
        self.timed_player = TimedPlayer(self.made, width, height, players, seat, self.seed)

    def decide(self, state: Ints, ends: int) -> Decision:
        """Decides before a time of `time.monotonic_ns`."""
        assert self.timed_player is not None
        early = ends - self.late
        decision = self.timed_player.decide(state, early)
        self.late = max(0, time.monotonic_ns() - early, self.late * 9 // 10)
        return decision


def read_action(data: str | bytes) -> tuple[int, str]:
    """Returns a message's action and "", or NO_ANSWER and the fault of the message."""
    try:
        message = json.loads(data)
        name = message["action"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return NO_ANSWER, BAD_JSON
    return (ACTIONS.index(name), "") if name in ACTIONS else (NO_ANSWER, UNKNOWN)


def seconds_for_bots(left: float) -> float:
    """Returns a bot's thinking time with so many seconds until the deadline."""
    return max(LEAST_SECONDS, left - min(BOT_MARGIN, left / 3))


class Room:
    """A game with all of its seats taken. One task plays it; messages of clients arrive through `receive`."""

    def __init__(self, number: int, spec: MatchSpec, seats: Sequence[Seat], rules: Rules, threads: Executor) -> None:
        self.number, self.spec, self.seats, self.rules, self.threads = number, spec, list(seats), rules, threads
        self.position: Position = game_of(spec.game).start(spec.seed)
        self.names = [seat.name for seat in seats]
        self.rng = np.random.default_rng(derive_seed("timeouts", spec.seed))
        self.live = LiveGame(self.position.state, self.names)
        # Text takes a quarter of the memory: finished games stay for a while.
        self.log = [encode(head(self.names, [isinstance(seat, Bot) for seat in seats]))]
        self.plies: list[int] = []
        self.gone: dict[int, str] = {}  # by seat, the reason for which its client left
        self.answers: dict[int, int] = {}  # of this round, by seat
        self.faults: dict[int, str] = {}  # by seat, the fault of the answer
        self.complete = asyncio.Event()
        self.stopped = False
        self.decisions, self.nodes, self.seconds = ([0] * len(seats), [0] * len(seats), [0.0] * len(seats))
        self.thought: dict[int, float] = {}  # seconds of this round, by answering seat
        self.asked = time.monotonic()
        self.deadline = 0.0  # of this round as sent to clients, in seconds since 1970
        self.began = time.monotonic()

    @property
    def state(self) -> Ints:
        return self.position.state

    def lives(self, seat: int) -> bool:
        return bool(self.state[ACTIVE + seat]) and not self.position.over

    def summary(self) -> dict[str, Any]:
        """Returns its entry in the list of games, with the awaited seats and the deadline."""
        living = [seat for seat in range(len(self.seats)) if self.lives(seat)]
        return self.live.summary() | {
            "id": self.number,
            "deadline": self.deadline,
            "waiting": [1 + seat for seat in living if seat not in self.answers],
            "thought": {1 + seat: round(seconds, 2) for seat, seconds in self.thought.items()},
            "total": [round(seconds, 1) for seconds in self.seconds],
        }

    def receive(self, seat: int, data: str | bytes) -> None:
        """Receives a client's message; messages of players who are out are ignored."""
        if not self.lives(seat) or seat in self.faults:
            return
        if seat in self.answers:
            self._answer(seat, NO_ANSWER, TWICE)
        else:
            self._answer(seat, *read_action(data))

    def leave(self, seat: int, cut_reason: str = "") -> None:
        """Removes a client that disconnected or was cut off: it is out at the end of the round."""
        self.gone.setdefault(seat, f"cut off: {cut_reason}" if cut_reason else GONE)
        if self.lives(seat):
            self._answer(seat, NO_ANSWER, self.gone[seat])

    def stop(self) -> None:
        """Ends the game now, without playing the current round."""
        self.stopped = True
        self.complete.set()

    def _answer(self, seat: int, action: int, fault: str = "") -> None:
        if seat not in self.answers:
            self.thought[seat] = time.monotonic() - self.asked
            self.seconds[seat] += self.thought[seat]
        self.answers[seat] = action
        if fault:
            self.faults.setdefault(seat, fault)
        if all(seat in self.answers for seat in range(len(self.seats)) if self.lives(seat)):
            self.complete.set()

    async def play(self) -> MatchRecord:
        """Plays to the end and returns the record; the final states may still be on their way.

        The record of a stopped game has the termination of an error, so it is stored but does not count.
        """
        self.began = time.monotonic()
        for number, seat in enumerate(self.seats):
            if isinstance(seat, Bot):
                seat.sit(self.state, number)
        while not self.position.over and not self.stopped:
            await self._round()
        if self.position.over:
            self._send_state("")
        facts = self.position.game.facts(self.state)
        return MatchRecord(
            self.spec,
            Termination.NORMAL if self.position.over else Termination.ERROR,
            tuple(self.position.returns.tolist()),
            tuple(self.decisions),
            tuple(self.nodes),
            tuple(self.seconds),
            time.monotonic() - self.began,
            pack_plies(np.array(self.plies, np.int64)),
            facts,
            "" if self.position.over else f"The server was stopped in round {int(facts['rounds']) + 1} of this game.",
        )

    async def _round(self) -> None:
        timeout = self.rules.timeout.draw(self.rng)
        self.answers, self.faults, self.thought, self.complete = {}, {}, {}, asyncio.Event()
        self.asked = time.monotonic()
        self.deadline = time.time() + timeout
        if not all(isinstance(seat, Bot) for seat in self.seats):
            self.deadline = float(int(self.deadline))  # clients see whole seconds, and bots get no more time
        self._send_state(official_time(self.deadline))
        for seat in self.gone:
            self.leave(seat)
        living = [seat for seat in range(len(self.seats)) if self.lives(seat)]
        ends = time.monotonic_ns() + int(1e9 * seconds_for_bots(self.deadline - time.time()))
        tasks = [
            asyncio.create_task(self._ask(seat, bot, ends))
            for seat, bot in enumerate(self.seats)
            if isinstance(bot, Bot) and seat in living
        ]
        try:
            async with asyncio.timeout(timeout + self.rules.grace):
                await self.complete.wait()
        except TimeoutError:
            for seat in living:
                if seat not in self.answers:
                    self._answer(seat, NO_ANSWER, SILENT)
        for task in tasks:
            task.cancel()
        if not self.stopped:
            self._resolve(living)

    def _resolve(self, living: Sequence[int]) -> None:
        before = self.state
        for seat in living:
            self.decisions[seat] += 1
            self.plies.append(self.answers[seat])
            self.position = self.position.play(self.answers[seat])
        self.live.add(
            before,
            self.state,
            {s: self.answers[s] for s in living},
            reasons(before, self.state) | self.faults,
            {s: self.thought[s] for s in living},
        )

    async def _ask(self, seat: int, bot: Bot, ends: int) -> None:
        """Asks a bot to decide; if it fails, it gives no answer and the game continues."""
        state, loop, answers = self.state.copy(), asyncio.get_running_loop(), self.answers
        try:
            decision = await loop.run_in_executor(self.threads, bot.decide, state, ends)
        except Exception as failure:
            if answers is self.answers:
                self._answer(seat, NO_ANSWER, f"failed: {type(failure).__name__}: {failure}")
            return
        if answers is self.answers and seat not in answers:
            self.nodes[seat] += int(decision.nodes)
            self._answer(seat, int(decision.action))

    def _send_state(self, deadline: str) -> None:
        """Sends the state to all connected clients, the final one with names and without a deadline."""
        last = self.position.over
        message = final_message(self.state, self.names) if last else message_of(self.state) | {"deadline": deadline}
        self.log.append(encode(message))
        for seat in range(int(self.state[PLAYERS])):
            if seat not in self.gone and not isinstance(self.seats[seat], Bot):
                self.seats[seat].send(f"{encode(message | {'you': 1 + seat})}\n", last, self.lives(seat))
