"""Speed of the searches of spe_ed relative to our C program: the same paths and trees, on 60 x 60 from the opening."""

from __future__ import annotations

import numpy as np

from benchmarks.programs import Benchmark, Rates, Round, Stopwatch, program_speed, require_equal, run_program
from turnier.agents.spe_ed.search.field import MOVES, Bytes, fill_field, new_field, stride_of, walkers_of
from turnier.agents.spe_ed.search.minimax import FREEDOM, IMPOSSIBLE, NODES, WEIGHTS, new_numbers, value_of_move
from turnier.agents.spe_ed.search.rollouts import LONGEST, ROLLOUTS, STEPS, new_found, new_paths, run_rollouts
from turnier.core.rng import stream
from turnier.games.game import Ints
from turnier.games.registry import GAMES

PATHS = 200_000
MINIMAX_DEPTH, MINIMAX_ROUNDS = 8, 5


def _opening(players: int, this: Round) -> tuple[Bytes, int, Ints, tuple[object, ...]]:
    """Returns field, stride and two players of an opening, and the C program's arguments for them."""
    game = GAMES.make(f"spe_ed(width=60,height=60,players={players})")
    state, field = game.start(this.seed).state, new_field(game)
    fill_field(state, field)
    walkers, stride = walkers_of(state, [0, 1]), int(stride_of(state))
    files = (this.folder / "field", this.folder / "walkers")
    field.tofile(files[0])
    walkers.tofile(files[1])
    return field, stride, walkers, (files[0], field.size, stride, files[1])


def _rollouts(this: Round) -> Rates:
    """Moves/s of random paths of one of four players."""
    field, stride, walkers, opening = _opening(4, this)
    paths, rng, none, tree = this.part(PATHS), stream(this.seed), np.zeros(0), np.zeros((0, MOVES), np.int32)
    theirs = run_program(this.folder, "reference_spe_ed", "rollouts", *opening, paths, *rng)
    memory = new_found(new_paths(1000))
    with Stopwatch() as clocks:
        run_rollouts(field, stride, walkers[0], 1, new_paths(0), none, tree, 0.69, 0.0, 0.0, rng, paths, 0, memory)
    found = [int(memory.numbers[index]) for index in (ROLLOUTS, STEPS, LONGEST)]
    require_equal("rollouts, moves and the longest path", found, [theirs[k] for k in ("rollouts", "moves", "longest")])
    return Rates(clocks.speed(found[1]), program_speed(theirs, "moves"))


def _minimax(this: Round) -> Rates:
    """Nodes/s of searches of two players."""
    field, stride, walkers, opening = _opening(2, this)
    numbers, total, rounds = new_numbers(0, 0), 0.0, this.part(MINIMAX_ROUNDS)
    weights = np.zeros(WEIGHTS)
    weights[FREEDOM] = 1.0
    theirs = run_program(this.folder, "reference_spe_ed", "minimax", *opening, MINIMAX_DEPTH, rounds)
    with Stopwatch() as clocks:
        for action in range(MOVES * rounds):
            arguments = (MINIMAX_DEPTH, 1, weights, numbers)
            value = value_of_move(field, stride, walkers, action % MOVES, *arguments)
            total += value if value != IMPOSSIBLE else 0.0
    require_equal("nodes and values", [int(numbers[NODES]), total], [theirs["nodes"], theirs["values"]])
    return Rates(clocks.speed(int(numbers[NODES])), program_speed(theirs, "nodes"))


SPE_ED_BENCHMARKS = {
    "spe_ed_rollouts": Benchmark("moves/s", "C, the same paths", _rollouts),
    "spe_ed_minimax": Benchmark("nodes/s", "C, the same trees", _minimax),
}
