"""The kernel ABI: what a game is to an agent, as compiled functions over flat arrays.

A state is one C-contiguous array of 64-bit words; variant parameters sit in its first words. A game is five kernels
(`init`, `to_move`, `legal`, `chance`, `step`) and some optional ones, handed to agents as one tuple of typed function
pointers (`GameKernels`). That way an agent compiles once for all games, and a new process loads it from the cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import njit, types
from numba.core.types import FunctionType, WrapperAddressProtocol
from numba.extending import typeof_impl

STATE_DTYPE = np.int64
CHANCE = -1  # what `to_move` answers where an outcome has to be drawn: the state is an afterstate
TERMINAL = -2  # what `to_move` answers where the game is over
NO_WIN = -1  # what `forced_win` answers where it finds none

State = types.Array(types.int64, 1, "C")  # [state_words]
Actions = types.Array(types.int64, 1, "C")  # [max_legal], or [num_cells] for `cells`
Floats = types.Array(types.float64, 1, "C")  # [seats] for rewards, [max_outcomes] for probabilities
Rng = types.Array(types.uint64, 1, "C")  # [4], see rng.py

INIT = types.void(State, Rng)
TO_MOVE = types.int64(State)
LEGAL = types.int64(State, Actions)
OUTCOMES = types.int64(State, Actions, Floats)
STEP = types.void(State, types.int64, Floats)
SAMPLE_CHANCE = types.int64(State, Rng)
PLAYOUT = types.int64(State, types.int64, Rng, Floats)
CELLS = types.void(State, Actions)
OBSERVE = types.void(State, types.int64, State)
FORCED_WIN = types.int64(State, types.int64)

# Files whose kernels and constants other kernels may use. Numba stamps only the caller's file, so an edit here would
# leave stale machine code in callers' caches; their digest is therefore part of the cache directory's name.
PLATFORM = Path(__file__).resolve().parent.parent
HELPER_FILES = tuple(
    PLATFORM / name
    for name in (
        "games/abi.py",
        "games/game.py",
        "games/generic.py",
        "core/rng.py",
        "games/spe_ed/board.py",
        "games/twenty48/board.py",
        "games/yavalath/board.py",
        "games/yavalath/forced.py",
        "games/yavalath/rules.py",
        "agents/abi.py",
        "agents/alphabeta/search.py",
        "core/atomics.py",
        "core/clock.py",
        "core/helper_threads.py",
        "agents/evaluator.py",
        "agents/expectimax/table2048.py",
        "agents/expectimax/search.py",
        "agents/ntuple/board2048_kernels.py",
        "agents/ntuple/board_lookups.py",
        "agents/ntuple/intrinsics.py",
        "agents/ntuple/network_kernels.py",
        "agents/ntuple/settings.py",
        "agents/mcts/search.py",
        "agents/mcts/tree.py",
        "agents/mctse/search.py",
        "core/packing.py",
        "agents/spe_ed/field.py",
        "agents/spe_ed/territory.py",
        "agents/transposition.py",
        "agents/mctse/tree.py",
        "agents/mctse/tree_copies.py",
    )
)

JIT = not numba.config.DISABLE_JIT


def cache_directory() -> Path:
    """Returns where compiled kernels are kept: in `$NUMBA_CACHE_DIR` or the user's cache, by the helpers' digest."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "turnier"
    )
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for path in HELPER_FILES:
        digest.update(path.read_bytes() if path.exists() else b"")
    return Path(base) / f"kernels-{digest.hexdigest()[:16]}"


