"""2048's kernels against the plain-Python oracle, exact values, and near the 65,536 border of the packed board."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import naive
from tests.naive import Board
from turnier.contract.games.random_games import MAX_Z, UNLIMITED, playout_results, z_scores
from turnier.core.kernel import JIT
from turnier.core.rng import stream
from turnier.games.abi import CHANCE, TERMINAL
from turnier.games.game import Ints
from turnier.games.twenty48.board import place_tile, random_tile
from turnier.games.twenty48.game import ACTION_NAMES, Twenty48
from turnier.games.twenty48.rules import BOARD, HIGH, PENDING

MANY = 100_000 if JIT else 300
MAX_EXPONENT = 17
GAMES = {size: Twenty48(size=size) for size in (2, 3, 4)}


def tiles_of(game: Twenty48, state: Ints) -> Board:
    """Returns a state's board as the oracle writes it."""
    exponents = game.cell_values(state).tolist()
    rows = [exponents[i : i + game.size] for i in range(0, game.num_cells, game.size)]
    return tuple(tuple(1 << e if e else 0 for e in row) for row in rows)


def state_of(board: Board) -> Ints:
    return GAMES[len(board)].position_from_tiles([list(row) for row in board])


@st.composite
def boards(draw: st.DrawFn, sizes: tuple[int, ...] = (2, 3, 4)) -> Board:
    """Boards with any tiles that the rules allow: 131,072 at most once, as it cannot be made twice.

    A few neighbouring exponents at a time, so that merges are common at every height, 32,768s included.
    """
    size = draw(st.sampled_from(sizes))
    base = draw(st.integers(1, MAX_EXPONENT))
    near = st.sampled_from([0, 0, base, max(1, base - 1), min(MAX_EXPONENT, base + 1)])
    exponents = draw(st.lists(near | st.integers(0, MAX_EXPONENT), min_size=size**2, max_size=size**2))
    assume(exponents.count(MAX_EXPONENT) <= 1)
    tiles = [1 << e if e else 0 for e in exponents]
    return tuple(tuple(tiles[i : i + size]) for i in range(0, size**2, size))


BORDER = ((32768, 32768, 65536, 131072), (65536, 0, 32768, 2), (2, 32768, 0, 2), (4, 65536, 2, 0))


def test_actions_are_ordered_as_the_oracle_names_them() -> None:
    assert ACTION_NAMES == naive.DIRECTIONS == ("left", "right", "up", "down")


@given(boards())
@example(BORDER)
def test_cells_are_the_tiles_exponents(board: Board) -> None:
    assert tiles_of(GAMES[len(board)], state_of(board)) == board


@given(boards())
@example(BORDER)
def test_legal_actions(board: Board) -> None:
    position = GAMES[len(board)].position(state_of(board))
    assert [ACTION_NAMES[a] for a in position.legal_actions()] == naive.legal(board)
    assert position.over == (not naive.legal(board))


@given(boards())
@example(BORDER)
def test_step_gives_the_afterstate_and_the_reward(board: Board) -> None:
    game = GAMES[len(board)]
    for action, direction in enumerate(naive.DIRECTIONS):
        after, points = naive.slide(board, direction)
        if after != board:
            position = game.position(state_of(board)).play(action, draw_chance=False)
            assert (tiles_of(game, position.state), position.returns[0]) == (after, points)
            assert position.to_move == CHANCE


@given(boards())
@example(BORDER)
def test_chance_is_even_over_empty_cells(board: Board) -> None:
    game = GAMES[len(board)]
    state = state_of(board)
    state[PENDING] = 1
    expected = [(2 * cell + (tile == 4), float(p)) for cell, tile, p in naive.chance(board)]
    outcomes = game.position(state).outcomes()
    assert [o for o, _ in outcomes] == [o for o, _ in expected]
    assert [p for _, p in outcomes] == pytest.approx([p for _, p in expected])


@given(boards(), st.data())
@example(BORDER, None)
def test_chance_places_a_tile_and_ends_a_stuck_game(board: Board, data: st.DataObject | None) -> None:
    game = GAMES[len(board)]
    possible = naive.chance(board)
    assume(possible)
    cell, tile, _ = possible[0] if data is None else data.draw(st.sampled_from(possible))
    state = state_of(board)
    state[PENDING] = 1
    position = game.position(state).play(2 * cell + (tile == 4))
    assert tiles_of(game, position.state) == naive.place(board, cell, tile)
    assert position.to_move == (0 if naive.legal(naive.place(board, cell, tile)) else TERMINAL)


