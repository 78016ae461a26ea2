"""The laws that every game keeps, listed in GAME_LAWS: each takes a game and raises LawBroken with a sentence.

A law looks at the nodes of a few seeded random games. A chance node is an afterstate; its options are the outcomes.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from ...core.rng import stream
from ...games.abi import CHANCE, STATE_DTYPE, TERMINAL
from ...games.game import MAX_SEATS, Game, Ints, NumArray
from ..law import Law, LawBroken
from .boards import (
    law_boards_name_positions,
    law_cells,
    law_moves_name_positions,
    law_neighbours,
    law_placed_stones,
    law_symmetries,
    law_texts,
)
from .forced_wins import law_forced_win
from .hidden_information import law_commitments_stay_hidden, law_information, law_views
from .playouts import (
    law_playout_depth,
    law_playout_distribution,
    law_playouts_side_by_side,
    law_sample_chance,
    law_seeds_reproduce,
)
from .python_methods import law_methods_change_nothing
from .random_games import (
    FENCE,
    MAX_STEPS,
    ROOM,
    SEEDS,
    Node,
    chance_outcomes,
    fenced,
    inside_arrays,
    legal_actions,
    nodes,
    view_of,
    walk,
    words,
)


def law_sizes(game: Game) -> None:
    """Sizes are possible whole numbers, `max_return` is a positive float, and the variant words fit the state."""
    sizes = ("num_seats", "num_actions", "max_legal", "max_outcomes", "state_words", "num_cells", "num_cell_values")
    for name in sizes:
        size = getattr(game, name, None)
        if type(size) is not int or size < 0:
            raise LawBroken(f"{name} of {game} must be a whole number from 0 up, got {size!r}")
    if not 1 <= game.num_seats <= MAX_SEATS:
        raise LawBroken(f"{game} must have 1 to {MAX_SEATS} seats, got {game.num_seats}")
    if not 1 <= game.max_legal <= game.num_actions:
        raise LawBroken(f"max_legal of {game} must be from 1 to num_actions, {game.num_actions}, got {game.max_legal}")
    if game.max_outcomes < 1:
        raise LawBroken(f"max_outcomes of {game} must be at least 1, got {game.max_outcomes}")
    if type(game.max_return) is not float or not game.max_return > 0:
        raise LawBroken(f"max_return of {game} must be a positive float, got {game.max_return!r}")
    if len(game.variant_words()) > game.state_words:
        raise LawBroken(f"the variant words of {game} must fit its {game.state_words} state_words")
    if (game.num_cells > 0) != (game.num_cell_values > 0):
        raise LawBroken(f"{game} must have both num_cells and num_cell_values above 0, or neither")


def law_to_move(game: Game) -> None:
    """`to_move` returns a seat, CHANCE or TERMINAL."""
    for node in nodes(game):
        if node.mover not in (CHANCE, TERMINAL) and not 0 <= node.mover < game.num_seats:
            raise LawBroken(
                f"to_move of {game} must be a seat from 0 to {game.num_seats - 1}, CHANCE ({CHANCE}) or TERMINAL"
                f" ({TERMINAL}), got {node.mover} {node}"
            )


def law_legal(game: Game) -> None:
    """A seat to move has 1 to `max_legal` legal actions, ascending, without repetition, all below `num_actions`."""
    for node in nodes(game):
        actions = node.options
        if node.mover < 0:
            continue
        if not actions:
            raise LawBroken(f"{game} must have a legal action where a seat is to move, got none {node}")
        if len(actions) > game.max_legal:
            raise LawBroken(f"{game} must have at most max_legal = {game.max_legal} actions, got {actions} {node}")
        if actions != sorted(set(actions)):
            raise LawBroken(f"legal actions of {game} must ascend without repetition, got {actions} {node}")
        if actions[0] < 0 or actions[-1] >= game.num_actions:
            raise LawBroken(f"actions of {game} must be from 0 to {game.num_actions - 1}, got {actions} {node}")


def law_chance(game: Game) -> None:
    """A chance node has 1 to `max_outcomes` ascending outcomes, without repetition; positive probabilities sum to 1."""
    for node in nodes(game):
        if node.mover != CHANCE:
            continue
        outcomes, probs = chance_outcomes(game, node.state)
        if not outcomes:
            raise LawBroken(f"{game} must have an outcome where chance is to move, got none {node}")
        if len(outcomes) > game.max_outcomes:
            most = f"at most max_outcomes = {game.max_outcomes}"
            raise LawBroken(f"{game} must have {most} outcomes, got {outcomes} {node}")
        if outcomes != sorted(set(outcomes)):
            raise LawBroken(f"outcomes of {game} must ascend without repetition, got {outcomes} {node}")
        if not min(probs) > 0:
            raise LawBroken(f"probabilities of {game} must be positive, got {probs} {node}")
        if abs(sum(probs) - 1) >= 1e-9:
            raise LawBroken(f"probabilities of {game} must sum to 1, got {probs} of sum {sum(probs)} {node}")


def law_questions_change_nothing(game: Game) -> None:
    """Every kernel except `init`, `step` and `playout` leaves the state as it is."""
    rng = stream(1)
    for node in nodes(game):
        asked: list[tuple[str, Callable[[Ints], object]]] = [("to_move", game.kernels.to_move)]
        asked.append(("cells", lambda state: game.kernels.cells(state, np.zeros(game.num_cells + ROOM, np.int64))))
        if node.mover >= 0:
            asked.append(("legal", lambda state: legal_actions(game, state)))
            asked.append(("forced_win", lambda state: game.kernels.forced_win(state, 2)))
            asked.append(("observe", functools.partial(view_of, game, seat=node.mover)))
        if node.mover == CHANCE:
            asked.append(("chance", lambda state: chance_outcomes(game, state)))
            asked.append(("sample_chance", lambda state: game.kernels.sample_chance(state, rng)))
        for name, ask in asked:
            state = node.state.copy()
            ask(state)
            if not np.array_equal(state, node.state):
                raise LawBroken(f"{name} of {game} must not change the state, got {words(state)} {node}")


def law_writes_stay_inside(game: Game) -> None:
    """No kernel writes outside its arrays, which have the sizes that the game declares."""
    state, whole_state = fenced(game.state_words, STATE_DTYPE)
    out, whole_out = fenced(game.max_legal, np.int64)
    outcomes, whole_outcomes = fenced(game.max_outcomes, np.int64)
    probs, whole_probs = fenced(game.max_outcomes, np.float64)
    values, whole_values = fenced(game.num_cells, np.int64)
    rewards, whole_rewards = fenced(game.num_seats, np.float64)
    view, whole_view = fenced(game.state_words, STATE_DTYPE)
    fences = (whole_state, whole_out, whole_outcomes, whole_probs, whole_values, whole_rewards, whole_view)
    k = game.kernels

    def ask(node: Node) -> Iterator[str]:
        state[:] = game.new_state()
        k.init(state, stream(1))
        yield "init"
        state[:] = node.state
        k.cells(state, values)
        yield "cells"
        if node.mover >= 0:
            k.legal(state, out)
            yield "legal"
            k.observe(state, node.mover, view)
            yield "observe"
            k.forced_win(state, 2)
            yield "forced_win"
        if node.mover == CHANCE:
            k.chance(state, outcomes, probs)
            yield "chance"
        for option in node.options[:8]:
            state[:] = node.state
            k.step(state, option, rewards)
            yield "step"
        state[:] = node.state
        k.playout(state, 3, stream(1), rewards)
        yield "playout"

    with inside_arrays(game):
        for node in nodes(game):
            for name in ask(node):
                if not all((w[:ROOM] == FENCE).all() and (w[-ROOM:] == FENCE).all() for w in fences):
                    raise LawBroken(
                        f"{name} of {game} must stay inside its arrays, of the sizes that the game declares"
                        f" (state_words, max_legal, max_outcomes, num_cells, num_seats), but wrote outside {node}"
                    )


def law_step_repeats(game: Game) -> None:
    """The same action in the same state does the same, bit for bit, regardless of earlier calls and nearby memory."""
    for node in nodes(game):
        for option in node.options[:8]:
            runs = []
            for fence in (FENCE, 0, 0, 1):
                state, rewards = fenced(game.state_words, STATE_DTYPE, fence)[0], np.zeros(game.num_seats)
                state[:] = node.state
                with inside_arrays(game):
                    game.kernels.step(state, option, rewards)
                runs.append((state.tolist(), rewards.tolist()))
            for run in runs[1:]:
                if run != runs[0]:
                    raise LawBroken(
                        f"step of {game} must always do the same, got state and rewards {runs[0]} and then {run} for"
                        f" {option} {node}"
                    )


def law_variant_words_stay(game: Game) -> None:
    """The first words of a state, which hold the variant, never change, not even in views and playouts."""
    variant = game.variant_words()
    for node in nodes(game):
        seen = [("step", node.state)]
        if game.kernels.has_observe and node.mover >= 0:
            seen.append(("observe", view_of(game, node.state, node.mover)))
        if game.kernels.has_playout:
            played = node.state.copy()
            game.kernels.playout(played, 3, stream(1), np.zeros(game.num_seats))
            seen.append(("playout", played))
        for name, state in seen:
            got = tuple(int(word) for word in state[: len(variant)])
            if got != variant:
                raise LawBroken(f"the variant words of {game} must stay {variant}, {name} made them {got} {node}")


def _stepped(game: Game, option: int) -> Callable[[Ints, NumArray], object]:
    return lambda state, rewards: game.kernels.step(state, option, rewards)


def law_rewards_are_added(game: Game) -> None:
    """`step` and `playout` add to the existing rewards."""
    prior = np.arange(1.0, game.num_seats + 1) * 16
    for node in nodes(game):
        runs = [("step", _stepped(game, option)) for option in node.options[:8]]
        if game.kernels.has_playout:
            runs.append(("playout", lambda state, rewards: game.kernels.playout(state, 5, stream(1), rewards)))
        for name, run in runs:
            fresh, added = np.zeros(game.num_seats), prior.copy()
            run(node.state.copy(), fresh)
            run(node.state.copy(), added)
            if not np.allclose(added - prior, fresh, rtol=0, atol=1e-9):
                raise LawBroken(f"{name} of {game} must add {fresh} to the rewards {prior}, got {added} {node}")


def law_games_end(game: Game) -> None:
    """Every random game is over after at most 20,000 plies and outcomes."""
    for seed in SEEDS:
        last = deque(walk(game, seed, MAX_STEPS), maxlen=1)[0]
        if last.mover != TERMINAL:
            raise LawBroken(f"a random game of {game} must be over within {MAX_STEPS:,} steps, but it is not {last}")


def law_returns(game: Game) -> None:
    """Final returns are finite and at most `max_return`, of either sign."""
    for seed in SEEDS:
        last = deque(walk(game, seed, MAX_STEPS), maxlen=1)[0]
        if not (np.abs(last.returns) <= game.max_return).all():  # false for nan
            inside = f"within {game.max_return}, its max_return, of either sign"
            raise LawBroken(f"returns of {game} must be {inside}, got {last.returns} {last}")


GAME_LAWS: tuple[Law, ...] = (
    law_sizes,
    law_methods_change_nothing,
    law_to_move,
    law_games_end,
    law_writes_stay_inside,
    law_legal,
    law_chance,
    law_questions_change_nothing,
    law_step_repeats,
    law_variant_words_stay,
    law_rewards_are_added,
    law_returns,
    law_cells,
    law_placed_stones,
    law_symmetries,
    law_neighbours,
    law_sample_chance,
    law_playout_distribution,
    law_playout_depth,
    law_playouts_side_by_side,
    law_commitments_stay_hidden,
    law_views,
    law_information,
    law_forced_win,
    law_seeds_reproduce,
    law_texts,
    law_moves_name_positions,
    law_boards_name_positions,
)
# If one of these is broken, the others mean nothing.
BASIC_LAWS = (law_sizes, law_methods_change_nothing, law_to_move, law_games_end)
