"""The kernel ABI: a game as agents see it, in compiled functions on flat arrays.

A state is one C-contiguous array of 64-bit words; its first words hold the variant's parameters. A game is five kernels
(`init`, `to_move`, `legal`, `chance`, `step`) and some optional ones, passed to agents as one reference to typed
function pointers (`GameKernels`). Thus an agent compiles once for all games, and a new process loads it from the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.compilation.by_reference import ByReference, LateType, pointer_type, reference_type
from ..core.compilation.progress import compiled_together
from ..core.kernel import kernel, late_pointer, pointer, types
from ..core.rng import Rng

STATE_DTYPE = np.int64
CHANCE = -1  # `to_move` if an outcome has to be drawn: the state is an afterstate
TERMINAL = -2  # `to_move` if the game is over
NO_WIN = -1  # `forced_win` if it finds none

State = types.Array(types.int64, 1, "C")  # [state_words]
Actions = types.Array(types.int64, 1, "C")  # [max_legal], or [num_cells] for `cells`
Floats = types.Array(types.float64, 1, "C")  # [seats] for rewards, [max_outcomes] for probabilities

INIT = types.void(State, Rng)
TO_MOVE = types.int64(State)
LEGAL = types.int64(State, Actions)
OUTCOMES = types.int64(State, Actions, Floats)
STEP = types.void(State, types.int64, Floats)
SAMPLE_CHANCE = types.int64(State, Rng)
PLAYOUT = types.int64(State, types.int64, Rng, Floats)
# Many states side by side: a row for each.
States, Rngs, Gains = (types.Array(t, 2, "C") for t in (types.int64, types.uint64, types.float64))
Counts = types.Array(types.int64, 1, "C")
PLAYOUTS = types.int64(States, Counts, Counts, types.int64, Rngs, Gains, Counts, Counts, types.int64, Counts)
CELLS = types.void(State, Actions)
OBSERVE = types.void(State, types.int64, State)
FORCED_WIN = types.int64(State, types.int64)


@dataclass(frozen=True, eq=False)
class GameKernels(ByReference):
    """A game as compiled code sees it. Stand-ins replace absent optional kernels; the `has_` flags tell which."""

    init: Any  # (state, rng): fills in the start position; the variant words are already set
    to_move: Any  # (state) -> seat, CHANCE or TERMINAL
    legal: Any  # (state, out[max_legal]) -> n: ascending action ids
    chance: Any  # (state, out[max_outcomes], probs[max_outcomes]) -> n: ascending outcome ids; probabilities sum to 1
    step: Any  # (state, action or outcome, rewards[seats]): in place; adds each seat's reward
    sample_chance: Any  # (state, rng) -> outcome, drawn like `chance`, without stepping
    playout: Any  # (state, depth, rng, returns[seats]) -> plies: random legal moves in place, adds rewards
    # (states[n, words], counts[n], waiting[n], depth, rngs[n, 4], gains[n, seats], ended[n], lanes[lane_words], enough,
    # done[n]) -> finished: many playouts side by side. Job i is `counts` playouts of an unchanged state, one after
    # another with the job's stream; it adds rewards to `gains`, and to `ended` the number that reached the game's end.
    # Plays the jobs that wait (1; 0 again once they have begun) and returns as soon as it has finished `enough` of them
    # or all; `done` has their numbers. `lanes`, zeros at first, keeps the others until the next call.
    playouts: Any
    cells: Any  # (state, out[num_cells]): every cell's value, 0 <= value < num_cell_values
    observe: Any  # (state, seat, view): the state as far as `seat` may know it, with `seat` to move
    forced_win: Any  # (state, depth) -> an action that wins by forcing moves, at most `depth` of them, or NO_WIN
    has_sample_chance: int
    has_playout: int
    has_playouts: int
    has_observe: int
    has_forced_win: int
    num_seats: int
    num_actions: int
    max_choices: int  # scratch arrays for legal actions, outcomes or probabilities have this size
    max_return: float
    lane_words: int  # of the memory of `playouts`
    places_stones: int  # an action below num_cells changes only that cell's value, in the same way for all of a state


GAME = reference_type(
    GameKernels,
    *map(pointer_type, (INIT, TO_MOVE, LEGAL, OUTCOMES, STEP, SAMPLE_CHANCE)),
    *map(LateType, (PLAYOUT, PLAYOUTS)),
    *map(pointer_type, (CELLS, OBSERVE)),
    LateType(FORCED_WIN),
    *[types.int64] * 8,
    types.float64,
    types.int64,
    types.int64,
)


@kernel(OUTCOMES)
def no_chance(state, out, probs):
    return 0


@kernel(SAMPLE_CHANCE, stand_in=True)
def absent_sample_chance(state, rng):
    return 0


@kernel(PLAYOUT, stand_in=True)
def absent_playout(state, depth, rng, returns):
    return 0


@kernel(PLAYOUTS, stand_in=True)
def absent_playouts(states, counts, waiting, depth, rngs, gains, ended, lanes, enough, done):
    return 0


@kernel(CELLS)
def no_cells(state, out):
    pass


@kernel(OBSERVE, stand_in=True)
def absent_observe(state, seat, view):
    pass


@kernel(FORCED_WIN, stand_in=True)
def absent_forced_win(state, depth):
    return NO_WIN


def _if_there(dispatcher: Any, signature: Any, absent: Any, to: Callable[[Any, Any], Any] = pointer) -> Any:
    """Returns a kernel's pointer; a stand-in is not compiled: compiled code asks the flag first."""
    return dispatcher if dispatcher is absent else to(dispatcher, signature)


def game_kernels(
    init: Any,
    to_move: Any,
    legal: Any,
    step: Any,
    *,
    chance: Any = no_chance,
    cells: Any = no_cells,
    sample_chance: Any = absent_sample_chance,
    playout: Any = absent_playout,
    playouts: Any = absent_playouts,
    observe: Any = absent_observe,
    forced_win: Any = absent_forced_win,
) -> GameKernels:
    """Compiles or loads a game's kernels for agents, still without sizes; some are left until an agent calls them."""
    with compiled_together(init, to_move, legal, chance, step, sample_chance, cells, observe):
        return GameKernels(
            pointer(init, INIT),
            pointer(to_move, TO_MOVE),
            pointer(legal, LEGAL),
            pointer(chance, OUTCOMES),
            pointer(step, STEP),
            _if_there(sample_chance, SAMPLE_CHANCE, absent_sample_chance),
            _if_there(playout, PLAYOUT, absent_playout, late_pointer),
            _if_there(playouts, PLAYOUTS, absent_playouts, late_pointer),
            pointer(cells, CELLS),
            _if_there(observe, OBSERVE, absent_observe),
            _if_there(forced_win, FORCED_WIN, absent_forced_win, late_pointer),
            int(sample_chance is not absent_sample_chance),
            int(playout is not absent_playout),
            int(playouts is not absent_playouts),
            int(observe is not absent_observe),
            int(forced_win is not absent_forced_win),
            num_seats=0,
            num_actions=0,
            max_choices=0,
            max_return=0.0,
            lane_words=0,
            places_stones=0,
        )
