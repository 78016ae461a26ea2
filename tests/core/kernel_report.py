"""Plays every game through its kernels and prints, as JSON, what came out and what was compiled.

test_kernels.py runs `python -m tests.core.kernel_report [GAME]` with and without compiled code, and twice on one cache.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from numba import types

from tests.contract import tiny_games
from turnier.core import rng
from turnier.core.kernel import JIT
from turnier.core.packing import pack
from turnier.games import abi, generic
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game, Ints
from turnier.games.in_step.boards import BEGIN, STEP, advance, draw_legal, new_boards, pack_boards
from turnier.games.perft import perft
from turnier.games.python.callback import require_calling_convention
from turnier.games.python.python_game import begin_history
from turnier.games.registry import GAMES, make_game
from turnier.games.twenty48 import board as twenty48_board

GAMES_FOLDER = Path(abi.__file__).resolve().parent
WALK = 8  # nodes, then playouts
JOBS = 40  # of playouts side by side, more than lanes
VARIANTS = (
    "2048(size=2)",
    "2048(size=3)",
    "spe_ed(width=9,height=7,players=6,silence=true)",
    "yavalath(size=3,swap=true)",
    "yavalath(size=6,players=3)",
)
TRIANGLE = (30, 4, 31, 56, 39, 26)  # Yavalath cells: the first player's wins by four forcing moves
# Packed 2048 boards that reach 65,536 and beyond: by merging at once, after some plies, and long ago.
BORDER = (
    [[32768, 32768, 4, 2], [16, 8, 4, 2], [2, 4, 8, 16], [2, 4, 2, 0]],
    [[32768, 16384, 8192, 4096], [256, 512, 1024, 2048], [128, 64, 32, 16], [0, 4, 8, 8]],
    [[131072, 65536, 32768, 32768], [2, 0, 0, 16], [4, 2, 4, 2], [2, 0, 0, 2]],
)


def kernels(words: list[str]) -> dict[str, Any]:
    """Returns kernels of games, of random numbers and of the tiny games by full names that have one of some words."""
    files = [*sorted(GAMES_FOLDER.rglob("*.py")), GAMES_FOLDER.parent / "core" / "rng.py"]
    names = [".".join(path.relative_to(GAMES_FOLDER.parent).with_suffix("").parts) for path in files]
    modules = [importlib.import_module(f"turnier.{name}") for name in names]
    return {
        f"{module.__name__}.{name}": value
        for module in (*modules, tiny_games)
        for name, value in vars(module).items()
        if hasattr(value, "kernel_signature")
        and value.__module__ == module.__name__
        and any(word in module.__name__ for word in words)
    }


def written(signature: Any) -> str:
    """Returns a signature as text, constants as their type: numba compiles `below(rng, 6)` apart, to the same."""
    arguments = ", ".join(str(types.unliteral(argument)) for argument in signature.args)
    return f"{types.unliteral(signature.return_type)}({arguments})"


class Digest:
    """A running hash of arrays and numbers, bit for bit."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def add(self, *values: Any) -> None:
        for value in values:
            array = np.asarray(value)
            self.hash.update(f"{array.dtype.kind}{array.shape}".encode() + array.tobytes())


def starts(game: Game) -> Iterator[tuple[Ints, Ints]]:
    """Yields states to play from, each with its generator."""
    for seed in range(2):
        state, stream = game.new_state(), rng.stream(seed)
        game.kernels.init(state, stream)
        yield state, stream
    if str(game) == "2048":
        for board in BORDER:
            yield make_game("2048").position_from_tiles(board), rng.stream(9)  # type: ignore[attr-defined]
    if str(game) == "yavalath":
        position = game.start()
        for cell in TRIANGLE:
            position = position.play(cell)
        yield position.state, rng.stream(9)


def ask(game: Game, state: Ints, stream: Ints, digest: Digest) -> int | None:
    """Adds what every question to a state answers; returns a random action or outcome, None where the game is over."""
    k = game.kernels
    choices, probs = np.zeros(k.max_choices, np.int64), np.zeros(k.max_choices)
    mover = int(k.to_move(state))
    k.cells(state, choices)
    digest.add(mover, choices)
    if mover == TERMINAL:
        return None
    if mover == CHANCE:
        digest.add(int(k.chance(state, choices, probs)), choices, probs)
        drawn = [
            int(generic.draw_outcome(replace(k, has_sample_chance=own), state, stream, choices, probs))
            for own in (0, k.has_sample_chance)
        ]
        digest.add(*drawn)
        return drawn[0]
    view = np.zeros_like(state)
    k.observe(state, mover, view)
    n = int(k.legal(state, choices))
    digest.add(n, choices, view, int(k.forced_win(state, 4)))
    return int(choices[rng.below(stream, n)])


def play(game: Game) -> str:
    """Returns the digest of a walk and playouts from every start, with states, returns and generators."""
    k, digest = game.kernels, Digest()
    scratch = np.zeros(k.max_choices, np.int64), np.zeros(k.max_choices)
    for start, stream in starts(game):
        for fused in (0, k.has_playout):
            state, returns = start.copy(), np.zeros(game.num_seats)
            for _ in range(WALK):
                option = ask(game, state, stream, digest)
                if option is not None:
                    k.step(state, option, returns)
                digest.add(state, returns, stream)
            for depth in (0, 1, 20, 1 << 30):
                if fused:
                    plies = k.playout(state, depth, stream, returns)
                else:
                    plies = generic.generic_playout(k, state, depth, stream, returns, *scratch)
                digest.add(int(plies), state, returns, stream)
            assert k.to_move(state) == TERMINAL
    return digest.hash.hexdigest()


