"""A Python game's states as objects, found by the plies that led to them, and its answers, checked."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.errors import UserError
from ..abi import CHANCE, TERMINAL
from .rules import WORD, PythonRules

KEPT = 1 << 14  # states of a game, the most recently used
MAX_OUTCOME = (1 << 32) - 1  # largest number that a match stores
LONGEST = 100  # characters of a wrong answer in a sentence
# Words of a state: the number of plies; if the game hides something, the number of bytes of a view's text and the text
# (none in a state that is not a view); then the plies.
PLIES, VIEW_BYTES, VIEW = 0, 1, 2


class GameFailure(UserError):
    """A mistake in a game's own code; a match records it and ends."""


@dataclass(slots=True)
class LiveState:
    """A state as its game's author defines it, and the game's answers about it."""

    state: Any
    rewards: tuple[float, ...]  # of the last ply
    mover: int | None = None  # a seat, CHANCE or TERMINAL; None until asked
    legal: list[int] | None = None
    outcomes: tuple[list[int], list[float]] | None = None  # ids and probabilities


class LiveStates:
    """The most recently used states of a game; others are made again from their plies.

    Threads share it: each access is one operation of an OrderedDict, which no other thread can interrupt.
    """

    def __init__(self, game: PythonRules) -> None:
        self.game = game
        # Kept, since a game may compute them, and every ply needs them.
        self.num_seats, self.num_actions, self.max_legal = game.num_seats, game.num_actions, game.max_legal
        self.max_outcomes, self.max_length = game.max_outcomes, game.max_length
        self.no_rewards = (0.0,) * game.num_seats
        self.first = VIEW + game.view_words if game.has_views else VIEW_BYTES  # word of the first ply
        self._kept: OrderedDict[bytes, LiveState] = OrderedDict()

    def key(self, words: Any) -> bytes:
        """Returns all words except the number of plies: the root, which is b"" or a view, and the plies."""
        return bytes(memoryview(words)[1 : self.first + words[PLIES]])

    def of(self, words: Any) -> LiveState:
        key = self.key(words)
        return self._find(key) or self._replay(key)

    def after(self, words: Any, ply: int) -> LiveState:
        """Returns the state after a ply and keeps it."""
        key = self.key(words)
        following = key + ply.to_bytes(WORD, sys.byteorder)
        return self._find(following) or self.keep(following, self.step(self._find(key) or self._replay(key), ply))

    def keep(self, key: bytes, live: LiveState) -> LiveState:
        self._kept[key] = live
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return live

    def _find(self, key: bytes) -> LiveState | None:
        live = self._kept.get(key)
        if live is not None:
            try:
                self._kept.move_to_end(key)
            except KeyError:  # another thread has just dropped it
                self._kept[key] = live
        return live

    def _replay(self, key: bytes) -> LiveState:
        """Plays on from the latest known state."""
        root, plies, live = (self.first - 1) * WORD, list[bytes](), None
        while live is None and len(key) > root:
            plies.append(key[-WORD:])
            key = key[:-WORD]
            live = self._find(key)
        if live is None:
            live = self.keep(key, LiveState(self._root(key), self.no_rewards))
        for ply in reversed(plies):
            key += ply
            live = self.keep(key, self.step(live, int.from_bytes(ply, sys.byteorder)))
        return live

    def _root(self, key: bytes) -> Any:
        length = int.from_bytes(key[:WORD], sys.byteorder)
        if length:
            return ast.literal_eval(key[WORD : WORD + length].decode())
        return self.ask("begin", self.game.begin)

    def ask(self, method: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a method of the game; its exceptions become GameFailure."""
        try:
            return function(*arguments)
        except Exception as error:
            raise self._raised(method, error) from error

    def _raised(self, method: str, error: Exception) -> GameFailure:
        if isinstance(error, UserError):  # a sentence already
            return GameFailure(str(error))
        return GameFailure(f"{method} of {self.game} raised {type(error).__name__}: {error}; fix the game.")

    def _wrong(self, method: str, must: str, got: object) -> GameFailure:
        return GameFailure(f"{method} of {self.game} must return {must}, got {_shortened(got)}; fix the game.")

    def too_long(self) -> GameFailure:
        return GameFailure(
            f"{self.game} must be over after max_length = {self.max_length} plies and outcomes, got a longer"
            " game; declare a larger max_length or fix the game."
        )

    def mover(self, live: LiveState) -> int:
        if live.mover is None:
            try:
                got = self.game.to_move(live.state)
            except Exception as error:
                raise self._raised("to_move", error) from error
            if type(got) is int and 0 <= got < self.num_seats:
                live.mover = got
            else:
                live.mover = self._checked_mover(got)
        return live.mover

    def _checked_mover(self, got: Any) -> int:
        mover = got.__index__() if hasattr(got, "__index__") else None
        if mover == CHANCE and self.max_outcomes == 1:
            raise self._wrong("to_move", "CHANCE only if max_outcomes is above 1", got)
        if mover is None or not (mover in (CHANCE, TERMINAL) or 0 <= mover < self.num_seats):
            raise self._wrong("to_move", f"a seat from 0 to {self.num_seats - 1}, CHANCE or TERMINAL", got)
        return int(mover)

    def legal(self, live: LiveState) -> list[int]:
        if live.legal is None:
            live.legal = self._ids("legal", self.game.legal, live.state, self.max_legal, self.num_actions)
        return live.legal

    def outcomes(self, live: LiveState) -> tuple[list[int], list[float]]:
        if live.outcomes is None:
            pairs = self._listed("outcomes", self.game.outcomes, live.state)
            try:
                ids, probabilities = [pair[0] for pair in pairs], [float(pair[1]) for pair in pairs]
            except (TypeError, ValueError, LookupError):
                raise self._wrong("outcomes", "pairs of an id and its probability", pairs) from None
            checked = self._ids("outcomes", lambda _: ids, live.state, self.max_outcomes, MAX_OUTCOME + 1)
            if not (min(probabilities) > 0 and abs(sum(probabilities) - 1) < 1e-9):
                raise self._wrong("outcomes", "positive probabilities whose sum is 1", probabilities)
            live.outcomes = checked, probabilities
        return live.outcomes

    def _listed(self, method: str, function: Callable[[Any], Any], state: Any) -> list[Any]:
        """Returns the items that a method returns or yields."""
        try:
            got = function(state)
            if hasattr(got, "__iter__"):
                return list(got)
        except Exception as error:
            raise self._raised(method, error) from error
        raise self._wrong(method, "a list", got)

    def _ids(self, method: str, function: Callable[[Any], Any], state: Any, most: int, end: int) -> list[int]:
        """Returns the ids that a method returns or yields, as Python's integers."""
        got = self._listed(method, function, state)
        try:
            ids = list(map(operator.index, got))
        except TypeError:
            ids = []
        ascending = all(map(operator.lt, ids, itertools.islice(ids, 1, None)))
        if not (ids and ascending and ids[0] >= 0 and ids[-1] < end):
            raise self._wrong(method, f"ascending ids from 0 to {end - 1}, at least one", got)
        if len(ids) > most:
            raise self._wrong(method, f"at most {most} ids, as the game declares", got)
        return ids

    def step(self, live: LiveState, ply: int) -> LiveState:
        try:
            got = self.game.step(live.state, ply)
        except Exception as error:
            raise self._raised("step", error) from error
        try:
            state, rewards = got
            found = tuple(map(float, rewards))
        except (TypeError, ValueError):
            raise self._wrong("step", "the next state and the rewards of all seats", got) from None
        if len(found) != self.num_seats or not all(map(math.isfinite, found)):
            raise self._wrong("step", f"{self.num_seats} finite rewards", rewards)
        return LiveState(state, found)

    def view_text(self, live: LiveState, seat: int) -> bytes:
        """Returns a seat's view as text, from which any process can make it again."""
        view = self.ask("observe", self.game.observe, live.state, seat)
        text = repr(view)
        try:
            same = ast.literal_eval(text) == view
        except (ValueError, SyntaxError):
            same = False
        if not same:
            raise self._wrong("observe", "a state made of numbers, text, tuples, lists and dictionaries", view)
        if len(text.encode()) > self.game.max_view:
            raise self._wrong("observe", f"at most max_view = {self.game.max_view} characters in print", text)
        return text.encode()


def _shortened(value: object) -> str:
    """Returns a value as text, short enough for a sentence."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
