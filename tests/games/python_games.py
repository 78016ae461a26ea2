"""Games written in Python, each equal to a compiled one, and games that fail in every way a game in Python can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from turnier.core.parameters import parameter
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.python.python_game import PythonGame

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@dataclass(frozen=True)
class Noughts(PythonGame):
    """Tic-tac-toe; a state is the marks of the nine cells."""

    name: ClassVar[str] = "noughts"
    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 9
    max_legal: ClassVar[int] = 9
    max_length: ClassVar[int] = 9

    def begin(self) -> str:
        return "." * 9

    def to_move(self, state: str) -> int:
        over = "." not in state or self._won(state)
        return TERMINAL if over else (9 - state.count(".")) % 2

    def legal(self, state: str) -> list[int]:
        return [cell for cell in range(9) if state[cell] == "."]

    def step(self, state: str, ply: int) -> tuple[str, Sequence[float]]:
        seat = (9 - state.count(".")) % 2
        after = state[:ply] + "XO"[seat] + state[ply + 1 :]
        return after, ((1, -1) if seat == 0 else (-1, 1)) if self._won(after) else (0, 0)

    def show(self, state: str) -> str:
        return "\n".join(state[row : row + 3] for row in (0, 3, 6))

    def _won(self, state: str) -> bool:
        return any(state[a] == state[b] == state[c] != "." for a, b, c in LINES)


@dataclass(frozen=True)
class Dice(PythonGame):
    """Pig of tests/contract/tiny_games.py: chance; a state is (turns left, seat, rolling, pot, banked)."""

    name: ClassVar[str] = "dice"
    players: int = parameter(2, "seats", low=1, high=2)
    target: int = parameter(20, "points that win", low=2, high=100)

    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2
    max_outcomes: ClassVar[int] = 6
    max_length: ClassVar[int] = 2 * 30 * 101

    @property
    def num_seats(self) -> int:  # type: ignore[override]
        return self.players

    def begin(self) -> tuple[Any, ...]:
        return 30, 0, False, 0, (0,) * self.players

    def to_move(self, state: tuple[Any, ...]) -> int:
        turns, seat, rolling, _, _ = state
        return TERMINAL if turns == 0 else CHANCE if rolling else seat

    def legal(self, state: tuple[Any, ...]) -> range:
        return range(2)

    def outcomes(self, state: tuple[Any, ...]) -> list[tuple[int, float]]:
        return [(face, 1 / 6) for face in range(1, 7)]

    def step(self, state: tuple[Any, ...], ply: int) -> tuple[tuple[Any, ...], Sequence[float]]:
        turns, seat, rolling, pot, banked = state
        nothing = (0.0,) * self.players
        if not rolling and ply == 1:
            return (turns, seat, True, pot, banked), nothing
        if rolling and ply != 1:
            return (turns, seat, False, pot + ply, banked), nothing
        score = banked[seat] + (0 if rolling else pot)
        banked = (*banked[:seat], score, *banked[seat + 1 :])
        won = score >= self.target
        following = (0 if won else turns - 1, (seat + 1) % self.players, False, 0, banked)
        return following, [(1.0 if other == seat else -1.0) if won else 0.0 for other in range(self.players)]


@dataclass(frozen=True)
class Inches(PythonGame):
    """Fuse of tests/contract/tiny_games.py: three seats of which two drop out."""

    name: ClassVar[str] = "inches"
    length: int = parameter(7, "inches of a fuse", low=1, high=50)

    num_seats: ClassVar[int] = 3
    num_actions: ClassVar[int] = 3
    max_legal: ClassVar[int] = 3
    max_length: ClassVar[int] = 100

    def begin(self) -> dict[str, Any]:
        return {"left": self.length, "alive": [0, 1, 2], "seat": 0}

    def to_move(self, state: dict[str, Any]) -> int:
        seat: int = state["seat"]
        return seat if len(state["alive"]) > 1 else TERMINAL

    def legal(self, state: dict[str, Any]) -> list[int]:
        return list(range(min(3, state["left"])))

    def step(self, state: dict[str, Any], ply: int) -> tuple[dict[str, Any], list[float]]:
        left, alive, seat, rewards = state["left"] - ply - 1, list(state["alive"]), state["seat"], [0.0] * 3
        if left == 0:
            rewards[seat] = -1.0 if len(alive) == 3 else 0.0
            alive.remove(seat)
            left = self.length
            if len(alive) == 1:
                rewards[alive[0]] = 1.0
        seat = min(alive, key=lambda other: (other - seat - 1) % 3)
        return {"left": left, "alive": alive, "seat": seat}, rewards


@dataclass(frozen=True)
class Coins(PythonGame):
    """Pennies of tests/contract/tiny_games.py: both commit in secret; a state is [rounds left, seat, coins]."""

    name: ClassVar[str] = "coins"
    rounds: int = parameter(4, "rounds of a game", low=1, high=100)

    num_seats: ClassVar[int] = 2
    num_actions: ClassVar[int] = 2
    max_legal: ClassVar[int] = 2

    @property
    def max_length(self) -> int:  # type: ignore[override]
        return 2 * self.rounds

    @property
    def max_return(self) -> float:  # type: ignore[override]
        return float(self.rounds)

    def begin(self) -> list[Any]:
        return [self.rounds, 0, {}]

    def to_move(self, state: list[Any]) -> int:
        left, seat, _ = state
        return seat if left else TERMINAL

    def legal(self, state: list[Any]) -> tuple[int, int]:
        return 0, 1

    def step(self, state: list[Any], ply: int) -> tuple[list[Any], Sequence[float]]:
        left, seat, coins = state
        coins = {**coins, seat: ply}
        if len(coins) < 2:
            return [left, 1 - seat, coins], (0, 0)
        won = 1 if coins[0] == coins[1] else -1
        return [left - 1, 0, {}], (won, -won)

    def observe(self, state: list[Any], seat: int) -> list[Any]:
        return [state[0], seat, {}]