@given(boards(), st.integers(0, 2**32 - 1))
@example(((2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 0)), 429496729)
@example(((2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 16), (2, 4, 8, 0)), 429496730)
def test_random_words_place_tiles_evenly(board: Board, word: int) -> None:
    """32 random bits times the empty cells: the whole part says which cell, a rest below a tenth says 4."""
    flat = [tile for row in board for tile in row]
    empty = [cell for cell, tile in enumerate(flat) if tile == 0]
    assume(empty and any(flat))
    index, rest = divmod(word * len(empty), 2**32)
    four = rest < 2**32 / 10
    state = state_of(board)
    packed, high = state.view(np.uint64)[BOARD], state.view(np.uint64)[HIGH]
    assert random_tile(packed, high, len(flat), np.uint64(word)) == 2 * empty[index] + four
    if len(flat) == 16 and high == 0:
        cells = np.uint64(sum(1 << 4 * cell for cell in empty))
        placed = int(packed) | (1 + four) << 4 * empty[index]
        assert [int(part) for part in place_tile(packed, cells, cells, np.uint64(word))] == [placed, four]


@given(boards())
def test_drawing_has_every_tile(board: Board) -> None:
    drawn = [line.split() for line in GAMES[len(board)].draw(state_of(board)).splitlines()]
    assert drawn == [[str(tile) if tile else "." for tile in row] for row in board]


@given(boards())
def test_facts_hold_the_largest_tile(board: Board) -> None:
    assume(naive.tile_sum(board))
    assert GAMES[len(board)].facts(state_of(board)) == {"max_tile": max(map(max, board))}


@pytest.mark.parametrize("board", [[[2, 2], [2]], [[2, 2]], [[2, 3], [0, 0]], [[1, 0], [0, 0]], [[1 << 18, 0], [0, 0]]])
def test_boards_that_do_not_exist_are_refused(board: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"a (board|tile) must"):
        GAMES[2].position_from_tiles(board)


def test_an_outcome_is_named_by_tile_and_place() -> None:
    assert GAMES[4].outcome_name(2 * 6 + 1) == "4 at row 2, column 3"


def check_books(board: Board, depth: int, seed: int) -> None:
    """A playout's reward is what its tiles are worth: the potential's growth less 4 for every 4 that chance placed.

    Each ply places one tile, so the sum of all tiles says how many of them were 4s.
    """
    game = GAMES[len(board)]
    state, returns = state_of(board), np.array([1000.0])
    plies = game.kernels.playout(state, depth, stream(seed), returns)
    after = tiles_of(game, state)
    fours, odd = divmod(naive.tile_sum(after) - naive.tile_sum(board) - 2 * plies, 2)
    assert odd == 0 and 0 <= fours <= plies <= depth
    assert returns[0] - 1000 == naive.potential(after) - naive.potential(board) - 4 * fours
    over = not naive.legal(after)
    assert game.kernels.to_move(state) == (TERMINAL if over else 0)
    assert plies == depth or over


@given(boards(), st.integers(0, 60), st.integers(0, 2**32))
def test_playout_keeps_the_books(board: Board, depth: int, seed: int) -> None:
    check_books(board, depth, seed)


# Tiles that sum up to a little less than 65,536: random play may reach two 32,768s only after some plies.
BELOW_THE_BORDER: Board = ((32768, 16384, 8192, 4096), (256, 512, 1024, 2048), (128, 64, 32, 4), (0, 0, 0, 0))


@pytest.mark.parametrize("depth", range(12))
def test_playout_keeps_the_books_across_the_border(depth: int) -> None:
    for seed in range(20):
        check_books(BELOW_THE_BORDER, depth, seed)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_whole_games_keep_the_books(size: int) -> None:
    """From the empty board the score is the final potential less 4 for every 4 among the 2 + plies tiles."""
    game = GAMES[size]
    for seed in range(20):
        rng, returns = stream(seed), np.zeros(1)
        state = game.new_state()
        game.kernels.init(state, rng)
        plies = game.kernels.playout(state, UNLIMITED, rng, returns)
        after = tiles_of(game, state)
        fours = naive.tile_sum(after) // 2 - (2 + plies)
        assert 0 <= fours <= 2 + plies
        assert returns[0] == naive.potential(after) - 4 * fours
        assert not naive.legal(after)


