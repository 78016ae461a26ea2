"""Flat Monte Carlo: the mean of many evaluations after each legal action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..core.atomics import fetch_add
from ..core.helper_threads import LINE, SHARE, HelperThreads, Post, await_helpers, call_helpers
from ..core.kernel import kernel, types
from ..core.packing import Package, pack, packing
from ..core.parameters import parameter
from ..core.rng import Rng, next_word, seed_stream
from ..games.abi import GAME, Actions, Floats, State
from ..games.game import Game, NumArray, Position
from ..games.generic import copy_state
from .abi import ACT, ACT_TOGETHER, EVALUATOR, SEAT, VALUES, VISITS, Root, new_jobs, new_scratch
from .agent import (
    CompiledPlayer,
    SearchAgent,
    milliseconds_parameter,
    rollout_depth_parameter,
    score_method_parameter,
)
from .budget import AMOUNT
from .evaluator import Evaluator
from .evaluators.rollout import Rollout
from .timed import run_chunks

ITERATIONS, DIVIDED = 0, 1  # settings
SMALLEST_CHUNK = 40  # iterations, some 15 microseconds of shallow rollouts: a thread's longest wait for the others
MOST_CHUNKS = 256  # per action
SIDE_BY_SIDE = 32  # chunks of a thread, if the evaluator can
# Words of a plan, read by all threads, and the next chunk to take.
PER_ACTION, PER_CHUNK, CHUNKS, ALL_CHUNKS, NEXT = 0, 1, 2, 3, LINE
PLAN_WORDS = 2 * LINE
Ints = types.Array(types.int64, 1, "C")


@kernel(ACT)
def act_mc(game, evaluator, settings, state, returns, rng, root):
    """Adds to the visits and means in `root`, so it can be called again for more iterations."""
    actions = np.empty(game.max_choices, np.int64)
    n = game.legal(state, actions)
    if n == 1:
        return actions[0]
    scratch = new_scratch(game, state)
    after, after_returns, totals = np.empty_like(state), np.empty_like(returns), np.empty_like(returns)
    mover = game.to_move(state)
    iterations = np.int64(settings[ITERATIONS])
    if settings[DIVIDED] != 0.0:
        iterations = max(np.int64(1), iterations // n)
    best = actions[0]
    for i in range(n):
        action = actions[i]
        copy_state(state, after)
        after_returns[:] = returns
        totals[:] = 0.0
        game.step(after, action, after_returns)
        evaluator.evaluate(game, evaluator.weights, after, after_returns, iterations, rng, totals, scratch)
        total = totals[mover]
        visits = root[VISITS, action]
        root[VALUES, action] = (root[VALUES, action] * visits + total) / (visits + iterations)
        root[VISITS, action] = visits + iterations
        if root[VALUES, action] > root[VALUES, best]:
            best = action
    return best


@kernel(ACT_TOGETHER)
def act_mc_together(game, evaluator, settings, states, returns, rngs, roots, actions, memory):
    """`act_mc` in many positions: after an action's iterations come those of the next action.

    Job k is that of position order[k]: positions with the most actions first, so that the others fill lanes at the end.
    """
    n = actions.size
    jobs = new_jobs(game, n, states.shape[1])
    legal, widths, tried = np.empty((n, game.max_choices), np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    for i in range(n):
        widths[i] = game.legal(states[i], legal[i])
        actions[i] = legal[i, 0]
    order, left, job = np.empty(n, np.int64), 0, 0
    for width in range(widths.max(), 0, -1):  # numba's argsort would take a second to compile
        for i in range(n):
            if widths[i] == width:
                order[job] = i
                job += 1
    for job in range(n):
        i = order[job]
        jobs.rngs[job], jobs.counts[job] = rngs[i], np.int64(settings[ITERATIONS])
        if settings[DIVIDED] != 0.0:
            jobs.counts[job] = max(np.int64(1), jobs.counts[job] // widths[i])
        if widths[i] > 1:
            jobs.done[left] = job
            left += 1
    finished = left
    while left > 0:
        for job in jobs.done[:finished]:
            i = order[job]
            if tried[i] < widths[i]:
                jobs.states[job], jobs.returns[job], jobs.waiting[job] = states[i], returns[i], 1
                game.step(jobs.states[job], legal[i, tried[i]], jobs.returns[job])
            else:
                rngs[i] = jobs.rngs[job]
                left -= 1
        finished = evaluator.evaluate_together(game, evaluator.weights, jobs, 1)
        for job in jobs.done[:finished]:
            i, iterations = order[job], jobs.counts[job]
            action, root = legal[i, tried[i]], roots[i]
            total, visits = jobs.totals[job, game.to_move(states[i])], root[VISITS, action]
            root[VALUES, action] = (root[VALUES, action] * visits + total) / (visits + iterations)
            root[VISITS, action] = visits + iterations
            if root[VALUES, action] > root[VALUES, actions[i]]:
                actions[i] = action
            tried[i] += 1


_SHARED = (GAME, SEAT, State, Floats, Actions, Ints, Rng, Floats)  # shared by all threads of a player
_write, _read = packing(types.Tuple(_SHARED))


@kernel(types.void(Package, *_SHARED))
def pack_shared(words, game, seat, state, returns, actions, plan, seed, totals):
    _write(words, (game, seat, state, returns, actions, plan, seed, totals))


@kernel(types.int64(Ints, types.int64))
def size_of(plan, chunk):
    """Returns the iterations of a chunk: the last chunk of an action may have fewer."""
    return min(plan[PER_CHUNK], plan[PER_ACTION] - chunk % plan[CHUNKS] * plan[PER_CHUNK])


@kernel(types.void(GAME, EVALUATOR, State, Floats, Actions, Ints, Rng, Floats))
def share_chunks_together(game, evaluator, state, returns, actions, plan, seed, totals):
    """`share_chunks` with several chunks side by side."""
    jobs, chunks = new_jobs(game, SIDE_BY_SIDE, state.size), np.empty(SIDE_BY_SIDE, np.int64)
    mover, under_way, free = game.to_move(state), 0, SIDE_BY_SIDE
    for job in range(SIDE_BY_SIDE):
        jobs.done[job] = job
    while True:
        for job in jobs.done[:free]:
            chunk = fetch_add(plan, NEXT, 1)
            if chunk < plan[ALL_CHUNKS]:
                seed_stream(seed[0] + np.uint64(chunk), jobs.rngs[job])
                jobs.states[job], jobs.returns[job] = state, returns
                game.step(jobs.states[job], actions[chunk // plan[CHUNKS]], jobs.returns[job])
                chunks[job], jobs.counts[job], jobs.waiting[job] = chunk, size_of(plan, chunk), 1
                under_way += 1
        if under_way == 0:
            return
        free = evaluator.evaluate_together(game, evaluator.weights, jobs, 1)
        under_way -= free
        for job in jobs.done[:free]:
            totals[chunks[job]] = jobs.totals[job, mover]


@kernel(types.void(GAME, EVALUATOR, State, Floats, Actions, Ints, Rng, Floats))
def share_chunks(game, evaluator, state, returns, actions, plan, seed, totals):
    """Takes chunks of iterations until there are no more.

    Chunk i evaluates action i // plan[CHUNKS] with its own random stream and writes the mover's total to `totals`,
    [chunks], so any thread may take it.
    """
    if evaluator.has_together != 0:
        share_chunks_together(game, evaluator, state, returns, actions, plan, seed, totals)
        return
    scratch, rng = new_scratch(game, state), np.empty(4, np.uint64)
    after, after_returns, gains = np.empty_like(state), np.empty_like(returns), np.empty_like(returns)
    mover = game.to_move(state)
    chunk = fetch_add(plan, NEXT, 1)
    while chunk < plan[ALL_CHUNKS]:
        count = size_of(plan, chunk)
        seed_stream(seed[0] + np.uint64(chunk), rng)
        copy_state(state, after)
        after_returns[:] = returns
        gains[:] = 0.0
        game.step(after, actions[chunk // plan[CHUNKS]], after_returns)
        evaluator.evaluate(game, evaluator.weights, after, after_returns, count, rng, gains, scratch)
        totals[chunk] = gains[mover]
        chunk = fetch_add(plan, NEXT, 1)


@kernel(SHARE)
def share_mc(packed, post):
    """A helper's share of a decision."""
    game, seat, state, returns, actions, plan, seed, totals = _read(packed)
    share_chunks(game, seat.evaluator, state, returns, actions, plan, seed, totals)


