"""What breaks the sound game of guess_game.py: each entry of BROKEN is caught by the law that it names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tests.contract.guess_game import (
    GUESS,
    LEFT,
    ROUNDS,
    TURN,
    WORDS,
    Guess,
    chance,
    init,
    legal,
    observe,
    playout,
    sample_chance,
    step,
    to_move,
)
from turnier.contract.games import laws as contract
from turnier.contract.law import Law
from turnier.core.kernel import kernel, pointer
from turnier.core.rng import below
from turnier.games import abi
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Game


@kernel(abi.INIT)
def init_beyond_the_seed(state, rng):
    init(state, rng)
    state[GUESS] = -1 - np.random.randint(0, 1 << 30)


@kernel(abi.TO_MOVE)
def to_move_third_seat(state):
    return 2 if state[TURN] == 1 else to_move(state)


@kernel(abi.LEGAL)
def legal_descending(state, out):
    out[0], out[1], out[2] = 2, 1, 0
    return 3


@kernel(abi.LEGAL)
def legal_twice(state, out):
    out[0], out[1], out[2] = 0, 0, 2
    return 3


@kernel(abi.LEGAL)
def legal_none(state, out):
    return 0 if state[LEFT] == 2 else legal(state, out)


@kernel(abi.LEGAL)
def legal_unknown_action(state, out):
    out[0], out[1], out[2] = 0, 1, 3
    return 3


@kernel(abi.LEGAL)
def legal_tidies_up(state, out):
    state[GUESS] = 0
    return legal(state, out)


@kernel(abi.OUTCOMES)
def chance_short_of_one(state, out, probs):
    chance(state, out, probs)
    probs[0] = 0.4
    return 3


@kernel(abi.OUTCOMES)
def chance_impossible_outcome(state, out, probs):
    chance(state, out, probs)
    probs[0], probs[1] = 0.8, 0.0
    return 3


@kernel(abi.OUTCOMES)
def chance_unsorted(state, out, probs):
    chance(state, out, probs)
    out[0], out[1] = 1, 0
    return 3


@kernel(abi.CELLS)
def cells_misses_one(state, out):
    for cell in range(3):
        out[cell] = 0


@kernel(abi.STEP)
def step_overwrites_rewards(state, action, rewards):
    rewards[:] = 0.0
    step(state, action, rewards)


@kernel(abi.STEP)
def step_own_luck(state, action, rewards):
    step(state, action, rewards)
    rewards[0] += np.random.random()


@kernel(abi.STEP)
def step_writes_variant(state, action, rewards):
    step(state, action, rewards)
    state[ROUNDS] = state[LEFT]


@kernel(abi.STEP)
def step_never_ends(state, action, rewards):
    step(state, action, rewards)
    state[LEFT] = max(1, state[LEFT])


@kernel(abi.STEP)
def step_undefined_reward(state, action, rewards):
    step(state, action, rewards)
    rewards[1] += np.nan


@kernel(abi.SAMPLE_CHANCE)
def sample_chance_fair(state, rng):
    return below(rng, 3)


@kernel(abi.SAMPLE_CHANCE)
def sample_chance_unknown(state, rng):
    return below(rng, 4)


@kernel(abi.PLAYOUT)
def playout_plays_zero(state, depth, rng, returns):
    plies = 0
    while True:
        mover = to_move(state)
        if mover == CHANCE:
            step(state, sample_chance(state, rng), returns)
        elif mover == TERMINAL or plies == depth:
            return plies
        else:
            step(state, 0, returns)
            plies += 1


@kernel(abi.PLAYOUT)
def playout_to_the_end(state, depth, rng, returns):
    return playout(state, 1 << 30, rng, returns)


@kernel(abi.PLAYOUT)
def playout_stops_at_chance(state, depth, rng, returns):
    plies = playout(state, depth, rng, returns)
    if to_move(state) >= 0:
        state[TURN] = 2
    return plies


@kernel(abi.PLAYOUT)
def playout_overwrites_returns(state, depth, rng, returns):
    returns[:] = 0.0
    return playout(state, depth, rng, returns)


@kernel(abi.PLAYOUT)
def playout_own_luck(state, depth, rng, returns):
    returns[0] += np.random.random()
    return playout(state, depth, rng, returns)


@kernel(abi.PLAYOUTS)
def playouts_one_short(states, counts, waiting, depth, rngs, gains, ended, lanes, enough, done):
    """Right, but for the last playout of the last job."""
    finished = 0
    for job in range(counts.size):
        if waiting[job] != 0:
            waiting[job] = 0
            for _ in range(counts[job] - (job == counts.size - 1)):
                state, rng, returns = states[job].copy(), rngs[job].copy(), gains[job].copy()
                playout(state, depth, rng, returns)
                rngs[job], gains[job] = rng, returns
                ended[job] += to_move(state) == TERMINAL
            done[finished] = job
            finished += 1
    return finished


@kernel(abi.PLAYOUTS)
def playouts_twice(states, counts, waiting, depth, rngs, gains, ended, lanes, enough, done):
    """Does not say that a job has begun, so that it begins again with the next call."""
    before = waiting.copy()
    finished = playouts_one_short(states, counts, waiting, depth, rngs, gains, ended, lanes, enough, done)
    waiting[:] = before
    return finished


@kernel(abi.OBSERVE)
def observe_everything(state, seat, view):
    view[:] = state


@kernel(abi.OBSERVE)
def observe_first_seat_to_move(state, seat, view):
    observe(state, seat, view)
    view[TURN] = 0


@kernel(abi.OBSERVE)
def observe_only_clears(state, seat, view):
    view[LEFT:TURN] = state[LEFT:TURN]
    view[TURN:] = 0
    view[TURN] = seat


@kernel(abi.OBSERVE)
def observe_endless_game(state, seat, view):
    observe(state, seat, view)
    view[LEFT] += 1 << 40


SIGNATURES = {
    "init": abi.INIT,
    "to_move": abi.TO_MOVE,
    "legal": abi.LEGAL,
    "chance": abi.OUTCOMES,
    "step": abi.STEP,
    "sample_chance": abi.SAMPLE_CHANCE,
    "playout": abi.PLAYOUT,
    "playouts": abi.PLAYOUTS,
    "cells": abi.CELLS,
    "observe": abi.OBSERVE,
    "forced_win": abi.FORCED_WIN,
}


class Broken(NamedTuple):
    """A broken game, the law that must catch it, and words of the sentence that it must say."""

    law: Law
    what: str
    says: str
    game: Game


def with_kernel(law: Law, says: str, **kernels: Any) -> Broken:
    """Returns Guess with some kernels replaced."""
    game = Guess()
    pointers = {name: pointer(kernel_, SIGNATURES[name]) for name, kernel_ in kernels.items()}
    game.__dict__["kernels"] = replace(game.kernels, **pointers, has_playouts=int("playouts" in kernels))
    return Broken(law, " ".join(kernel_.__name__ for kernel_ in kernels.values()), says, game)


def with_attribute(law: Law, says: str, **attributes: Any) -> Broken:
    """Returns Guess with some attributes or methods replaced."""
    cls = type("Guess", (Guess,), attributes)
    return Broken(law, " ".join(attributes), says, cls())


def _table(*rows: tuple[int, ...]) -> Any:
    return lambda game: np.array(rows, np.int64)


BROKEN: list[Broken] = [
    with_attribute(contract.law_sizes, "whole number", num_cells=4.0),
    with_attribute(contract.law_sizes, "max_legal", max_legal=4),
    with_attribute(contract.law_sizes, "max_return", max_return=4),
    with_attribute(contract.law_sizes, "neither", num_cell_values=0),
    with_kernel(contract.law_to_move, "got 2", to_move=to_move_third_seat),
    with_kernel(contract.law_legal, "ascend", legal=legal_descending),
    with_kernel(contract.law_legal, "without repetition", legal=legal_twice),
    with_kernel(contract.law_legal, "got none", legal=legal_none),
    with_kernel(contract.law_legal, "from 0 to 2", legal=legal_unknown_action),
    with_attribute(contract.law_legal, "at most max_legal", max_legal=2),
    with_kernel(contract.law_chance, "sum to 1", chance=chance_short_of_one),
    with_kernel(contract.law_chance, "positive", chance=chance_impossible_outcome),
    with_kernel(contract.law_chance, "ascend", chance=chance_unsorted),
    with_attribute(contract.law_chance, "at most max_outcomes", max_outcomes=2),
    with_kernel(contract.law_questions_change_nothing, "legal of", legal=legal_tidies_up),
    with_attribute(contract.law_writes_stay_inside, "inside", state_words=WORDS - 2),
    with_attribute(contract.law_writes_stay_inside, "inside", max_legal=2),
    with_attribute(contract.law_writes_stay_inside, "inside", max_outcomes=2),
    with_attribute(contract.law_writes_stay_inside, "inside", num_cells=3),
    with_kernel(contract.law_step_repeats, "same", step=step_own_luck),
    with_attribute(contract.law_step_repeats, "same|inside", state_words=WORDS - 1),
    with_kernel(contract.law_variant_words_stay, "must stay", step=step_writes_variant),
    with_kernel(contract.law_rewards_are_added, "step", step=step_overwrites_rewards),
    with_kernel(contract.law_rewards_are_added, "playout", playout=playout_overwrites_returns),
    with_kernel(contract.law_games_end, "over within", step=step_never_ends),
    with_attribute(contract.law_returns, "within 1.0", max_return=1.0),
    with_kernel(contract.law_returns, "nan", step=step_undefined_reward),
    with_attribute(contract.law_cells, "from 0 to 0", num_cell_values=1),
    with_kernel(contract.law_cells, "from 0 to 1", cells=cells_misses_one),
    with_attribute(contract.law_placed_stones, "change only cell 0", places_stones=True),
    with_attribute(contract.law_symmetries, "permutations", symmetries=_table((0, 1, 2, 3), (0, 0, 2, 3))),
    with_attribute(contract.law_symmetries, "identity", symmetries=_table((1, 0, 3, 2), (0, 1, 2, 3))),
    with_attribute(contract.law_symmetries, "closed", symmetries=_table((0, 1, 2, 3), (1, 3, 0, 2))),
    with_attribute(contract.law_symmetries, "must all differ", symmetries=_table((0, 1, 2, 3), (0, 1, 2, 3))),
    with_attribute(contract.law_neighbours, "mutual", neighbours=_table((1,), (2,), (3,), (0,))),
    with_attribute(contract.law_neighbours, "own neighbour", neighbours=_table((0,), (1,), (2,), (3,))),
    with_attribute(contract.law_neighbours, "keep", neighbours=_table((1,), (0,), (3,), (2,))),
    with_kernel(contract.law_sample_chance, "like chance", sample_chance=sample_chance_fair),
    with_kernel(contract.law_sample_chance, "must draw from", sample_chance=sample_chance_unknown),
    with_kernel(contract.law_playout_distribution, "like the generic", playout=playout_plays_zero),
    with_kernel(contract.law_playout_depth, "plies", playout=playout_to_the_end),
    with_kernel(contract.law_playout_depth, "chance node", playout=playout_stops_at_chance),
    with_kernel(contract.law_playouts_side_by_side, "one at a time", playouts=playouts_one_short),
    with_kernel(contract.law_playouts_side_by_side, "job once|jobs once", playouts=playouts_twice),
    with_kernel(contract.law_commitments_stay_hidden, "must not see", observe=observe_everything),
    with_kernel(contract.law_views, "to move", observe=observe_first_seat_to_move),
    with_kernel(contract.law_views, "every word", observe=observe_only_clears),
    with_kernel(contract.law_views, "to the end", observe=observe_endless_game),
    with_kernel(contract.law_seeds_reproduce, "same game", init=init_beyond_the_seed),
    with_kernel(contract.law_seeds_reproduce, "same game", playout=playout_own_luck),
    with_attribute(contract.law_texts, "differ in name", action_name=lambda game, action: "guess"),
    with_attribute(contract.law_texts, "draw", draw=lambda game, state: " "),
    with_attribute(contract.law_texts, "facts", milestones={"max_tile": (2048,)}),
    with_attribute(contract.law_moves_name_positions, "must play", outcome_name=lambda game, outcome: f" {outcome}"),
    with_attribute(contract.law_moves_name_positions, "the state", outcome_name=lambda game, outcome: "die"),
    with_attribute(
        contract.law_moves_name_positions, "seat to move", position_of=lambda game, text, seed=0: game.start(99)
    ),
    with_attribute(
        contract.law_boards_name_positions,
        "legal|cells|seat",
        board_help="a board",
        read_board=lambda game, text, seed: game.start(seed),
    ),
]
