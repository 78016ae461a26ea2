"""Our agents as clients of any server with the official protocol of spe_ed."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit
from urllib.request import urlopen

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from ...agents.agent import Agent
from ...core.errors import MALFORMED, UserError
from ...games.spe_ed.board import ACTIONS
from ...games.spe_ed.messages import require_same_game, state_of
from .timed_player import TimedPlayer

TIME_REQUESTS = 3  # requests for the server's time; the quickest answer counts
MIN_SECONDS = 0.02  # minimum, for a decision whose deadline has nearly passed
RECONNECT_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)  # pauses before connecting again; the last one repeats
REFUSED_SECONDS = 60.0  # for a server that refuses all connections to restart, if the number of games is limited
PING_SECONDS = 20.0  # between two pings, which detect a silently lost server
SILENT_SECONDS = 60.0  # minimum patience with a silent server: rounds end somewhat after their deadlines
LONGEST_SECONDS = 3600.0  # maximum wait for a deadline, and for a silent server after it
CUT_OFF = "cut off"
MAX_BYTES = 1 << 20
UNHEARD = logging.getLogger("turnier.join")  # of websockets, which logs a traceback if a server answers no ping
UNHEARD.disabled = True


def with_key(url: str, key: str) -> str:
    """Returns the address with the key in it; an empty key leaves that of the address."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # for addresses such as ws://[::1 and ports such as 99999
        valid = False
    if not valid:
        raise UserError(f"the server's URL must be like ws://HOST:PORT/spe_ed, or begin with wss://, got {url!r}.")
    if not key:
        if "key" in parse_qs(parts.query):
            return url
        raise UserError("the server needs a key; set KEY in the environment, or type --key.")
    query = f"{parts.query}&key={quote(key, safe='')}" if parts.query else f"key={quote(key, safe='')}"
    return urlunsplit(parts._replace(query=query))


def time_url_of(url: str) -> str:
    """Returns the address of a server's clock from the address of its game."""
    parts = urlsplit(url)
    scheme = "https" if parts.scheme == "wss" else "http"
    return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + "_time", "", ""))