def play_together(game: Game) -> str:
    """Returns the digest of playouts side by side, more jobs than lanes, and checks them against one at a time."""
    k, digest, states = game.kernels, Digest(), []
    for start, stream in starts(game):
        state, returns = start.copy(), np.zeros(game.num_seats)
        for _ in range(WALK):
            states.append(state.copy())
            option = ask(game, state, stream, digest)
            if option is not None:
                k.step(state, option, returns)
    jobs = np.array((states * JOBS)[:JOBS])
    for depth in (0, 3, 1 << 30):
        counts, rngs = np.arange(JOBS) % 3, rng.streams(depth, JOBS)
        gains, ended = np.zeros((JOBS, game.num_seats)), np.zeros(JOBS, np.int64)
        alone, alone_rngs, alone_ended = np.zeros_like(gains), rngs.copy(), np.zeros_like(ended)
        lanes, done, waiting = np.zeros(k.lane_words, np.int64), np.full(JOBS, -1), np.ones(JOBS, np.int64)
        waiting[JOBS // 2 :] = 0
        finished = k.playouts(jobs, counts, waiting, depth, rngs, gains, ended, lanes, 3, done)
        assert finished >= 3 * k.has_playouts
        finished_jobs = list(done[:finished])
        waiting[JOBS // 2 :] = 1  # more, while some of the first are under way
        finished = k.playouts(jobs, counts, waiting, depth, rngs, gains, ended, lanes, JOBS, done)
        assert sorted(finished_jobs + list(done[:finished])) == list(range(JOBS * k.has_playouts))
        for job in range(JOBS if k.has_playouts else 0):
            for _ in range(counts[job]):
                state = jobs[job].copy()
                k.playout(state, depth, alone_rngs[job], alone[job])
                alone_ended[job] += k.to_move(state) == TERMINAL
        assert (gains == alone).all() and (ended == alone_ended).all()
        assert (rngs == alone_rngs).all() or not k.has_playouts
        digest.add(gains, ended, rngs)
    return digest.hash.hexdigest()


def step_boards(game: Game) -> str:
    """Returns the digest of random steps on boards side by side, each begun anew where a game has ended."""
    digest, stream, n = Digest(), rng.stream(5), 3
    boards = new_boards(game, n, cells=True)
    boards.rngs[:] = rng.streams(6, n)
    packed, actions, orders = pack(pack_boards, game.kernels, boards), np.zeros(n, np.int64), np.full(n, BEGIN, np.int8)
    for _ in range(WALK):
        advance(packed, actions, orders)
        digest.add(boards.states, boards.rewards, boards.returns, boards.masks, boards.cells, boards.steps, boards.rngs)
        draw_legal(boards.masks, stream, actions)
        orders[:] = np.where(boards.movers == TERMINAL, BEGIN, STEP)
    return digest.hash.hexdigest()


def use_helpers() -> str:
    """Returns the digest of the kernels that no game needs."""
    digest, stream = Digest(), rng.stream(3)
    for _ in range(20):
        digest.add(int(rng.below(stream, 10**9)), float(rng.uniform(stream)), np.uint64(rng.next_word(stream)))
        digest.add(*(np.uint64(word) for word in rng.xoshiro(*stream)))
    rng.seed_stream(np.uint64(7), stream)
    digest.add(stream)
    forked = np.zeros((2, 5), np.uint64)
    rng.fork_streams(stream, forked)
    digest.add(forked)
    source, target, empty = np.arange(5), np.zeros(5, np.int64), np.zeros(0)
    generic.copy_state(source, target)
    digest.add(target)
    digest.add(int(abi.no_chance(target, source, empty)), int(abi.absent_sample_chance(target, stream)))
    digest.add(int(abi.absent_playout(target, 1, stream, empty)))
    abi.no_cells(target, source)
    abi.absent_observe(target, 0, source)
    digest.add(int(abi.absent_forced_win(target, 1)))
    require_calling_convention()
    begin_history(target, stream)
    digest.add(target)
    of_board = twenty48_board.count_empty, twenty48_board.transpose
    of_board += twenty48_board.reverse_rows, twenty48_board.reverse_columns
    digest.add(*(int(kernel(np.uint64(board))) for kernel in of_board for board in (1, 0x1234, 2**64 - 1)))
    digest.add(*perft(make_game("tictactoe"), make_game("tictactoe").start().state, 3))
    digest.add(source, target)
    return digest.hash.hexdigest()


def main() -> None:
    called: set[CodeType] = set()

    def remember(frame: FrameType, event: str, argument: object) -> None:
        called.add(frame.f_code)

    if not JIT:
        np.seterr(over="ignore")
        sys.setprofile(remember)
    only = sys.argv[1:]
    games = [make_game(text) for text in only or (*GAMES.names(), *VARIANTS)]
    games = [game for game in (*games, *(() if only else tiny_games.TINY_GAMES)) if not game.in_python]
    digests = {str(game): play(game) + play_together(game) + step_boards(game) for game in games}
    digests |= {} if only else {"helpers": use_helpers()}
    sys.setprofile(None)
    report: dict[str, dict[str, Any]] = {}
    for name, kernel in kernels(only or [""]).items():
        report[name] = {"declared": written(kernel.kernel_signature)}
        if JIT:
            kernel.compile(kernel.kernel_signature.args)
            report[name] |= {
                "compiled": sorted({written(signature) for signature in kernel.nopython_signatures}),
                "hits": sum(kernel.stats.cache_hits.values()),
                "misses": sum(kernel.stats.cache_misses.values()),
            }
        else:
            report[name]["called"] = kernel.__code__ in called
    json.dump({"jit": JIT, "digests": digests, "kernels": report}, sys.stdout)


if __name__ == "__main__":
    main()