@contextlib.contextmanager
def _kernel_cache() -> Iterator[None]:
    """Points numba's cache at ours while a dispatcher is made, and leaves other users of numba alone."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE_DIRECTORY)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


_CACHE_DIRECTORY = cache_directory()
_first_on_this_machine = not _CACHE_DIRECTORY.exists()


def kernel(signature: Any, inline: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Marks a module-level function as a kernel with the given numba signature.

    It compiles at its first use, once, without the GIL, and is cached on disk. Kernels never raise and allocate nothing
    inside a simulation loop. With `NUMBA_DISABLE_JIT=1` they are plain Python and give the same results, bit for bit.
    `inline` copies it into its callers, worth it for small helpers that take a whole `GameKernels`: passing that many
    pointers costs more than the call itself (mctse 10 % faster).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        with _kernel_cache():
            options = {"inline": "always"} if inline else {}
            dispatcher: Any = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        dispatcher.kernel_signature = signature
        return dispatcher

    return decorate


class KernelPointer(WrapperAddressProtocol):
    """A compiled kernel as a first-class function that other compiled code can call."""

    def __init__(self, dispatcher: Any) -> None:
        self._signature = dispatcher.kernel_signature
        dispatcher.compile(self._signature.args)
        compiled = dispatcher.overloads[self._signature.args]
        if types.unliteral(compiled.signature.return_type) != self._signature.return_type:
            # Callers would read the result as what was declared, and get noise.
            raise TypeError(
                f"kernel {dispatcher.__name__} must return {self._signature.return_type} on every path, got"
                f" {compiled.signature.return_type}"
            )
        self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
        self._dispatcher = dispatcher  # keeps the machine code alive

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self._signature

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)


def pointer(dispatcher: Any, signature: Any) -> Any:
    """Returns `dispatcher` as a function pointer; raises TypeError where it was declared with another signature."""
    if dispatcher.kernel_signature != signature:
        raise TypeError(
            f"kernel {dispatcher.__name__} must be declared @kernel({signature}), got {dispatcher.kernel_signature}"
        )
    if not JIT:
        return dispatcher
    if not hasattr(dispatcher, "kernel_pointer"):
        _announce_compilation()
        dispatcher.kernel_pointer = KernelPointer(dispatcher)
    return dispatcher.kernel_pointer


def compile_kernel(dispatcher: Any) -> None:
    """Compiles (or loads) a kernel that Python calls directly, before it is needed."""
    if JIT and not dispatcher.signatures:
        _announce_compilation()
        dispatcher.compile(dispatcher.kernel_signature.args)


def _announce_compilation() -> None:
    """Says once why the first command on a machine takes longer, where somebody is watching."""
    global _first_on_this_machine
    if _first_on_this_machine and sys.stderr.isatty():
        print("Compiling kernels; this happens once on this machine and takes about a minute ...", file=sys.stderr)
    _first_on_this_machine = False


class GameKernels(NamedTuple):
    """A game as compiled code sees it. Absent optional kernels are stand-ins that the `has_` flags tell apart."""

    init: Any  # (state, rng): fills the start position; the variant words are there already
    to_move: Any  # (state) -> seat, CHANCE or TERMINAL
    legal: Any  # (state, out[max_legal]) -> n: ascending action ids
    chance: Any  # (state, out[max_outcomes], probs[max_outcomes]) -> n: ascending outcome ids; probabilities sum to 1
    step: Any  # (state, action or outcome, rewards[seats]): in place; adds each seat's reward
    sample_chance: Any  # (state, rng) -> outcome, drawn as `chance` says, without stepping
    playout: Any  # (state, depth, rng, returns[seats]) -> plies: random legal moves in place, adds rewards
    cells: Any  # (state, out[num_cells]): every cell's value, 0 <= value < num_cell_values
    observe: Any  # (state, seat, view): the state as far as `seat` may know it, with `seat` to move
    forced_win: Any  # (state, depth) -> an action that wins by forcing moves, at most `depth` of them, or NO_WIN
    has_sample_chance: int
    has_playout: int
    has_observe: int
    has_forced_win: int
    num_seats: int
    num_actions: int
    max_choices: int  # scratch arrays for legal actions, outcomes or probabilities have this size
    max_return: float
    places_stones: int  # an action below num_cells changes just that cell's value, alike for all of a state


_KERNEL_SIGNATURES = (INIT, TO_MOVE, LEGAL, OUTCOMES, STEP, SAMPLE_CHANCE, PLAYOUT, CELLS, OBSERVE, FORCED_WIN)
GAME = types.NamedTuple(
    [FunctionType(s) for s in _KERNEL_SIGNATURES] + [types.int64] * 7 + [types.float64, types.int64],
    GameKernels,
)


def tell_type(cls: type[NamedTuple], numba_type: Any) -> None:
    """Tells numba the type of a tuple of pointers: working it out took most of what a call from Python costs."""
    typeof_impl.register(cls)(lambda value, context: numba_type)


tell_type(GameKernels, GAME)


@kernel(OUTCOMES)
def no_chance(state, out, probs):
    return 0


@kernel(SAMPLE_CHANCE)
def absent_sample_chance(state, rng):
    return 0


@kernel(PLAYOUT)
def absent_playout(state, depth, rng, returns):
    return 0


@kernel(CELLS)
def no_cells(state, out):
    pass


@kernel(OBSERVE)
def absent_observe(state, seat, view):
    pass


@kernel(FORCED_WIN)
def absent_forced_win(state, depth):
    return NO_WIN


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
    observe: Any = absent_observe,
    forced_win: Any = absent_forced_win,
) -> GameKernels:
    """Compiles (or loads) a game's kernels and returns them as the tuple that agent kernels take, yet without sizes."""
    return GameKernels(
        pointer(init, INIT),
        pointer(to_move, TO_MOVE),
        pointer(legal, LEGAL),
        pointer(chance, OUTCOMES),
        pointer(step, STEP),
        pointer(sample_chance, SAMPLE_CHANCE),
        pointer(playout, PLAYOUT),
        pointer(cells, CELLS),
        pointer(observe, OBSERVE),
        pointer(forced_win, FORCED_WIN),
        int(sample_chance is not absent_sample_chance),
        int(playout is not absent_playout),
        int(observe is not absent_observe),
        int(forced_win is not absent_forced_win),
        num_seats=0,
        num_actions=0,
        max_choices=0,
        max_return=0.0,
        places_stones=0,
    )