def seconds_of(text: str) -> float:
    """Returns the seconds since 1970 of a time such as 2020-10-01T12:00:00Z."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def offset_to(time_url: str, timeout: float = 5.0) -> float:
    """Returns the lead of the server's clock over ours in seconds, by the quickest of a few answers.

    Raises OSError or ValueError if the server gives no time.
    """
    best: tuple[float, float] | None = None
    for _ in range(TIME_REQUESTS):
        asked = time.time()
        with urlopen(time_url, timeout=timeout) as answer:
            server_time = json.loads(answer.read(10_000))
        answered = time.time()
        ahead = seconds_of(server_time["time"]) + server_time.get("milliseconds", 0) / 1000 - (asked + answered) / 2
        if best is None or answered - asked < best[0]:
            best = (answered - asked, ahead)
    assert best is not None
    return best[1]


@dataclass
class Outcome:
    """The outcome of a game for us."""

    rounds: int
    place: str  # won | lost | nobody won | cut off
    players: dict[str, Any]
    you: int


@dataclass
class AgentClient:
    """An agent that plays games on a server, as `turnier spe_ed join` does."""

    url: str  # with the key
    time_url: str
    agent: Agent
    seed: int
    margin: float  # seconds before the deadline for sending an answer
    games: int  # 0 = until `stop` exists
    stop: Path
    patience: float  # seconds without a connection before giving up, and of silence before reconnecting
    report: Callable[[str], object]
    _rounds: int = 0  # of the current game, 0 = it has not begun

    def run(self) -> list[Outcome]:
        """Plays one game after another; reconnects when a connection fails or is lost.

        Interrupted games count as `games`. Raises UserError if the server stays away.
        """
        outcomes: list[Outcome] = []
        failures, since = 0, time.monotonic()  # the time since which no connection has held
        while not self.stop.exists() and (not self.games or len(outcomes) < self.games):
            self._rounds, connected = 0, False
            try:
                with self._connected() as socket:
                    connected = True
                    self.report("connected, waiting for the game")
                    outcome = self._play(socket, len(outcomes))
                outcomes.append(outcome)
                self.report(f"game over after {outcome.rounds} rounds: {outcome.place}")
                failures, since = 0, time.monotonic()
            except (OSError, WebSocketException) as failure:
                self._check(failure)
                described = self._described(failure)
                if connected:
                    since = time.monotonic()
                if self._rounds:
                    outcomes.append(Outcome(self._rounds, CUT_OFF, {}, 0))
                    self.report(f"game cut off after {self._rounds} rounds: {described}")
                    failures = 0
                    continue
                self._require_patience(failure, time.monotonic() - since, outcomes)
                wait = RECONNECT_SECONDS[min(failures, len(RECONNECT_SECONDS) - 1)]
                failures += 1
                self.report(f"{described}; connecting again in {wait:g} s")
                self._wait(wait)
        if len(outcomes) > 1:
            self.report(told(outcomes))
        return outcomes

    def _require_patience(self, failure: Exception, seconds: float, outcomes: list[Outcome]) -> None:
        """Raises UserError after so many seconds without a connection, sooner if nothing listens any more."""
        refused = isinstance(failure, ConnectionRefusedError) and bool(self.games)
        patience = min(self.patience, REFUSED_SECONDS) if refused else self.patience
        if seconds > patience:
            raise UserError(
                f"the server must be reachable, got {self._described(failure)} for {seconds:.0f} s"
                f"{f' after {told(outcomes)}' if outcomes else ''}; check URL, or whether it still runs."
            ) from None

    def _connected(self) -> ClientConnection:
        return connect(
            self.url,
            compression=None,
            max_size=MAX_BYTES,
            open_timeout=20,
            ping_interval=PING_SECONDS,
            ping_timeout=self._silence(),
            proxy=None,
            logger=UNHEARD,
        )

    def _silence(self) -> float:
        """Returns the seconds that a server may be silent before it counts as lost."""
        return min(max(SILENT_SECONDS, self.patience), LONGEST_SECONDS)

    def _described(self, failure: Exception) -> str:
        """Returns a failure in words that do not contain the key."""
        if isinstance(failure, InvalidStatus):
            return f"HTTP status {failure.response.status_code}"
        if isinstance(failure, ConnectionClosed) and failure.rcvd is not None and failure.rcvd.reason:
            return f"the server closed the connection: {failure.rcvd.reason} (code {failure.rcvd.code})"
        return str(failure).replace(self.url, "the server") or type(failure).__name__

    def _check(self, failure: Exception) -> None:
        """Raises UserError for failures that waiting does not fix."""
        if isinstance(failure, InvalidStatus) and failure.response.status_code in (400, 401, 403, 404):
            raise UserError(
                f"the server refused the key with HTTP status {failure.response.status_code}; check URL and KEY."
            )
        if isinstance(failure, InvalidHandshake) and not isinstance(failure, InvalidStatus):
            self.report(f"no WebSocket handshake: {self._described(failure)}")

    def _wait(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not self.stop.exists():
            time.sleep(min(0.2, seconds))

    def _first(self, socket: ClientConnection) -> str | bytes:
        """Returns the first state; stops waiting when the file `stop` appears."""
        while True:
            try:
                return socket.recv(timeout=0.5)
            except TimeoutError:
                if self.stop.exists():
                    raise StoppedWaiting from None

    def _next(self, socket: ClientConnection, left: float) -> str | bytes:
        """Returns the state after one whose deadline is so many seconds away; raises TimeoutError in silence."""
        seconds = min(max(left, 0.0), LONGEST_SECONDS) + self._silence()
        try:
            return socket.recv(timeout=seconds)
        except TimeoutError:
            raise TimeoutError(f"the server has sent nothing for {seconds:.0f} s") from None

    def _play(self, socket: ClientConnection, number: int) -> Outcome:
        try:
            text = self._first(socket)
        except StoppedWaiting:
            return Outcome(0, "stopped in the lobby", {}, 0)
        offset = self._offset()
        timed_player: TimedPlayer | None = None
        known: tuple[int, ...] = ()
        while True:
            came = time.time()
            try:
                message, state = _read(text, self._rounds)
                known = require_same_game(message, known)
            except MALFORMED as failure:
                raise UserError(
                    f"the server must send states of spe_ed, got {str(text)[:80]!r} ({failure}); check URL."
                ) from None
            you = int(message["you"])
            if not message["running"]:
                return Outcome(self._rounds, _place(message), message["players"], you)
            deadline = seconds_of(message["deadline"]) - offset if message.get("deadline") else came
            if message["players"][str(you)]["active"]:
                size = (message["width"], message["height"], len(message["players"]))
                timed_player = timed_player or TimedPlayer(self.agent, *size, you - 1, self.seed + number)
                ends = time.monotonic_ns() + int(1e9 * max(MIN_SECONDS, deadline - self.margin - came))
                action = timed_player.decide(state, ends).action
                socket.send(json.dumps({"action": ACTIONS[action]}))
            self._rounds += 1
            text = self._next(socket, deadline - time.time())

    def _offset(self) -> float:
        """Returns the lead of the server's clock in seconds, 0 if it gives no time."""
        try:
            return offset_to(self.time_url)
        except (OSError, HTTPException, *MALFORMED) as failure:
            self.report(f"the server gives no time ({type(failure).__name__}); using the local clock")
            return 0.0


def told(outcomes: Sequence[Outcome]) -> str:
    """Returns the numbers of games by their ends, such as `3 games: 2 won, 1 cut off`."""
    ends = Counter(outcome.place for outcome in outcomes)
    games = f"{len(outcomes)} game{'s' * (len(outcomes) > 1)}"
    return f"{games}: {', '.join(f'{count} {place}' for place, count in ends.most_common())}"


class StoppedWaiting(Exception):
    """The file that stops a client appeared before a game began."""


def _read(text: str | bytes, rounds: int) -> tuple[dict[str, Any], Any]:
    """Returns a server's message, and the state of the game, or None if it is over or we are out."""
    message = json.loads(text)
    int(message["you"])
    if not message["running"]:
        _place(message)
        return message, None
    living = message["players"][str(message["you"])]["active"]
    if living or message.get("deadline"):  # may be missing for players who are out
        seconds_of(message["deadline"])
    return message, state_of(message, rounds) if living else None


def _place(message: dict[str, Any]) -> str:
    living = [number for number, player in message["players"].items() if player["active"]]
    if not living:
        return "nobody won"
    return "won" if str(message["you"]) in living else f"{message['players'][living[0]].get('name', living[0])} won"
