"""UCI: the Universal Chess Interface, for chess and, with moves as text, for any game of two.

Source: Kahlen and Meyer-Kahlen, "Description of the universal chess interface", 2006.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterable

from ...agents.agent import Decision
from ...core.errors import UserError
from ...games.chess.game import Chess
from ...games.game import Game
from .clock import share_of_clock, whole_move
from .hosted_agent import HostedAgent, Limit

NO_MOVE = "0000"
LONGEST = 3_600_000  # milliseconds of an infinite search


class UciService:
    """Answers commands; searches run in a thread, so `stop` and `isready` are heard."""

    def __init__(self, engine: HostedAgent, write: Callable[[str], None]) -> None:
        engine.require_two_seats("UCI")
        self.engine, self.write = engine, write
        self._game = engine.game  # from the command line
        self._stop, self._search = threading.Event(), threading.Thread()
        self._prepared = False
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "ucinewgame": self._ucinewgame,
            "position": self._position,
            "go": self._go,
            "stop": lambda _: self._end_search(),
            "setoption": lambda _: None,  # there are none
            "debug": lambda _: None,
            "register": lambda _: None,
            "ponderhit": lambda _: None,  # the engine never asks to ponder
        }

    def run(self, lines: Iterable[str]) -> None:
        """Answers until `quit`, which waits for nothing, or the end of the input, which waits for the last move."""
        for line in lines:
            # The protocol demands that words before the first known one are ignored.
            words = list(itertools.dropwhile(lambda word: word not in self._commands and word != "quit", line.split()))
            if words[:1] == ["quit"]:
                self._stop.set()
                return
            if words:
                self._answer(words)
            elif line.strip():
                self.write(f"info string unknown command: {line.strip()}")
        self._end_search()

    def _answer(self, words: list[str]) -> None:
        try:
            self._commands[words[0]](words[1:])
        except UserError as error:
            self.write(f"info string {error}")

    def _uci(self, words: list[str]) -> None:
        self.write(f"id name Turnier {self.engine.agent}\nid author the authors of Turnier\nuciok")

    def _isready(self, words: list[str]) -> None:
        self._prepare()
        self.write("readyok")

    def _prepare(self) -> None:
        if not self._prepared:
            self._prepared = True
            self.engine.prepare()

    def _ucinewgame(self, words: list[str]) -> None:
        self._end_search()
        self.engine.begin(self._game)

    def _position(self, words: list[str]) -> None:
        self._end_search()
        place = words.index("moves") if "moves" in words else len(words)
        start, moves = words[:place], words[place + 1 :]
        if start[:1] == ["fen"] and isinstance(self._game, Chess):
            game: Game = self._game.replace(fen=" ".join(start[1:]))
        elif start == ["startpos"]:
            game = self._game
        else:
            raise UserError(f"a position must be startpos or, in chess, fen and a FEN, got {' '.join(start)!r}.")
        if game != self.engine.game:
            self.engine.begin(game)
        self.engine.follow(moves)

    def _go(self, words: list[str]) -> None:
        self._end_search()
        self._prepare()
        given = read_limits(words)
        self._stop.clear()
        # A daemon, because `quit` does not wait for it.
        self._search = threading.Thread(target=self._think, args=(self._limit(given), "infinite" in given), daemon=True)
        self._search.start()

    def _limit(self, given: dict[str, int]) -> Limit | None:
        """Returns the limit of a search: the first given one of time, nodes, depth and clock."""
        own = "bw"[self.engine.position.to_move == 0]
        if "infinite" in given:
            return Limit(LONGEST, "ms")
        if "movetime" in given:
            return Limit(whole_move(given["movetime"]), "ms")
        if "nodes" in given:
            return Limit(given["nodes"], "nodes")
        if "depth" in given:
            return Limit(given["depth"], "plies")
        if f"{own}time" in given:
            clock = given[f"{own}time"], given.get(f"{own}inc", 0), given.get("movestogo", 0)
            return Limit(share_of_clock(*clock), "ms")
        return None

    def _think(self, limit: Limit | None, infinite: bool) -> None:
        decision = None
        try:
            if not self.engine.position.over:
                decision = self.engine.choose(limit, self._stop)
        except UserError as error:  # the arena waits for a move in any case
            self.write(f"info string {' '.join(str(error).split())}")
        if infinite:
            self._stop.wait()
        self.write(f"bestmove {NO_MOVE}" if decision is None else self._answer_of(decision))

    def _answer_of(self, decision: Decision) -> str:
        move, milliseconds = self.engine.written(decision), int(1000 * decision.seconds)
        return f"info depth 1 nodes {decision.nodes} time {milliseconds} pv {move}\nbestmove {move}"

    def _end_search(self) -> None:
        self._stop.set()
        if self._search.is_alive():
            self._search.join()


def read_limits(words: list[str]) -> dict[str, int]:
    """Returns the numbers of `go`, 0 for words without one; unreadable ones are left out."""
    given: dict[str, int] = {}
    for word, following in itertools.pairwise([*words, ""]):
        if word.isalpha():
            given[word] = 0
            with contextlib.suppress(ValueError):
                given[word] = max(1, int(following))
    return given