@kernel(types.void(Ints, types.int64, types.int64, Rng, Rng))
def plan_chunks(plan, num_actions, iterations, rng, seed):
    """Divides a number of iterations per action into chunks that do not depend on the number of threads."""
    per_chunk = max(SMALLEST_CHUNK, -(-iterations // MOST_CHUNKS))
    plan[PER_ACTION], plan[PER_CHUNK] = iterations, per_chunk
    plan[CHUNKS] = -(-iterations // per_chunk)
    plan[ALL_CHUNKS] = num_actions * plan[CHUNKS]
    plan[NEXT] = 0
    seed[0] = next_word(rng)


@kernel(types.int64(Ints, Actions, Floats, Root))
def collect(plan, actions, totals, root):
    """Adds the chunks' results to visits and means in `root`, in their order, and returns the best action."""
    best, visits = actions[0], root[VISITS, actions[0]]
    for i in range(plan[ALL_CHUNKS] // plan[CHUNKS]):
        total = 0.0
        for j in range(plan[CHUNKS]):
            total += totals[i * plan[CHUNKS] + j]
        action = actions[i]
        root[VALUES, action] = (root[VALUES, action] * visits + total) / (visits + plan[PER_ACTION])
        root[VISITS, action] = visits + plan[PER_ACTION]
        if root[VALUES, action] > root[VALUES, best]:
            best = action
    return best


@kernel(types.int64(Package, Rng, types.int64, Root, Post))
def lead_mc(packed, rng, iterations, root, post):
    """Adds iterations per action to `root`, with the helpers, and returns the best action."""
    game, seat, state, returns, actions, plan, seed, totals = _read(packed)
    n = game.legal(state, actions)
    if n == 1:
        return actions[0]
    plan_chunks(plan, n, iterations, rng, seed)
    call_helpers(post)
    share_chunks(game, seat.evaluator, state, returns, actions, plan, seed, totals)
    await_helpers(post)
    return collect(plan, actions, totals, root)


class McPlayer(CompiledPlayer):
    """Decides by the clock, or with several threads, or both."""

    def __init__(self, agent: Mc, game: Game, rng: npt.NDArray[np.uint64]) -> None:
        super().__init__(agent, game, rng)
        self.iterations, self.divided, self.milliseconds = agent.iterations, agent.divided, agent.milliseconds
        self.state, self.returns = game.new_state(), np.zeros(game.num_seats)
        actions, totals = np.zeros(game.max_legal, np.int64), np.zeros(game.max_legal * MOST_CHUNKS)
        plan, seed = np.zeros(PLAN_WORDS, np.int64), np.zeros(1, np.uint64)
        shared = (game.kernels, self.kernels, self.state, self.returns, actions, plan, seed, totals)
        self.packed = pack(pack_shared, *shared)
        self.helpers = HelperThreads(share_mc, [self.packed] * (agent.threads - 1))

    def _decide(self, position: Position, root: NumArray, began: float) -> tuple[int, int]:
        self.state[:], self.returns[:] = position.view(position.to_move), position.returns
        if self.milliseconds:
            action = self._search_by_clock(began, root)
        else:
            n = len(position.legal_actions()) if self.divided else 1
            action = self._search(max(1, self.iterations // n), root)
        return action, int(root[VISITS].sum())

    def _search(self, iterations: int, root: npt.NDArray[np.float64]) -> int:
        """Adds iterations per action to `root` and returns the best action."""
        return int(self.helpers.lead(lead_mc, self.packed, self.rng, iterations, root))

    def _search_by_clock(self, began: float, root: npt.NDArray[np.float64]) -> int:
        """Adds iterations until the time is up, or none if only one action is legal."""
        action = 0

        def search(iterations: int) -> bool:
            nonlocal action
            action = self._search(iterations, root)
            return bool(root.any())

        run_chunks(search, 1, began, self.milliseconds)
        return action


@dataclass(frozen=True)
class Mc(SearchAgent):
    """Plays the action whose random rollouts have the best mean. Source: Kutsch 2017, 3.

    Two or more threads share the rollouts of a decision (outlook of the thesis, 7.3); their number does not change it.
    A single thread draws other random numbers and may decide differently.
    """

    name: ClassVar[str] = "mc"
    timed_player: ClassVar[type[CompiledPlayer]] = McPlayer
    act_kernel: ClassVar[Any] = act_mc
    together_kernel: ClassVar[Any] = act_mc_together
    in_step: ClassVar[int] = 64

    iterations: int = parameter(
        1000, "rollouts per legal action", low=1, high=100_000_000, log=True, search=(1, 10_000)
    )
    rollout_depth: int = rollout_depth_parameter(20)
    score_method: int = score_method_parameter(1, was=2)
    evaluator: Evaluator = parameter(Rollout(), "evaluates the states; its values are averaged")
    threads: int = parameter(1, "cores per decision", low=1, high=256, search=(1, 16))
    milliseconds: int = milliseconds_parameter("iterations")

    divided: bool = parameter(False, "iterations are per move, divided among its legal actions", later=True)

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "ms": {"milliseconds": AMOUNT},
        "rollouts": {"iterations": AMOUNT, "divided": True, "milliseconds": 0},
    }

    def draws_numbers(self, game: Game) -> bool | None:
        return self.evaluator_or_clock_draws(game)

    def settings(self) -> tuple[float, ...]:
        return float(self.iterations), float(self.divided)