# Below the border; two 32,768s side by side; a board that gets there after some plies; and tiles beyond it already.
NEAR_THE_BORDER: tuple[Board, ...] = (
    BELOW_THE_BORDER,
    ((32768, 32768, 4, 2), (16, 8, 4, 2), (2, 4, 8, 16), (2, 4, 2, 0)),
    ((32768, 16384, 8192, 4096), (256, 512, 1024, 2048), (128, 64, 32, 16), (0, 4, 8, 8)),
    ((65536, 32768, 16384, 16384), (2, 4, 8, 16), (4, 2, 4, 2), (2, 0, 0, 2)),
    ((131072, 65536, 32768, 32768), (2, 0, 0, 16), (4, 2, 4, 2), (2, 0, 0, 2)),
)


@pytest.mark.parametrize("board", NEAR_THE_BORDER)
@pytest.mark.parametrize("depth", [1, 3, 12, UNLIMITED])
def test_playout_near_the_border_is_like_the_generic_one(board: Board, depth: int) -> None:
    results = [playout_results(GAMES[4], state_of(board), depth, fused, MANY // 20) for fused in (True, False)]
    assert (z_scores(*results) < MAX_Z).all()


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "board",
    [
        *NEAR_THE_BORDER,
        ((2, 4, 8, 2), (4, 8, 4, 2), (2, 16, 2, 4), (8, 4, 2, 0)),
        ((0, 0, 0, 2), (2, 4, 8, 16), (8, 8, 2, 4), (4, 16, 4, 2)),
        ((2, 4, 2), (4, 8, 4), (2, 4, 0)),
    ],
)
def test_short_playouts_have_the_exact_mean(board: Board, fused: bool) -> None:
    """Mean points and plies of two random plies, against the oracle's exact expectation."""
    game = GAMES[len(board)]
    results = playout_results(game, state_of(board), 2, fused, MANY)[:, :2]
    exact = np.array([float(value) for value in naive.random_play(board, 2)])
    error = np.maximum(results.std(axis=0, ddof=1) / math.sqrt(MANY), 1e-9)
    assert (np.abs(results.mean(axis=0) - exact) < MAX_Z * error).all()


@pytest.mark.parametrize("fused", [True, False])
def test_random_play_on_2x2_has_the_exact_mean(fused: bool) -> None:
    """Whole games on 2x2: points 19.66 and plies 5.60 by recursion over every position."""
    exact = np.zeros(2)
    for board, probability in naive.start_boards(2):
        exact += [float(probability * value) for value in naive.random_play(board)]
    assert exact == pytest.approx([19.6565, 5.6007], abs=1e-4)
    start = GAMES[2].new_state()
    GAMES[2].kernels.init(start, stream(1))
    results = playout_results(GAMES[2], start, UNLIMITED, fused, 2 * MANY)
    assert (results[:, 2] == 1).all()
    error = results[:, :2].std(axis=0, ddof=1) / math.sqrt(len(results))
    assert (np.abs(results[:, :2].mean(axis=0) - exact) < MAX_Z * error).all()


def test_start_has_two_tiles_as_likely_as_the_oracle_says() -> None:
    samples = MANY // 50
    drawn = Counter(tiles_of(GAMES[2], GAMES[2].start(seed).state) for seed in range(samples))
    exact: Counter[Board] = Counter()
    for board, probability in naive.start_boards(2):
        exact[board] += probability  # type: ignore[assignment]
    assert set(drawn) <= set(exact)
    for board, probability in exact.items():
        p = float(probability)
        assert abs(drawn[board] - samples * p) < MAX_Z * math.sqrt(samples * p * (1 - p))


def test_highest_score() -> None:
    """`max_return` bounds every score: on 2x2 the best moves and luckiest tiles make 180 points, by exhaustive search.

    Each of the n tiles of a full final row of powers needs a 4 from chance, so the best is the potential less 4 n.
    The published constant of the 4x4 board, 3,932,156, counts two 4s only.
    """
    best = max(naive.best_score(board) for board, _ in naive.start_boards(2))
    assert best == naive.potential(((4, 8), (16, 32))) - 4 * 4 == 180
    assert best <= GAMES[2].max_return == naive.potential(((4, 8), (16, 32))) - 4 * 2
    assert GAMES[4].max_return == 3_932_156
