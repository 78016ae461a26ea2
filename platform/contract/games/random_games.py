"""Games played by laws: random games node by node, and samples of the game's own and the generic playouts.

Kernels get more room than they declare, so that a broken one is caught instead of crashing the process.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...core.kernel import JIT, kernel, types
from ...core.rng import Rng, stream
from ...games import generic
from ...games.abi import CHANCE, GAME, STATE_DTYPE, TERMINAL, Actions, Floats, State
from ...games.game import Game, Ints, NumArray
from ..law import LawBroken

SEEDS = range(4)  # of the games in laws
MAX_WORDS = 40  # of a state in a sentence
MAX_NODES = 300  # of each game, for laws that need not see its end
MAX_STEPS = 20_000  # a random game that takes more plies and outcomes counts as endless
UNLIMITED = 1 << 30  # a depth that no game reaches
ROOM = 64  # words around an array, or after its declared size
FENCE = -987654321
FEW_SAMPLES = 150  # plain Python is about a thousand times slower
SAMPLES, DRAWS = (5_000, 5_000) if JIT else (FEW_SAMPLES, 1_000)
MAX_Z = 5.0  # standard errors by which two means of one distribution may differ


def fenced(size: int, dtype: Any, fence: int = FENCE) -> tuple[NumArray, NumArray]:
    """Returns exactly `size` zeros, and the larger array around them with a fence on both sides."""
    whole = np.full(size + 2 * ROOM, fence, dtype)
    inside = whole[ROOM : ROOM + size]
    inside[:] = 0
    return inside, whole


@contextlib.contextmanager
def inside_arrays(game: Game) -> Iterator[None]:
    """Turns an index error of plain Python (NUMBA_DISABLE_JIT=1) into the law's sentence."""
    try:
        yield
    except IndexError as error:
        raise LawBroken(f"kernels of {game} must stay inside their arrays, got {error}") from error


class Node(NamedTuple):
    """A place in a random game: a copy of the state, its mover and options, and the returns so far."""

    state: Ints  # [state_words]
    mover: int
    options: list[int]  # legal actions, or chance outcomes
    returns: NumArray  # [seats]
    seed: int  # of the random game
    step: int  # plies and outcomes before

    def __str__(self) -> str:
        return f"after {self.step} steps of the random game with seed {self.seed}, state {words(self.state)}"


def words(state: Ints) -> str:
    """Returns a state as text for a sentence."""
    shown = " ".join(str(word) for word in state[:MAX_WORDS])
    return f"[{shown} ...]" if state.size > MAX_WORDS else f"[{shown}]"


def legal_actions(game: Game, state: Ints) -> list[int]:
    out = np.full(game.max_legal + ROOM, FENCE, np.int64)
    return [int(a) for a in out[: game.kernels.legal(state, out)]]


def chance_outcomes(game: Game, state: Ints) -> tuple[list[int], list[float]]:
    out = np.full(game.max_outcomes + ROOM, FENCE, np.int64)
    probs = np.full(game.max_outcomes + ROOM, np.nan)
    n = game.kernels.chance(state, out, probs)
    return [int(o) for o in out[:n]], [float(p) for p in probs[:n]]


def start_state(game: Game, rng: NumArray) -> Ints:
    state, _ = fenced(game.state_words, STATE_DTYPE)
    state[:] = game.new_state()
    game.kernels.init(state, rng)
    return state


def walk(game: Game, seed: int, limit: int = MAX_NODES, start: Ints | None = None) -> Iterator[Node]:
    """Yields at most `limit` nodes of a random game, including start and end; outcomes are drawn evenly."""
    choose = random.Random(seed)
    state = start_state(game, stream(seed))
    state[:] = state if start is None else start
    returns, _ = fenced(game.num_seats, np.float64)
    with inside_arrays(game):
        for step in range(limit):
            before = state.copy()
            mover = int(game.kernels.to_move(state))
            if mover == CHANCE:
                options = chance_outcomes(game, state)[0]
            else:
                options = [] if mover == TERMINAL else legal_actions(game, state)
            yield Node(before, mover, options, returns.copy(), seed, step)
            if not options:
                return
            game.kernels.step(state, choose.choice(options), returns)


def nodes(game: Game, seeds: Iterable[int] = SEEDS) -> Iterator[Node]:
    """Yields the nodes of several random games."""
    return itertools.chain.from_iterable(walk(game, seed) for seed in seeds)


def some_nodes(game: Game, seeds: Iterable[int]) -> list[Node]:
    """Returns a node from the start, the middle and the last quarter of each game, for slow laws."""
    return [played[len(played) * k // 4] for played in (list(walk(game, s)) for s in seeds) for k in (0, 2, 3)]


def view_of(game: Game, state: Ints, seat: int, fill: int = 0) -> Ints:
    """Returns the view of `seat`, written over an array full of `fill`."""
    view = np.full(state.size, fill, STATE_DTYPE)
    game.kernels.observe(state, seat, view)
    return view


def scratch(game: Game) -> tuple[Ints, NumArray]:
    """Returns the scratch space of generic playouts and draws."""
    size = max(game.max_legal, game.max_outcomes, game.num_cells) + ROOM
    return np.zeros(size, np.int64), np.zeros(size)


TABLE = types.float64[:, ::1]


@kernel(types.void(GAME, State, State, types.int64, types.int64, Rng, Actions, Floats, TABLE, TABLE))
def sample_playouts(game, start, state, depth, fused, rng, choices, probs, returns, ends):
    """Fills `returns` [n, seats] and `ends` [n, 2 + num_cells] (plies, whether over, cells) of n playouts."""
    for i in range(returns.shape[0]):
        generic.copy_state(start, state)
        if fused:
            plies = game.playout(state, depth, rng, returns[i])
        else:
            plies = generic.generic_playout(game, state, depth, rng, returns[i], choices, probs)
        ends[i, 0] = plies
        ends[i, 1] = game.to_move(state) == TERMINAL
        game.cells(state, choices)
        for cell in range(ends.shape[1] - 2):
            ends[i, 2 + cell] = choices[cell]


def playout_results(
    game: Game, start: Ints, depth: int, fused: bool, samples: int = 0, seed: int = 1
) -> npt.NDArray[np.float64]:
    """Returns [samples, seats + 2 + num_cells] of playouts: returns, plies, 1 if the game was over, final cells."""
    samples = samples or (FEW_SAMPLES if game.in_python else SAMPLES)
    returns, ends = np.zeros((samples, game.num_seats)), np.zeros((samples, 2 + game.num_cells))
    rng = stream(2 * seed + fused)
    sample_playouts(game.kernels, start, start.copy(), depth, int(fused), rng, *scratch(game), returns, ends)
    return np.hstack([returns, ends])


def z_scores(a: NumArray, b: NumArray) -> npt.NDArray[np.float64]:
    """Returns the differences of two samples' column means, in standard errors; infinite if two constants differ."""
    difference = np.abs(a.mean(axis=0) - b.mean(axis=0))
    error = np.sqrt(a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b))
    return np.where(difference == 0, 0, np.divide(difference, error, out=np.full_like(error, np.inf), where=error > 0))
