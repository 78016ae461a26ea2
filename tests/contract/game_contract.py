"""The laws that every game keeps, listed in CHECKS: each takes a game and raises AssertionError with a sentence.

A law looks at the nodes of a few seeded random games. A node at chance is an afterstate, its options are the outcomes.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import stats

from tests.contract.forced_wins import check_forced_win
from tests.contract.hidden_information import check_commitments_stay_hidden, check_views
from tests.contract.play import (
    DRAWS,
    FENCE,
    MAX_Z,
    ROOM,
    UNLIMITED,
    Node,
    chance_outcomes,
    fenced,
    inside_arrays,
    legal_actions,
    nodes,
    playout_results,
    scratch,
    some_nodes,
    start_state,
    view_of,
    walk,
    z_scores,
)
from turnier.core.rng import stream
from turnier.games import generic
from turnier.games.abi import CHANCE, STATE_DTYPE, TERMINAL
from turnier.games.game import MAX_SEATS, Game, Ints, NumArray

Check = Callable[[Game], None]

SEEDS = range(4)
MAX_STEPS = 20_000  # a random game that takes more plies and outcomes counts as endless
TINY_P = 1e-6


def check_declaration(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Sizes are whole numbers that make sense, `max_return` is a positive float, the variant words fit the state."""
    sizes = ("num_seats", "num_actions", "max_legal", "max_outcomes", "state_words", "num_cells", "num_cell_values")
    for name in sizes:
        size = getattr(game, name)
        assert type(size) is int and size >= 0, f"{name} of {game} must be a whole number from 0 up, got {size!r}"
    assert 1 <= game.num_seats <= MAX_SEATS, f"{game} must have 1 to {MAX_SEATS} seats, got {game.num_seats}"
    assert 1 <= game.max_legal <= game.num_actions, f"max_legal of {game} must be from 1 to num_actions"
    assert game.max_outcomes >= 1, f"max_outcomes of {game} must be at least 1, for scratch space"
    assert type(game.max_return) is float and game.max_return > 0, f"max_return of {game} must be a positive float"
    assert len(game.variant_words()) <= game.state_words, f"the variant words of {game} must fit its state"
    both = (game.num_cells > 0) == (game.num_cell_values > 0)
    assert both, f"{game} must have both cells and cell values, or neither"


