"""Q-learning for spe_ed on a window around the player: the table, games of self-play that fill it, and its agent.

Source: Brot 2021, 3.3. The state is which cells of an n x n window are taken, and nothing else. Differs: the window is
turned so that the player looks up, which leaves a fourth of the states; the speed, on which the possible moves depend,
belongs to the state; keys are hashed into a table of fixed size; epsilon is the probability of a random action and
falls, while the document's is that of a chosen one and rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...core.array_files import diverged, not_finite, read_arrays, write_learned
from ...core.errors import UserError
from ...core.kernel import kernel, types
from ...core.parameters import parameter
from ...core.rng import GOLDEN, Rng, below, fold, stream, uniform
from ...games.abi import GAME, Floats, State
from ...games.game import Game
from ...games.registry import game_of
from ...games.spe_ed.board import ACTIVE, PLAYERS
from .player import Choice, SpeEdAgent, SpeEdPlayer, best_of, only
from .search.field import (
    CELL,
    HEADING,
    MOVES,
    PACE,
    WALKER_WORDS,
    Field,
    Walker,
    fill_field,
    new_field,
    offset_of,
    read_walker,
    stride_of,
)

QTable = types.Array(types.float32, 2, "C")  # [2**bits, MOVES]
WINDOW, ALPHA, GAMMA, EPSILON_BEGIN, EPSILON_END, GAMES = range(6)  # of settings
ROUND_LIVED, DIED, WON = 0.01, -1.0, 1.0  # rewards
CHUNK = 500  # games between two reports
LARGEST = 1 << 32  # bytes of a readable table
WIDEST = 99  # cells of a readable window

_1, _29, _32 = (np.uint64(n) for n in (1, 29, 32))


@kernel(types.int64(Field, types.int64, Walker, types.int64, types.int64))
def key_of(field, stride, walker, window, size):
    """The row of the table for a player's view; `size` is a power of two."""
    ahead, side = offset_of(walker[HEADING], stride), offset_of((walker[HEADING] + 1) & 3, stride)
    reach, key = window // 2, np.uint64(walker[PACE])
    for up in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            cell = walker[CELL] + up * ahead + right * side
            taken = cell < 0 or cell >= field.size or field[cell] != 0
            key = (key << _1) | np.uint64(taken)
    return np.int64(fold(fold(key, _29) * GOLDEN, _32) & np.uint64(size - 1))


@kernel(types.int64(QTable, types.int64))
def best_action(table, row):
    best = np.int64(MOVES - 1)  # of equals: straight on
    for action in range(MOVES - 1):
        if table[row, action] > table[row, best]:
            best = np.int64(action)
    return best


@kernel(types.int64(GAME, State, QTable, Floats, types.int64, types.int64, Rng, Field))
def learn_games(game, state, table, settings, first, games, rng, field):
    """Plays games of self-play in which all seats fill one table, and returns the rounds; `first`: games before.

    Q(s, a) += alpha (r + gamma max Q(s', .) - Q(s, a))
    """
    window, stride = np.int64(settings[WINDOW]), stride_of(state)
    walker, rewards = np.empty(WALKER_WORDS, np.int64), np.zeros(game.num_seats)
    rows, chosen = np.empty(game.num_seats, np.int64), np.empty(game.num_seats, np.int64)
    moves = 0
    for played in range(first, first + games):
        done = min(1.0, played / settings[GAMES])
        epsilon = settings[EPSILON_BEGIN] + done * (settings[EPSILON_END] - settings[EPSILON_BEGIN])
        game.init(state, rng)
        fill_field(state, field)
        while game.to_move(state) >= 0:
            for seat in range(state[PLAYERS]):
                rows[seat] = -1
                if state[ACTIVE + seat]:
                    read_walker(state, seat, walker)
                    rows[seat] = key_of(field, stride, walker, window, table.shape[0])
                    random = uniform(rng) < epsilon
                    chosen[seat] = below(rng, MOVES) if random else best_action(table, rows[seat])
            rewards[:] = 0.0
            for seat in range(state[PLAYERS]):
                if rows[seat] >= 0:
                    game.step(state, chosen[seat], rewards)
            moves += 1
            fill_field(state, field)
            for seat in range(state[PLAYERS]):
                if rows[seat] >= 0:
                    gained = DIED
                    if state[ACTIVE + seat]:
                        gained = ROUND_LIVED
                        if game.to_move(state) < 0:
                            gained = WON
                        else:
                            read_walker(state, seat, walker)
                            after = key_of(field, stride, walker, window, table.shape[0])
                            gained += settings[GAMMA] * table[after, best_action(table, after)]
                    table[rows[seat], chosen[seat]] += settings[ALPHA] * (gained - table[rows[seat], chosen[seat]])
    return moves


