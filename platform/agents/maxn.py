"""Max-N: full-width search for any number of seats, each of which maximises its own return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..core.kernel import kernel, types
from ..core.parameters import parameter
from ..games.abi import Floats
from ..games.game import Game
from .abi import ACT, VALUES, VISITS, new_scratch
from .agent import CompiledAgent, rollout_depth_parameter, score_method_parameter
from .budget import AMOUNT
from .evaluator import Evaluator, Score
from .transposition import ABSENT, enough_bits, find, hash_words, new_table, slot_of

DEPTH, HASH = 0, 1
TABLE_BITS = 18
COUNT, NEXT, MOVER, NODES = 0, 1, 2, 3  # of a level: legal actions, tried ones, the mover, earlier nodes


@kernel(types.boolean(Floats, types.Array(types.float64, 2, "C"), types.int64, types.int64))
def is_better(line, best, level, mover):
    """Whether the mover prefers a line: [seats] values, then its plies. Of equals, the sooner win or later loss."""
    own, held, plies = line[mover], best[level, mover], line.size - 1
    if own != held:
        return own > held
    return (line[plies] < best[level, plies] and own > 0.0) or (line[plies] > best[level, plies] and own < 0.0)


@kernel(ACT)
def act_maxn(game, evaluator, settings, root_state, root_returns, rng, root):
    # Level 0 is the root; a level holds its node's state, returns, legal actions and best line so far.
    depth, seats = np.int64(settings[DEPTH]), root_returns.size
    scratch = new_scratch(game, root_state)
    state, returns, totals = root_state.copy(), root_returns.copy(), np.empty(seats)
    state_bits, return_bits = state.view(np.uint64), returns.view(np.uint64)
    choices, line = np.empty(game.max_choices, np.int64), np.empty(seats + 1)
    states, level_returns = np.empty((depth, state.size), np.int64), np.empty((depth, seats))
    actions, keys = np.empty((depth, choices.size), np.int64), np.empty(depth, np.uint64)
    levels, best = np.empty((depth, 4), np.int64), np.empty((depth, seats + 1))
    mover = game.to_move(state)
    n = game.legal(state, choices)
    if n == 1:
        return choices[0]
    hashing = settings[HASH] > 0.0
    bits = enough_bits(TABLE_BITS, n, depth - 1) if hashing else 0  # nodes of the last ply are not stored
    table = new_table(bits, seats + 1)
    table_keys, table_facts, table_values = table
    key = hash_words(state_bits, return_bits)
    level, nodes, chosen, opening = 0, 0, choices[0], True
    while True:
        if opening:
            keys[level] = key
            levels[level, COUNT], levels[level, NEXT], levels[level, MOVER] = n, 0, mover
            for i in range(state.size):
                states[level, i] = state[i]
            for seat in range(seats):
                level_returns[level, seat] = returns[seat]
            for i in range(n):
                actions[level, i] = choices[i]
            opening = False
        if levels[level, NEXT] == levels[level, COUNT]:
            if level == 0:
                return chosen
            for i in range(seats + 1):
                line[i] = best[level, i]
            if hashing:
                slot = slot_of(table_keys, keys[level])
                table_keys[slot], table_facts[slot] = keys[level], depth - level
                for i in range(seats + 1):
                    table_values[slot, i] = line[i]
            level -= 1
        else:
            for i in range(state.size):
                state[i] = states[level, i]
            for seat in range(seats):
                returns[seat] = level_returns[level, seat]
            levels[level, NODES] = nodes
            game.step(state, actions[level, levels[level, NEXT]], returns)
            levels[level, NEXT] += 1
            nodes += 1
            mover = game.to_move(state)
            if mover < 0 or level + 1 == depth:
                totals[:] = 0.0
                evaluator.evaluate(game, evaluator.weights, state, returns, 1, rng, totals, scratch)
                for seat in range(seats):
                    line[seat] = totals[seat]
                line[seats] = 0.0
            else:
                slot = ABSENT
                if hashing:
                    key = hash_words(state_bits, return_bits)
                    slot = find(table_keys, table_facts, key)
                if slot == ABSENT or table_facts[slot] != depth - level - 1:
                    n = game.legal(state, choices)
                    level += 1
                    opening = True
                    continue
                for i in range(seats + 1):
                    line[i] = table_values[slot, i]
        # The line of the level's last action is known now.
        line[seats] += 1.0
        action = actions[level, levels[level, NEXT] - 1]
        if levels[level, NEXT] == 1 or is_better(line, best, level, levels[level, MOVER]):
            for i in range(seats + 1):
                best[level, i] = line[i]
            if level == 0:
                chosen = action
        if level == 0:
            root[VISITS, action] = float(nodes - levels[0, NODES])
            root[VALUES, action] = line[levels[0, MOVER]]


@dataclass(frozen=True)
class Maxn(CompiledAgent):
    """Max-N: every seat plays its best action, looking `depth` plies ahead at full width.

    Source: Luckhardt and Irani 1986; Korf 1991; Weitz 2022, 2.3.3. Among equal actions it plays the sooner win or the
    later loss, otherwise the first. The evaluator values terminal states too, so all values have its unit.
    """

    name: ClassVar[str] = "maxn"
    act_kernel: ClassVar[Any] = act_maxn

    depth: int = parameter(3, "plies searched", low=1, high=100, search=(1, 6))
    evaluator: Evaluator = parameter(Score(), "evaluates the states at the end of the search")
    rollout_depth: int = rollout_depth_parameter(150)
    score_method: int = score_method_parameter(2)
    hash: bool = parameter(True, "look up states searched before")

    budgets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"plies": {"depth": AMOUNT}}

    def draws_numbers(self, game: Game) -> bool | None:
        return self.evaluator_draws(game)

    def settings(self) -> tuple[float, ...]:
        return (self.depth, self.hash)

    def used_evaluator(self) -> tuple[Evaluator, int, int]:
        return self.evaluator, self.rollout_depth, self.score_method

    def cannot_play(self, game: Game) -> str | None:
        if game.has_chance:
            return f"maxn plays games without chance, got {game}; use mctse or mc."
        return super().cannot_play(game)
