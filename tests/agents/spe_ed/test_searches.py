"""The searches of spe_ed against plain Python: every path, every table, every value; and what rollouts draw."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.agents.spe_ed import naive_spe_ed as naive
from tests.agents.spe_ed.boards import field_of, scattered
from turnier.agents.spe_ed.search.field import (
    CELL,
    MOVES,
    WALL,
    nearest,
    new_field,
    next_round,
    stride_of,
    walkers_of,
    weighted_distance,
)
from turnier.agents.spe_ed.search.minimax import IMPOSSIBLE, NODES, STOPPED, WEIGHTS, new_numbers, value_of_move
from turnier.agents.spe_ed.search.rollouts import (
    COMPLETE,
    LONGEST,
    NO_ROOM,
    ROLLOUTS,
    STEPS,
    Paths,
    following,
    new_found,
    new_paths,
    room_beside,
    run_rollouts,
    surviving,
)
from turnier.agents.spe_ed.search.tables import fill_tables, new_tables
from turnier.agents.spe_ed.search.territory import reachable
from turnier.agents.spe_ed.survivors import enters_free_cells, random_survivor
from turnier.core.kernel import JIT
from turnier.core.rng import stream
from turnier.games.game import Ints
from turnier.games.spe_ed.board import ACTIVE, SPEED, X, Y

DRAWS = 20_000 if JIT else 300
NO_TREE = np.zeros((0, MOVES), np.int32)


def as_cell(stride: int, index: int) -> naive.Cell:
    return index % stride, index // stride - WALL


BOARDS = [(5, 4, seed, taken) for seed in range(6) for taken in (0.3, 0.5)]


@pytest.mark.parametrize(("width", "height", "seed", "taken"), BOARDS)
def test_without_repeats_every_path_is_found_once(width: int, height: int, seed: int, taken: float) -> None:
    game, state = scattered(width, height, 2, seed, taken)
    field, table = field_of(game, state), np.random.default_rng(seed).random(new_field(game).size)
    stride, first = int(stride_of(state)), next_round(state)
    before, found = field.copy(), new_found(new_paths(100))
    tree = np.zeros((1 << 17, MOVES), np.int32)
    walker = walkers_of(state, [0])[0]
    run_rollouts(field, stride, walker, first, new_paths(0), table, tree, 0.5, 0.0, 0.0, stream(1), 1 << 20, 0, found)
    assert (field == before).all()
    counts, risks = np.zeros_like(found.counts), np.zeros_like(found.risks)
    paths = list(naive.all_paths(naive.player_of(state, 0), naive.free_cells(game, state), first))
    for actions, _, ways in paths:
        if actions:
            counts[len(actions), actions[0]] += 1
            likely = [np.mean([table[(y + WALL) * stride + x] for x, y in way]) for way in ways]
            risks[len(actions), actions[0]] += np.mean(likely)
    assert (found.counts == counts).all()
    np.testing.assert_allclose(found.risks, risks, rtol=1e-9)
    lengths = [len(actions) for actions, _, _ in paths]
    wanted = [counts.sum(), sum(lengths), max(lengths), int(counts.any())]
    assert found.numbers[[ROLLOUTS, STEPS, LONGEST, COMPLETE]].tolist() == wanted


@pytest.mark.parametrize(("width", "height", "seed", "taken"), BOARDS[:4])
def test_random_paths_come_as_often_as_they_should(width: int, height: int, seed: int, taken: float) -> None:
    game, state = scattered(width, height, 2, seed, taken)
    found = new_found(new_paths(0))
    arguments = (field_of(game, state), int(stride_of(state)), walkers_of(state, [0])[0], next_round(state))
    run_rollouts(*arguments, new_paths(0), np.zeros(0), NO_TREE, 1.0, 0.0, 0.0, stream(seed), DRAWS, 0, found)
    expected: Counter[tuple[int, int]] = Counter()
    for actions, likely, _ in naive.all_paths(
        naive.player_of(state, 0), naive.free_cells(game, state), next_round(state)
    ):
        if actions:
            expected[len(actions), actions[0]] += likely  # type: ignore[assignment]
    assert found.numbers[ROLLOUTS] == (DRAWS if expected else 0)
    for (length, first), likely in expected.items():
        error = np.sqrt(DRAWS * likely * (1 - likely)) + 1e-9
        assert abs(found.counts[length, first] - DRAWS * likely) < 5 * error + 1, (length, first)


def test_kept_paths_are_possible_long_and_followed_again() -> None:
    game, state = scattered(9, 9, 2, 3, 0.1)
    field, stride, walker = field_of(game, state), int(stride_of(state)), walkers_of(state, [0])[0]
    found = new_found(new_paths(50))
    run_rollouts(
        field,
        stride,
        walker,
        next_round(state),
        new_paths(0),
        np.zeros(0),
        NO_TREE,
        0.8,
        0.0,
        0.0,
        stream(1),
        500,
        0,
        found,
    )
    kept, longest = found.kept, int(found.numbers[LONGEST])
    assert kept.lengths.max() == longest
    guides = following(kept, int(kept.actions[0, 0]), new_paths(50))
    assert guides.lengths.size == (kept.actions[kept.lengths > 1, 0] == kept.actions[0, 0]).sum()
    assert (np.diff(guides.lengths) <= 0).all()
    free, player, first = naive.free_cells(game, state), naive.player_of(state, 0), next_round(state)
    for actions, length in zip(kept.actions, kept.lengths, strict=True):
        assert any(path[:length] == tuple(actions[:length]) for path in walked(player, free, first, actions[:length]))
    # With as many rollouts as guides from where they begin, each is at least as long as its guide.
    again = new_found(new_paths(0))
    whole = Paths(kept.actions, kept.lengths)
    run_rollouts(field, stride, walker, first, whole, np.zeros(0), NO_TREE, 1.0, 0.0, 0.0, stream(2), 50, 0, again)
    reached = np.repeat(np.arange(len(again.counts)), again.counts.sum(axis=1))
    assert (np.sort(reached) >= np.sort(kept.lengths)).all() and again.numbers[LONGEST] == longest


def walked(player: naive.Player, free: frozenset[naive.Cell], first: int, actions: Ints) -> list[tuple[int, ...]]:
    """Returns the actions where they can be played one after the other, and nothing where they cannot."""
    for number, action in enumerate(actions):
        possible = {move: (after, entered) for move, after, entered in naive.moves(player, free, first + number)}
        if action not in possible:
            return []
        player, entered = possible[int(action)]
        free -= set(entered)
    return [tuple(actions)]


def test_a_guide_that_is_cut_off_continues_at_random() -> None:
    game, state = scattered(9, 9, 2, 3, 0.1)
    state[SPEED] = 1
    arguments = (field_of(game, state), int(stride_of(state)), walkers_of(state, [0])[0], next_round(state))
    impossible = Paths(np.full((200, 512), 2, np.int8), np.full(200, 5, np.int64))  # slower than there is
    firsts = []
    for guides in (impossible, new_paths(0)):
        found = new_found(new_paths(0))
        run_rollouts(*arguments, guides, np.zeros(0), NO_TREE, 1.0, 0.0, 0.0, stream(4), 200, 0, found)
        firsts.append(found.counts.sum(axis=0) > 0)
    assert (firsts[0] == firsts[1]).all()


def test_surviving_paths_are_those_that_are_long_enough() -> None:
    found = new_found(new_paths(0))
    found.counts[10, 1], found.counts[7, 2], found.counts[6, 3] = 1, 5, 9
    found.numbers[LONGEST] = 10
    assert surviving(found, 0.69)[0].tolist() == [0, 1, 5, 0, 0]
    assert surviving(found, 0.6)[0].tolist() == [0, 1, 5, 9, 0]
    assert surviving(found, 1.0)[0].tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize(("players", "rounds", "start"), [(2, 4, 1.0), (2, 3, 2.0), (3, 3, 2.0), (3, 2, 0.5)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("habits", [(1, 1, 1, 1, 1), (1, 3, 0.5, 0.2, 9)])
def test_tables_are_those_of_the_document(
    players: int, rounds: int, start: float, habits: tuple[float, ...], seed: int
) -> None:
    """Also if the others' moves, not the own ones, are not equally likely."""
    game, state = scattered(9, 8, players, seed, 0.1)
    state[SPEED : SPEED + players] = (1, 2, 3)[:players]
    field, stride = field_of(game, state), int(stride_of(state))
    tables = new_tables(players, 5000, field.size)
    walkers, first = walkers_of(state, list(range(players))), next_round(state)
    likely = np.ones((players, MOVES))
    likely[1:] = habits
    for _ in range(2):  # the second time on used space
        assert fill_tables(field, stride, walkers, first, start, likely, rounds, 0, tables) == rounds
    total, mass = naive.tables(
        [naive.player_of(state, seat) for seat in range(players)],
        naive.free_cells(game, state),
        first,
        start,
        rounds,
        likely.tolist(),
    )
    assert total and any(mass)
    expected = np.zeros(field.size)
    for (x, y), likely in total.items():
        expected[(y + WALL) * stride + x] = likely
    np.testing.assert_allclose(tables.total, expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(tables.mass[rounds], mass, rtol=1e-9)


def test_tables_stop_where_there_is_no_room_or_time_or_move() -> None:
    game, state = scattered(20, 20, 2, 1, 0.0)
    field = field_of(game, state)
    arguments = (field, int(stride_of(state)), walkers_of(state, [0, 1]), 1, 1.0, np.ones((2, MOVES)), 9)
    assert fill_tables(*arguments, 0, new_tables(2, 100, field.size)) in (1, 2, 3)
    assert fill_tables(*arguments, 1, new_tables(2, 100, field.size)) == 0 or not JIT
    field[:] = 1
    assert fill_tables(*arguments, 0, new_tables(2, 100, field.size)) == 0


@pytest.mark.parametrize(("players", "depth", "taken"), [(1, 5, 0.3), (2, 1, 0.2), (2, 3, 0.3), (3, 2, 0.3)])
@pytest.mark.parametrize(
    "weights",
    [
        naive.Weights(),
        naive.Weights(aggression=0.7),
        naive.Weights(aggression=0.2, territory=1.5),
        naive.Weights(territory=1.5, jump_steps=4, neighbours=0.5, decided=0.2, freedom=0.3),
    ],
    ids=("freedom", "aggression", "territory", "walls"),
)
@pytest.mark.parametrize("seed", range(4))
def test_minimax_has_the_values_of_the_whole_tree(
    players: int, depth: int, taken: float, weights: naive.Weights, seed: int
) -> None:
    game, state = scattered(8, 6, max(2, players), seed, taken)
    for seat in range(players):  # near to each other
        state[X + seat], state[Y + seat] = state[X] // 2 + 2 * seat % 5, (state[Y] + seat) % 6
    field, before = field_of(game, state), field_of(game, state)
    walkers, first = walkers_of(state, list(range(players))), next_round(state)
    seats: list[naive.Player | None] = [naive.player_of(state, seat) for seat in range(players)]
    for action in range(MOVES):
        numbers = new_numbers(0, 0)
        got = value_of_move(field, int(stride_of(state)), walkers, action, depth, first, np.array(weights), numbers)
        wanted = naive.value_of_move(seats, action, naive.free_cells(game, state), first, depth, weights)
        assert got == pytest.approx(IMPOSSIBLE if wanted is None else wanted), action
        assert not numbers[STOPPED] and (numbers[NODES] > 0) == (wanted is not None)
    assert (field == before).all()


@pytest.mark.parametrize("most", [1, 2, 100])
def test_minimax_stops_at_the_nodes(most: int) -> None:
    game, state = scattered(20, 20, 2, 1, 0.0)
    numbers = new_numbers(most, 0)
    value_of_move(
        field_of(game, state), int(stride_of(state)), walkers_of(state, [0, 1]), 4, 6, 1, np.zeros(WEIGHTS), numbers
    )
    assert numbers[STOPPED] and numbers[NODES] == max(2, most)  # the move itself is one


def test_distances_and_space() -> None:
    game, state = scattered(20, 20, 3, 1, 0.0)
    for seat, (x, y, speed) in enumerate([(3, 4, 2), (6, 8, 5), (19, 4, 1)]):
        state[X + seat], state[Y + seat], state[SPEED + seat] = x, y, speed
    assert weighted_distance(state, 0, 1) == 0.5 and weighted_distance(state, 0, 2) == 8
    assert nearest(state, 0) == [(0.5, 1), (8.0, 2)]
    state[ACTIVE + 1] = 0
    assert nearest(state, 0) == [(8.0, 2)]
    game, state = scattered(9, 9, 2, 5, 0.4)
    free, stride = naive.free_cells(game, state), int(stride_of(state))
    walker = walkers_of(state, [0])[0]
    seen, queue = set(), [as_cell(stride, int(walker[CELL]))]
    while queue:
        x, y = queue.pop()
        beside = {(x + dx, y + dy) for dx, dy in naive.STEPS} & free - seen
        seen |= beside
        queue += beside
    assert int(reachable(field_of(game, state), stride, walker)) == len(seen)


@pytest.mark.parametrize(
    ("side", "taken", "rollouts", "options", "longer"),
    [(20, 0.05, 600, ((0.0, 0.0), (0.5, 0.0)), 1.1), (14, 0.0, 200, ((0.0, 0.0), (0.0, 0.9)), 1.5)],
    ids=("vary", "hug"),
)
def test_guided_paths_are_possible_and_longer(
    side: int, taken: float, rollouts: int, options: tuple[tuple[float, float], ...], longer: float
) -> None:
    """Half of the rollouts along the longest paths so far, or most moves beside what is taken, find a longer path."""
    game, state = scattered(side, side, 2, 3, taken)
    field, stride, walker = field_of(game, state), int(stride_of(state)), walkers_of(state, [0])[0]
    before, first, longest = field.copy(), next_round(state), []
    for guided in options:
        found = new_found(new_paths(100))
        run_rollouts(
            field,
            stride,
            walker,
            first,
            new_paths(0),
            np.zeros(0),
            NO_TREE,
            0.7,
            *guided,
            stream(1),
            rollouts,
            0,
            found,
        )
        longest.append(int(found.numbers[LONGEST]))
        assert (field == before).all() and found.numbers[ROLLOUTS] == found.counts.sum() == rollouts
    assert longest[1] > longer * longest[0]
    free, player = naive.free_cells(game, state), naive.player_of(state, 0)
    for actions, length in zip(found.kept.actions, found.kept.lengths, strict=True):
        assert length == 0 or walked(player, free, first, actions[:length])


def test_who_always_hugs_goes_slowly_where_there_is_least_room() -> None:
    """Straight on is as slow as turns, and has the wall beside it; ways that end are left for last."""
    field = np.ones(400, np.uint8)
    board = field.reshape(20, 20)
    board[5:12, 5:12] = 0
    walker = np.array([10 * 20 + 5, 0, 1, 1, 0])  # upwards along the left side
    board[10, 5] = 1
    assert [int(room_beside(field, place, 20)) for place in (9 * 20 + 5, 10 * 20 + 6)] == [2, 3]
    board[9, 4] = 0
    assert int(room_beside(field, 9 * 20 + 3, 20)) == 1 and int(room_beside(field, 3 * 20 + 3, 20)) == NO_ROOM
    board[9, 4] = 1
    found = new_found(new_paths(10))
    run_rollouts(field, 20, walker, 1, new_paths(0), np.zeros(0), NO_TREE, 1.0, 0.0, 1.0, stream(1), 10, 0, found)
    longest = found.kept.actions[int(np.argmax(found.kept.lengths))]
    assert longest[:4].tolist() == [4, 4, 4, 4] and found.numbers[LONGEST] > 40  # of 48 cells


@pytest.mark.parametrize("seed", range(5))
def test_survivors_choose_every_possible_action_alike(seed: int) -> None:
    game, state = scattered(7, 6, 2, seed, 0.3)
    state[SPEED] = 1 + seed % 3
    free, player = naive.free_cells(game, state), naive.player_of(state, 0)
    possible = {action for action, _, _ in naive.moves(player, free, next_round(state))}
    assert {action for action in range(MOVES) if enters_free_cells(state, 0, action)} == possible
    rng, draws = stream(seed), 500
    drawn = np.bincount([int(random_survivor(state, 0, rng)) for _ in range(draws)], minlength=MOVES)
    wanted = possible or {4}
    for action in range(MOVES):
        share = (action in wanted) / len(wanted)
        assert abs(drawn[action] - draws * share) <= 5 * np.sqrt(draws * share * (1 - share))