@dataclass(frozen=True)
class Learning:
    """The settings of learning; a file can be resumed only with equal ones."""

    game: str = "spe_ed(width=41,height=41,players=4)"
    window: int = 5
    bits: int = 20
    alpha: float = 0.1
    gamma: float = 0.9
    epsilon_begin: float = 0.5
    epsilon_end: float = 0.01
    games: int = 20_000
    seed: int = 1


class QTraining:
    """Learning into a file; resumed after a break, it gives the same table as without one."""

    def __init__(self, learning: Learning, file: Path) -> None:
        self.learning, self.file = learning, file
        self.game: Game = game_of(learning.game)
        self.done, self.rng = 0, stream(learning.seed)
        self.table = np.zeros((1 << learning.bits, MOVES), np.float32)
        if file.exists():
            self.table, stored = read_table(file)
            if stored["learning"] != repr(learning):
                raise UserError(f"{file} was begun with {stored['learning']}, got {learning!r}; choose another file.")
            self.done, self.rng = int(stored["done"]), stored["rng"]

    def run(self, report: Callable[[int, float], None]) -> None:
        """Plays the remaining games; every CHUNK games it saves, and calls `report` with games and mean rounds."""
        plan, field, state = self.learning, new_field(self.game), self.game.new_state()
        settings = np.array(
            [plan.window, plan.alpha, plan.gamma, plan.epsilon_begin, plan.epsilon_end, plan.games], np.float64
        )
        while self.done < plan.games:
            count = min(CHUNK, plan.games - self.done)
            moves = learn_games(self.game.kernels, state, self.table, settings, self.done, count, self.rng, field)
            self.done += count
            self.save()
            report(count, moves / count)

    def save(self) -> None:
        """Writes the whole file, or leaves it unchanged, such as if values have diverged."""
        arrays = {
            "table": self.table,
            "window": np.array(self.learning.window),
            "learning": np.array(repr(self.learning)),
            "done": np.array(self.done),
            "rng": self.rng,
        }
        write_learned(self.file, "a table for qlearning", arrays, compressed=True)


def read_table(file: Path) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
    """Returns a learned table and its description; raises UserError if there is none."""
    try:
        arrays = read_arrays(file, ("table", "window", "learning", "done", "rng"), LARGEST)
        table, rng = arrays.pop("table"), arrays.pop("rng")
        stored: dict[str, Any] = {"rng": rng, **{name: value.item() for name, value in arrays.items()}}
        rows = len(table) if table.shape[1:] == (MOVES,) and table.dtype == np.float32 else 0
        if rows < 1 or rows & (rows - 1) or rng.shape != stream(0).shape or rng.dtype != np.uint64:
            raise ValueError("it is no table of moves")
        if not isinstance(stored["window"], int) or not 1 <= stored["window"] <= WIDEST:
            raise ValueError(f"the window is {stored['window']!r}")
        if not isinstance(stored["done"], int) or stored["done"] < 0:
            raise ValueError(f"the games played are {stored['done']!r}")
        if not_finite({"table": table}):
            raise diverged("a table for qlearning", file, "table", "learn it again into another file")
        return table, stored
    except (OSError, ValueError) as failure:
        raise UserError(
            f"a table for qlearning must be a file that studies/brot/qlearning.py wrote, undamaged,"
            f" got {file}: {failure}; restore it from a copy, or learn it again into another file."
        ) from None


class QPlayer(SpeEdPlayer):
    def __init__(self, agent: SpeEdAgent, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        assert isinstance(agent, QLearning)
        self.safe = agent.safe
        self.table, self.window = np.zeros((1, MOVES), np.float32), Learning.window
        if agent.file:
            self.table, stored = read_table(agent.carried_path("file"))
            self.window = int(stored["window"])

    def choose(self, ends: int) -> Choice:
        row = key_of(self.field, self.stride, self.walker, self.window, len(self.table))
        values = self.table[row].astype(np.float64)
        possible = self.possible()
        allowed = possible if self.safe and possible.any() else np.ones(MOVES, np.bool_)
        if not values.any():
            return only(best_of(values, allowed))
        return Choice(best_of(values, allowed), np.ones(MOVES, np.int64), values, MOVES)


@dataclass(frozen=True)
class QLearning(SpeEdAgent):
    """spe_ed: plays the best move by Q-learning for the window around it. Source: Brot 2021, 3.3."""

    name: ClassVar[str] = "qlearning"
    player: ClassVar[Any] = QPlayer

    file: str = parameter(
        "", "file of a table learned by studies/brot/qlearning.py; without one all moves are equal", carried=True
    )
    safe: bool = parameter(True, "play only moves that enter free cells, if there are any")

    def draws_numbers(self, game: Game) -> bool:
        return False
