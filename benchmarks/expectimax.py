"""Speed of expectimax at 2048 relative to our C program, with the same boards, table, depth, cut-off and values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from benchmarks.programs import Rates, Round, Stopwatch, program_speed, run_program
from turnier.agents.abi import SEAT, VALUES, VISITS
from turnier.agents.evaluator import OWN
from turnier.agents.registry import AGENTS
from turnier.arena.match import MatchSpec, derive_seed
from turnier.arena.play import play_matches, replay_positions
from turnier.core.kernel import kernel
from turnier.core.rng import stream
from turnier.games.abi import GAME
from turnier.games.registry import GAMES

EVERY = 20  # plies between two sampled boards
MOST_BOARDS = 1_000
SEARCHES = 6_000  # of depth 3; each further ply takes about twenty times as long


class ExpectimaxRates(NamedTuple):
    evaluations: Rates  # per second
    decisions: Rates  # per second


def expectimax_rates(this: Round, depth: int, cutoff: float, table: int) -> ExpectimaxRates:
    """Measures the programs in turn, on one core, at depth 2 on the boards of one game.

    Raises RuntimeError if the two programs disagree.
    """
    game = GAMES.make("2048")
    agent = AGENTS.make(f"expectimax(depth={depth},cutoff={cutoff!r},table={table},evaluator=rows2048)")
    states = _states(this.seed)[: this.part(MOST_BOARDS)]
    rounds = this.part(SEARCHES // 20 ** (depth - 3) // len(states)) if depth > 2 else this.part(20)
    seat = agent.seat_kernels(game)
    assert seat is not None
    returns, sums = np.zeros(1), np.zeros(3)
    search_many(game.kernels, seat, states[:1], returns, stream(this.seed), sums, 1)  # compiles
    with Stopwatch() as clocks:
        search_many(game.kernels, seat, states, returns, stream(this.seed), sums, rounds)
    rows, boards = this.folder / "rows", this.folder / "boards"
    np.ascontiguousarray(seat.evaluator.weights[OWN:]).tofile(rows)
    np.ascontiguousarray(states[:, 1]).tofile(boards)
    arguments = (rows, boards, len(states), depth, cutoff, table, rounds)
    theirs = run_program(this.folder, "reference_expectimax2048", *arguments)
    expected = [theirs[name] for name in ("evaluations", "value", "actions")]
    if not np.allclose(sums, expected, rtol=1e-9, atol=0):
        raise RuntimeError(f"both programs must agree, got {sums.tolist()} and {expected}")
    return ExpectimaxRates(
        Rates(clocks.speed(float(sums[0])), program_speed(theirs, "evaluations")),
        Rates(clocks.speed(len(states) * rounds), program_speed(theirs, "boards")),
    )


def _states(seed: int) -> npt.NDArray[np.int64]:
    """Returns states of a game of 2048 with more than one legal action, [n, state_words]."""
    agent = AGENTS.make("expectimax(depth=2,evaluator=rows2048)").full_text()
    spec = MatchSpec(GAMES.make("2048").full_text(), (agent,), derive_seed("bench", seed))
    record = play_matches([spec])[0]
    positions = list(replay_positions(record.spec, record.plies))[::EVERY]
    return np.stack([p.state for p in positions if len(p.legal_actions()) > 1])


@kernel(types.void(GAME, SEAT, types.Array(types.int64, 2, "C"), types.Array(types.float64, 1, "C"),
                   types.Array(types.uint64, 1, "C"), types.Array(types.float64, 1, "C"), types.int64))  # fmt: skip
def search_many(game, seat, states, returns, rng, sums, rounds):
    """Adds up evaluations, best values and actions of `rounds` decisions for every state into `sums`, [3]."""
    root = np.zeros((2, game.num_actions))
    sums[:] = 0.0
    for _ in range(rounds):
        for i in range(states.shape[0]):
            root[:] = 0.0
            action = seat.act(game, seat.evaluator, seat.settings, states[i], returns, rng, root)
            for other in range(game.num_actions):
                sums[0] += root[VISITS, other]
            sums[1] += root[VALUES, action]
            sums[2] += action