def check_to_move(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """`to_move` answers a seat, CHANCE or TERMINAL."""
    for node in nodes(game, seeds):
        possible = node.mover in (CHANCE, TERMINAL) or 0 <= node.mover < game.num_seats
        assert possible, f"to_move of {game} must be a seat, CHANCE or TERMINAL, got {node.mover} in {node.state}"


def check_legal(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """A seat to move has 1 to `max_legal` legal actions, ascending, each once, all below `num_actions`."""
    for node in nodes(game, seeds):
        if node.mover >= 0:
            actions = node.options
            assert actions, f"{game} must have a legal action where a seat is to move, got none in {node.state}"
            assert len(actions) <= game.max_legal, f"{game} must have at most max_legal actions, got {actions}"
            assert actions == sorted(set(actions)), f"legal actions of {game} must ascend, each once, got {actions}"
            inside = actions[0] >= 0 and actions[-1] < game.num_actions
            assert inside, f"actions of {game} must be from 0 to {game.num_actions - 1}, got {actions}"


def check_chance(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """A chance node has 1 to `max_outcomes` outcomes, ascending, each once, with positive probabilities of sum 1."""
    for node in nodes(game, seeds):
        if node.mover == CHANCE:
            outcomes, probs = chance_outcomes(game, node.state)
            assert outcomes, f"{game} must have an outcome where chance is to move, got none in {node.state}"
            assert len(outcomes) <= game.max_outcomes, f"{game} must have at most max_outcomes, got {outcomes}"
            assert outcomes == sorted(set(outcomes)), f"outcomes of {game} must ascend, each once, got {outcomes}"
            assert min(probs) > 0, f"probabilities of {game} must be positive, got {probs}"
            assert abs(sum(probs) - 1) < 1e-9, f"probabilities of {game} must sum to 1, got {sum(probs)}"


def check_questions_change_nothing(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Every kernel but `init`, `step` and `playout` leaves the state as it is."""
    rng = stream(1)
    for node in nodes(game, seeds):
        asked: list[tuple[str, Callable[[Ints], object]]] = [("to_move", game.kernels.to_move)]
        asked.append(("cells", lambda state: game.kernels.cells(state, np.zeros(game.num_cells + ROOM, np.int64))))
        if node.mover >= 0:
            asked.append(("legal", lambda state: legal_actions(game, state)))
            asked.append(("forced_win", lambda state: game.kernels.forced_win(state, 2)))
            asked.append(("observe", lambda state, seat=node.mover: view_of(game, state, seat)))
        if node.mover == CHANCE:
            asked.append(("chance", lambda state: chance_outcomes(game, state)))
            asked.append(("sample_chance", lambda state: game.kernels.sample_chance(state, rng)))
        for name, ask in asked:
            state = node.state.copy()
            ask(state)
            same = np.array_equal(state, node.state)
            assert same, f"{name} of {game} must not change the state {node.state}, got {state}"


def check_writes_stay_inside(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """No kernel writes outside the arrays it is given, of the sizes that the game declares."""
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
        for node in nodes(game, seeds):
            for name in ask(node):
                kept = all((w[:ROOM] == FENCE).all() and (w[-ROOM:] == FENCE).all() for w in fences)
                assert kept, f"{name} of {game} must stay inside its arrays, wrote outside in {node.state}"


def check_step_repeats(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """The same action in the same state does the same, bit for bit, whatever happened before or lies around it."""
    for node in nodes(game, seeds):
        before = node.state.copy()
        for option in node.options[:8]:
            runs = []
            for fence in (FENCE, 0, 0, 1):
                state, rewards = fenced(game.state_words, STATE_DTYPE, fence)[0], np.zeros(game.num_seats)
                state[:] = node.state
                with inside_arrays(game):
                    game.kernels.step(state, option, rewards)
                runs.append((state.tolist(), rewards.tolist()))
            same = all(run == runs[0] for run in runs)
            assert same, f"step of {game} must always do the same for {option} in {before}, got {runs}"
        assert np.array_equal(before, node.state), f"step of {game} must change only the state it gets, not {before}"


def check_variant_words_stay(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """The first words of a state, which say the variant, never change, not in views and playouts either."""
    words = game.variant_words()
    for node in nodes(game, seeds):
        seen = [node.state]
        if game.kernels.has_observe and node.mover >= 0:
            seen.append(view_of(game, node.state, node.mover))
        if game.kernels.has_playout:
            seen.append(node.state.copy())
            game.kernels.playout(seen[-1], 3, stream(1), np.zeros(game.num_seats))
        for state in seen:
            got = tuple(int(word) for word in state[: len(words)])
            assert got == words, f"the variant words of {game} must stay {words}, got {got}"


def check_rewards_are_added(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """`step` and `playout` add to the rewards that are there already."""
    prior = np.arange(1.0, game.num_seats + 1) * 16
    for node in nodes(game, seeds):
        runs: list[tuple[str, Callable[[Ints, NumArray], object]]] = [
            ("step", lambda state, rewards, option=option: game.kernels.step(state, option, rewards))
            for option in node.options[:8]
        ]
        if game.kernels.has_playout:
            runs.append(("playout", lambda state, rewards: game.kernels.playout(state, 5, stream(1), rewards)))
        for name, run in runs:
            fresh, added = np.zeros(game.num_seats), prior.copy()
            run(node.state.copy(), fresh)
            run(node.state.copy(), added)
            same = np.allclose(added - prior, fresh, rtol=0, atol=1e-9)
            assert same, f"{name} of {game} must add {fresh} to {prior}, got {added}"


def check_games_end(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Every random game is over after at most MAX_STEPS plies and outcomes."""
    for seed in seeds:
        last = deque(walk(game, seed, MAX_STEPS), maxlen=1)[0]
        assert last.mover == TERMINAL, f"a random game of {game} must be over within {MAX_STEPS} steps, got {last}"


def check_returns(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Final returns are finite and at most `max_return`, of either sign."""
    for seed in seeds:
        returns = deque(walk(game, seed, MAX_STEPS), maxlen=1)[0].returns
        inside = bool((np.abs(returns) <= game.max_return).all())  # false for nan
        assert inside, f"returns of {game} must be within {game.max_return}, got {returns}"


def check_cells(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """`cells` writes every cell's value, from 0 to `num_cell_values` - 1."""
    for node in nodes(game, seeds):
        values = np.full(game.num_cells, FENCE, np.int64)
        game.kernels.cells(node.state, values)
        inside = ((values >= 0) & (values < game.num_cell_values)).all()
        assert inside, f"cell values of {game} must be from 0 to {game.num_cell_values - 1}, got {values}"


def check_placed_stones(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Where a game places stones, an action that is a cell's number changes that cell alone, all of a state alike."""
    if not game.places_stones:
        return
    for node in nodes(game, seeds):
        before, changes = game.cell_values(node.state), set()
        for action in (option for option in node.options if node.mover >= 0 and option < game.num_cells):
            after = node.state.copy()
            game.kernels.step(after, action, np.zeros(game.num_seats))
            cells = game.cell_values(after)
            changed = np.flatnonzero(cells != before).tolist()
            assert changed == [action], f"{action} of {game} must change cell {action} alone, got {changed}"
            changes.add((int(before[action]), int(cells[action])))
        assert len(changes) <= 1, f"all stones of a state of {game} must be alike, got {changes}"


def check_symmetries(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Symmetries are permutations of the cells, each once, identity first, closed under composition."""
    table = game.symmetries()
    assert table.ndim == 2 and table.shape[1] == game.num_cells, f"symmetries of {game} must be [n, num_cells]"
    every = np.arange(game.num_cells)
    assert (np.sort(table, axis=1) == every).all(), f"symmetries of {game} must be permutations of its cells"
    assert (table[0] == every).all(), f"the first symmetry of {game} must be the identity, got {table[0]}"
    rows = {tuple(row) for row in table.tolist()}
    assert len(rows) == len(table), f"each symmetry of {game} must stand once"
    closed = all(tuple(a[b].tolist()) in rows for a in table for b in table)
    assert closed, f"symmetries of {game} must be closed under composition"


def check_neighbours(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """Being a neighbour is mutual, never with oneself, and kept by every symmetry."""
    around = [set(cells) for cells in game.neighbours()]
    assert len(around) == game.num_cells, f"{game} must list the neighbours of each of its {game.num_cells} cells"
    for cell, cells in enumerate(around):
        assert cells <= set(range(game.num_cells)), f"neighbours of {game} must be cells, got {cells} beside {cell}"
        assert cell not in cells, f"no cell of {game} may be its own neighbour, got {cell}"
        assert all(cell in around[other] for other in cells), f"neighbours of {game} must be mutual, cell {cell} is not"
    for symmetry in game.symmetries().tolist():
        kept = all({symmetry[c] for c in cells} == around[symmetry[cell]] for cell, cells in enumerate(around))
        assert kept, f"symmetry {symmetry} of {game} must keep neighbours beside each other"


def check_sample_chance(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """`sample_chance` draws the outcomes that `chance` lists, as often as it says."""
    if not game.kernels.has_sample_chance:
        return
    rng = stream(1)
    at_chance = [node.state for seed in seeds for node in walk(game, seed) if node.mover == CHANCE]
    assert at_chance, f"{game} has sample_chance, so its games must have chance nodes"
    for state in at_chance[:: len(at_chance) // 6 + 1]:
        outcomes, probs = chance_outcomes(game, state)
        drawn = [int(game.kernels.sample_chance(state, rng)) for _ in range(DRAWS)]
        assert set(drawn) <= set(outcomes), f"sample_chance of {game} must draw from {outcomes}, got {set(drawn)}"
        p = stats.chisquare([drawn.count(outcome) for outcome in outcomes], np.array(probs) * DRAWS).pvalue
        assert not p < TINY_P, f"sample_chance of {game} must draw as chance says in {state}, got p = {p:.1e}"


def check_playout_distribution(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """The game's own playout agrees with the generic one in mean returns, plies, finished games and final cells."""
    if not game.kernels.has_playout:
        return
    for node in some_nodes(game, itertools.islice(seeds, 2)):
        for depth in (4, UNLIMITED):
            z = z_scores(*(playout_results(game, node.state, depth, fused) for fused in (True, False)))
            what = f"playout of {game} from {node.state} to depth {depth}"
            assert (z < MAX_Z).all(), f"{what} must be like the generic one, got z = {z}"


def check_playout_depth(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """A playout makes `depth` plies or ends the game before, and never leaves chance to move."""
    for node, depth in itertools.product(some_nodes(game, seeds), (0, 1, 2, 7)):
        for fused in (False, True) if game.kernels.has_playout else (False,):
            state, returns = node.state.copy(), np.zeros(game.num_seats)
            if fused:
                plies = game.kernels.playout(state, depth, stream(1), returns)
            else:
                plies = generic.generic_playout(game.kernels, state, depth, stream(1), returns, *scratch(game))
            mover = game.kernels.to_move(state)
            what = f"of a playout of {game} to depth {depth} from {node.state}"
            full = 0 <= plies <= depth and (plies == depth or mover == TERMINAL)
            assert full, f"the plies {what} must be {depth} or fewer where the game ends, got {plies}"
            assert mover != CHANCE, f"the end {what} must not be a chance node, got {state}"
            if plies == 0 and node.mover != CHANCE:
                same = np.array_equal(state, node.state) and not returns.any()
                assert same, f"the state {what} must stay as it is without a ply, got {state}"


def check_seeds_reproduce(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """A seed gives the same start, the same playouts and the same generator afterwards, bit for bit."""
    for seed in seeds:
        runs = []
        for _ in range(2):
            rng, returns = stream(seed), np.zeros(game.num_seats)
            state = start_state(game, rng)
            start = state.copy()
            if game.kernels.has_playout:
                game.kernels.playout(state, 4, rng, returns)
            generic.generic_playout(game.kernels, state, UNLIMITED, rng, returns, *scratch(game))
            runs.append((start, state, returns, rng))
        same = all(np.array_equal(a, b) for a, b in zip(*runs, strict=True))
        assert same, f"seed {seed} of {game} must always give the same game, got {runs}"


def check_texts(game: Game, seeds: Iterable[int] = SEEDS) -> None:
    """The options of a node have distinct names, a state has a drawing, a final state the facts of all milestones."""
    for seed in seeds:
        for node in walk(game, seed):
            name = game.outcome_name if node.mover == CHANCE else game.action_name
            names = [name(option) for option in node.options]
            assert len(set(names)) == len(names) and all(names), f"options of {game} must differ in name, got {names}"
            assert game.draw(node.state).strip(), f"{game} must draw the state {node.state}"
        facts = game.facts(node.state)
        assert set(game.milestones) <= set(facts), f"facts of {game} must hold {set(game.milestones)}, got {facts}"


CHECKS: list[Check] = [
    check_declaration,
    check_to_move,
    check_legal,
    check_chance,
    check_questions_change_nothing,
    check_writes_stay_inside,
    check_step_repeats,
    check_variant_words_stay,
    check_rewards_are_added,
    check_games_end,
    check_returns,
    check_cells,
    check_placed_stones,
    check_symmetries,
    check_neighbours,
    check_sample_chance,
    check_playout_distribution,
    check_playout_depth,
    check_commitments_stay_hidden,
    check_views,
    check_forced_win,
    check_seeds_reproduce,
    check_texts,
]
