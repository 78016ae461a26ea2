"""Speed beside C programs of our own, in one run: quotients, since machines are shared and noisy."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from rich.console import Console

from turnier.agents.registry import AGENTS
from turnier.arena.match import play_matches, replay_positions
from turnier.arena.spec import MatchRecord, MatchSpec, derive_seed
from turnier.games.abi import GAME, Rng, State, kernel
from turnier.games.errors import UserError
from turnier.games.generic import copy_state
from turnier.games.registry import GAMES
from turnier.games.rng import stream

RANDOM_GAMES = 200_000
MC_DECISIONS = 400
PLAYOUTS = 1_000_000
UCT_ITERATIONS, UCT_SEARCHES = 10_000, 20
# What the C program's random play makes on the machine on which 60 mctse decisions/s were asked for.
SCALE_MOVES, SCALE_MCTSE = 42e6, 60.0


def run_benchmarks(console: Console, rounds: int) -> dict[str, dict[str, Any]]:
    """Returns name -> value, unit, reference, quotient and what the reference is; alternates with the C program."""
    with tempfile.TemporaryDirectory() as folder:
        program, yavalath = _compile(Path(folder), "reference_2048"), _compile(Path(folder), "reference_yavalath")
        names = ("random_2048", "mc_2048", "mctse_2048", "yavalath_playouts", "yavalath_uct")
        rows: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        with console.status("") as status:
            for i in range(rounds + 1):
                status.update(f"round {i} of {rounds}" if i else "warming up")
                c_moves = _c(program, "random", RANDOM_GAMES, i)["moves_per_second"]
                round_ = {
                    "random_2048": (_random_moves(i), c_moves),
                    "mc_2048": (
                        _decisions("mc(iterations=1000,rollout_depth=20)", MC_DECISIONS, i),
                        _c(program, "mc", 1000, 20, MC_DECISIONS, i)["decisions_per_second"],
                    ),
                    "mctse_2048": (
                        _decisions("mctse(iterations=3500,rollout_depth=150,maxnodes=500)", 100, i),
                        c_moves / SCALE_MOVES * SCALE_MCTSE,
                    ),
                    "yavalath_playouts": (
                        _playouts(i),
                        _c(yavalath, "playouts", PLAYOUTS, i)["playouts_per_second"],
                    ),
                    "yavalath_uct": (
                        _uct_iterations(i),
                        _c(yavalath, "uct", UCT_ITERATIONS, UCT_SEARCHES, i)["iterations_per_second"],
                    ),
                }
                for name, pair in round_.items():
                    rows[name] += [pair] * (i > 0)
    about = {
        "random_2048": ("moves/s", "C, the same play"),
        "mc_2048": ("decisions/s", "C, the same loop"),
        "mctse_2048": ("decisions/s", "60/s at C's 42 M moves/s"),
        "yavalath_playouts": ("playouts/s", "C, the same play"),
        "yavalath_uct": ("iterations/s", "C, UCT of its own"),
    }
    return {
        name: {
            "value": statistics.median(value for value, _ in pairs),
            "unit": about[name][0],
            "reference": statistics.median(reference for _, reference in pairs),
            "quotient": statistics.median(value / reference for value, reference in pairs),
            "of": about[name][1],
        }
        for name, pairs in rows.items()
    }


@kernel(types.int64(GAME, State, Rng, types.int64))
def play_out_many(game, start, rng, games):
    """Returns the plies of that many fused playouts from a start state to the end."""
    state, returns = np.empty_like(start), np.zeros(game.num_seats)
    plies = 0
    for _ in range(games):
        copy_state(start, state)
        plies += game.playout(state, 1_000_000, rng, returns)
    return plies


def _compile(folder: Path, name: str) -> Path:
    source = Path(__file__).resolve().parents[2] / "benchmarks" / f"{name}.c"
    compiler = shutil.which("gcc")
    if compiler is None or not source.exists():
        raise UserError(
            f"the benchmarks need gcc and {source.name} in the repository's benchmarks/, got"
            f" {'no gcc' if compiler is None else f'no {source}'}; run `make bench` in a clone with gcc installed."
        )
    program = folder / name
    command = [compiler, "-O3", "-march=native", "-o", str(program), str(source), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        raise UserError(f"gcc must compile {source.name}, got: {built.stderr.strip().splitlines()[0]}.")
    return program


def _c(program: Path, *arguments: object) -> dict[str, float]:
    command = [str(program), *(str(a) for a in arguments)]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return result


def _random_moves(seed: int) -> float:
    """Moves/s of the fused playout from an empty board to the end, called from a compiled loop."""
    game = GAMES.make("2048")
    start, rng = game.new_state(), stream(seed)
    game.kernels.init(start, rng)
    began = time.perf_counter()
    plies = play_out_many(game.kernels, start, rng, RANDOM_GAMES)
    return float(plies / (time.perf_counter() - began))


def _playouts(seed: int) -> float:
    """Random games/s of the fused playout from the empty board, called from a compiled loop."""
    game = GAMES.make("yavalath")
    start, rng = game.new_state(), stream(seed)
    game.kernels.init(start, rng)
    began = time.perf_counter()
    play_out_many(game.kernels, start, rng, PLAYOUTS)
    return float(PLAYOUTS / (time.perf_counter() - began))


def _uct_iterations(seed: int) -> float:
    """Iterations/s of searches from the empty board with rollouts to the end."""
    game = GAMES.make("yavalath")
    player, start = AGENTS.make(f"mcts(iterations={UCT_ITERATIONS})").start(game, seed=seed), game.start()
    began = time.perf_counter()
    for _ in range(UCT_SEARCHES):
        player.act(start)
    return float(UCT_ITERATIONS * UCT_SEARCHES / (time.perf_counter() - began))


def _decisions(agent: str, plies: int, seed: int) -> float:
    """Decisions/s over the first `plies` moves of a compiled match; forced moves do not count, as in C."""
    spec = MatchSpec(
        GAMES.make("2048").full_text(), (AGENTS.make(agent).full_text(),), derive_seed("bench", seed), plies
    )
    began = time.perf_counter()
    record = play_matches([spec])[0]
    seconds = time.perf_counter() - began
    return _free_choices(record) / seconds


def _free_choices(record: MatchRecord) -> int:
    """Returns how many decisions of a match had more than one legal action."""
    return sum(len(position.legal_actions()) > 1 for position in replay_positions(record.spec, record.plies))
