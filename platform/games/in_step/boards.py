"""One kernel that steps n boards of a game: actions, chance, rewards, legal actions and observations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.kernel import kernel, tell_type, types
from ...core.packing import Package, packing
from ...core.rng import Rng, below
from ..abi import CHANCE, GAME, STATE_DTYPE, TERMINAL
from ..game import Game
from ..generic import copy_state, draw_outcome

STEP, BEGIN, KEEP = range(3)  # orders for a board in `advance`: its action, a new episode, or nothing


class Boards(NamedTuple):
    """n boards and the results of their latest step; `advance` changes the arrays in place."""

    states: Any  # [n, state_words]
    rngs: Any  # [n, 4]: each board's stream of chance, continued through all of its episodes
    movers: Any  # [n]: the seat to move, or TERMINAL
    returns: Any  # [n, seats] of the running episodes
    steps: Any  # [n] of the running episodes
    rewards: Any  # [n, seats] of the latest step
    terminated: Any  # [n]
    masks: Any  # [n, num_actions]: 1 where an action is legal
    cells: Any  # [n, num_cells] as the seat to move sees them, or [n, 0] if `views` are shown
    views: Any  # [n, state_words]: the state as far as the seat to move may know it, or [n, 0] if `cells` are shown
    # Scratch space for one board, since arrays made by the kernel would count references.
    state: Any  # [state_words]
    seen: Any  # [state_words]
    rng: Any  # [4]
    gains: Any  # [seats]
    choices: Any  # [max_choices]
    probs: Any  # [max_choices]


_I1, _I2 = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")
_F1, _F2 = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")
_Rngs, _Flags = types.Array(types.uint64, 2, "C"), types.Array(types.boolean, 1, "C")
_Orders, _Masks, _Cells = (
    types.Array(types.int8, 1, "C"),
    types.Array(types.int8, 2, "C"),
    types.Array(types.uint8, 2, "C"),
)
BOARDS = types.NamedTuple(
    [_I2, _Rngs, _I1, _F2, _I1, _F2, _Flags, _Masks, _Cells, _I2, _I1, _I1, Rng, _F1, _I1, _F1], Boards
)
tell_type(Boards, BOARDS)
_write, _read = packing(types.Tuple((GAME, BOARDS)))


@kernel(types.void(Package, GAME, BOARDS))
def pack_boards(words, game, boards):
    _write(words, (game, boards))


@kernel(types.void(Package, _I1, _Orders))
def advance(packed, actions, orders):
    """Steps boards or begins their next episodes, according to `orders`, [n].

    An illegal action only increases the number of steps. The variant words of the states are already set.
    """
    game, boards = _read(packed)
    states, rngs, movers, returns, steps = boards.states, boards.rngs, boards.movers, boards.returns, boards.steps
    rewards, terminated, masks, cells, views = (
        boards.rewards,
        boards.terminated,
        boards.masks,
        boards.cells,
        boards.views,
    )
    state, seen, rng, gains = boards.state, boards.seen, boards.rng, boards.gains
    choices, probs = boards.choices, boards.probs
    for i in range(orders.size):
        if orders[i] == KEEP:
            continue
        for word in range(state.size):
            state[word] = states[i, word]
        for word in range(4):
            rng[word] = rngs[i, word]
        steps[i] += 1
        if orders[i] == BEGIN:
            steps[i] = 0
            returns[i, :] = 0.0
            game.init(state, rng)
        for seat in range(gains.size):
            gains[seat] = returns[i, seat]
        action = actions[i]
        if orders[i] == STEP and 0 <= action < game.num_actions and masks[i, action]:
            game.step(state, action, gains)
        mover = game.to_move(state)
        while mover == CHANCE:
            game.step(state, draw_outcome(game, state, rng, choices, probs), gains)
            mover = game.to_move(state)
        for word in range(state.size):
            states[i, word] = state[word]
        for word in range(4):
            rngs[i, word] = rng[word]
        for seat in range(gains.size):
            rewards[i, seat] = gains[seat] - returns[i, seat] if orders[i] == STEP else 0.0
            returns[i, seat] = gains[seat]
        movers[i], terminated[i] = mover, mover == TERMINAL and orders[i] == STEP
        for option in range(masks.shape[1]):
            masks[i, option] = 0
        if mover >= 0:
            for option in range(game.legal(state, choices)):
                masks[i, choices[option]] = 1
        if game.has_observe and mover >= 0:
            game.observe(state, mover, seen)
        else:
            copy_state(state, seen)
        if cells.shape[1]:
            game.cells(seen, choices)
        for cell in range(cells.shape[1]):
            cells[i, cell] = choices[cell]
        for word in range(views.shape[1]):
            views[i, word] = seen[word]


@kernel(types.void(_Masks, Rng, _I1))
def draw_legal(masks, rng, actions):
    """Fills `actions` with a legal one for each row of masks, drawn uniformly, or 0 if there is none."""
    for i in range(masks.shape[0]):
        count = 0
        for action in range(masks.shape[1]):
            count += masks[i, action]
        left, actions[i] = below(rng, max(count, 1)), 0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1


def new_boards(game: Game, n: int, cells: bool) -> Boards:
    """Returns n boards without episodes.

    Args:
        game: the game.
        n: number of boards.
        cells: whether to show cells; otherwise views of states.
    """
    seats, room = game.num_seats, game.kernels.max_choices
    return Boards(
        states=np.tile(game.new_state(), (n, 1)),
        rngs=np.zeros((n, 4), np.uint64),
        movers=np.zeros(n, np.int64),
        returns=np.zeros((n, seats)),
        steps=np.zeros(n, np.int64),
        rewards=np.zeros((n, seats)),
        terminated=np.zeros(n, np.bool_),
        masks=np.zeros((n, game.num_actions), np.int8),
        cells=np.zeros((n, game.num_cells if cells else 0), np.uint8),
        views=np.zeros((n, 0 if cells else game.state_words), STATE_DTYPE),
        state=game.new_state(),
        seen=game.new_state(),
        rng=np.zeros(4, np.uint64),
        gains=np.zeros(seats),
        choices=np.zeros(room, np.int64),
        probs=np.zeros(room),
    )
