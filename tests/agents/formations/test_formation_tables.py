"""Formation tables equal plain Python, resume where they were stopped, and are refused where they are damaged."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from turnier.agents.formations.formation import Formation, numbering
from turnier.agents.formations.lookup import action_behind, followed_action, head_of, image, place_of, probabilities
from turnier.agents.formations.sizes import FORMATIONS, five, large_five, six
from turnier.agents.formations.solver import Solver
from turnier.agents.formations.table_file import check, digest_of_words, open_tables, plan, read_digest
from turnier.core.errors import UserError

LINES = [[4 * row + column for column in range(4)] for row in range(4)]
COLUMNS = [[4 * row + column for row in range(4)] for column in range(4)]
CERTAIN = 65535
Board = tuple[int, ...]
SIX = six(5)
FIVE = replace(five(3), largest=(-1, -1, -1, 2, -1, -1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2))
FAR = replace(large_five(3), largest=FIVE.largest)
of_each_formation = pytest.mark.parametrize(
    ("file", "number", "formation"),
    [("table", 0, SIX), ("table", 1, FIVE), ("far", 0, FAR)],
    ids=["six", "five", "far"],
)


def solve(path: Path, *formations: Formation, workers: int = 2) -> str:
    return Solver(path, formations, workers).solve(lambda done: None, lambda done: None)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "both.tables"
    solve(path, SIX, FIVE)
    return path


def moved(formation: Formation, board: Board, action: int) -> Board | None:
    """Fixed cells hold tiles of their own, which merge with none; None where one of them would move."""
    after = list(board)
    for line in LINES if action < 2 else COLUMNS:
        cells = line if action % 2 == 0 else line[::-1]
        tiles = [100 + cell if cell in formation.fixed else board[cell] for cell in cells]
        tiles = [tile for tile in tiles if tile]
        done: list[int] = []
        while tiles:
            tile = tiles.pop(0)
            if tiles and tiles[0] == tile:
                tiles.pop(0)
                tile += 1
            done.append(tile)
        for cell, tile in zip(cells, done + [0] * (4 - len(done)), strict=True):
            if (cell in formation.fixed) != (tile >= 100) or (tile >= 100 and tile != 100 + cell):
                return None
            after[cell] = 0 if cell in formation.fixed else tile
    return tuple(after)


def reached(formation: Formation, board: Board) -> bool:
    return any(all(board[cell] == rank for cell, rank in goal) for goal in formation.goals)


def value_of(formation: Formation) -> Callable[[Board], int]:
    """Returns the value of a state in 65,535ths, computed by plain recursion."""

    def of_chance(board: Board) -> int:
        if any(board[cell] > formation.largest[cell] for cell in range(16) if cell not in formation.fixed):
            return 0
        if reached(formation, board):
            return CERTAIN
        empty = [cell for cell in range(16) if cell not in formation.fixed and board[cell] == 0]
        twos, fours = (sum(value((*board[:cell], rank, *board[cell + 1 :])) for cell in empty) for rank in (1, 2))
        return (9 * twos + fours + 5 * len(empty)) // (10 * len(empty))

    @functools.cache
    def value(board: Board) -> int:
        afters = [moved(formation, board, action) for action in range(4)]
        return max((of_chance(after) for after in afters if after is not None and after != board), default=0)

    return value


def random_board(formation: Formation, rng: random.Random) -> Board:
    return tuple(
        0 if cell in formation.fixed or rng.random() < 0.3 else rng.randint(0, formation.largest[cell])
        for cell in range(16)
    )


def packed(board: Board) -> np.uint64:
    return np.uint64(sum(rank << 4 * cell for cell, rank in enumerate(board)))


@of_each_formation
def test_values_equal_plain_python(
    file: str, number: int, formation: Formation, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(file)
    words = open_tables(path, read_digest(path))
    values, rng, value, head = words.view(np.uint16), random.Random(3), value_of(formation), head_of(words, number)
    sys.setrecursionlimit(10_000)
    seen = set()
    for _ in range(120):
        board = random_board(formation, rng)
        got = int(values[place_of(words, head, packed(board))])
        assert got == value(board), board
        seen.add(got)
    assert len(seen) > 50


def test_actions_are_those_of_the_state_s_value(table: Path) -> None:
    """In every image the probabilities of actions are the same, and the best is the value of the state."""
    words = open_tables(table, read_digest(table))
    values, rng, found, first = words.view(np.uint16), random.Random(4), np.empty(8), np.empty(8)
    fixed = packed(tuple(15 - cell if cell in SIX.fixed else 0 for cell in range(16)))
    head, known = head_of(words, 0), 0
    for _ in range(200):
        free = packed(random_board(SIX, rng))
        place = place_of(words, head, free)
        best = probabilities(words, values, free | fixed, head, 0, first)
        assert abs(max(best, 0.0) - int(values[place]) / CERTAIN) < 1 / CERTAIN
        for picture in range(8):
            probabilities(words, values, free | fixed, head, picture, found)
            assert [found[action_behind(i, picture)] for i in range(4)] == first[:4].tolist()
        known += 1
    assert known > 100


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "far.tables"
    solve(path, FAR)
    return path


@of_each_formation
def test_limits_and_goals_are_lower_with_small_tiles_on_the_edge(
    file: str, number: int, formation: Formation, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(file)
    words = open_tables(path, read_digest(path))
    values, rng, found, head = words.view(np.uint16), random.Random(5), np.empty(8), head_of(words, number)
    counts = {True: 0, False: 0}
    for _ in range(20_000):
        goal = dict(rng.choice(formation.goals)) if rng.random() < 0.5 else {}
        drop = rng.randint(0, 2)
        free = [max(goal[at] - drop, 0) if at in goal else rank for at, rank in enumerate(random_board(formation, rng))]
        board = tuple(rng.randint(1, 7) if at in formation.fixed else rank for at, rank in enumerate(free))
        known = is_known(formation, board)
        assert (probabilities(words, values, packed(board), head, 0, found) >= 0) <= known, board
        if known and any(moved(formation, tuple(free), action) not in (None, tuple(free)) for action in range(4)):
            assert found[:4].max() >= 0, board
        counts[known] += 1
    assert min(counts.values()) > 100


def is_known(formation: Formation, board: Board) -> bool:
    """Whether a table has a probability for a board with its fixed tiles."""
    for cell, tile in enumerate(board):
        for at in [cell + 1] * (cell % 4 < 3) + [cell + 4] * (cell < 12):
            both = at in formation.fixed
            if cell in formation.fixed and (board[at] == tile or (board[at] > tile and not both)):
                return False
    if any(board[larger] <= board[smaller] for larger, smaller in formation.falls):
        return False
    if any(board[one] == board[other] for one, other in formation.differ):
        return False
    smallest = min(board[cell] for cell in formation.edge)
    lower, goals_lower = max(formation.limits_for - smallest, 0), max(formation.goals_for - smallest, 0)
    if any(0 < board[cell] > limit - lower for cell, limit in enumerate(formation.largest) if limit >= 0):
        return False
    goals = [[(cell, rank - goals_lower) for cell, rank in goal] for goal in formation.goals]
    return not any(all(0 < board[cell] == rank for cell, rank in goal) for goal in goals)


def test_images_are_the_eight_symmetries() -> None:
    board = packed(tuple(range(16)))
    assert len({int(image(board, picture)) for picture in range(8)}) == 8


def test_states_are_numbered_without_gaps(table: Path) -> None:
    words, n = open_tables(table, read_digest(table)), numbering(SIX)
    places = [
        int(place_of(words, head_of(words, 0), np.uint64(int(high) | int(low))))
        for high in n.high_boards[::7]
        for low in n.low_boards.view(np.uint64)[::5]
    ]
    assert len(set(places)) == len(places) > 100
    assert int(n.sizes.sum()) == SIX.states


def test_a_stopped_solver_resumes_and_gets_the_same_file(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.tables"
    advanced = 0

    class Stop(Exception):
        pass

    def stop_in_time(done: int) -> None:
        nonlocal advanced
        advanced += done
        if advanced > SIX.states // 2:
            raise Stop

    with pytest.raises(Stop):
        Solver(path, (SIX, FIVE), 1).solve(lambda done: None, stop_in_time)
    assert not path.exists()
    skipped: list[int] = []
    Solver(path, (SIX, FIVE), 2).solve(skipped.append, lambda done: None)
    assert skipped == [advanced] and path.read_bytes() == table.read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_tables_under_way_are_not_solved_over(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.tables"

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Solver(path, (SIX, FIVE), 1).solve(lambda done: None, stop)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(UserError, match=r"tables of another size .*both\.tables.* delete .*\.part and .*\.layers\.$"):
        solve(path, FIVE)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    next(tmp_path.glob("*.layers")).unlink()  # without it what is left of the longer file means nothing
    solve(path, FIVE)
    other = tmp_path / "other.tables"
    solve(other, FIVE)
    assert path.read_bytes() == other.read_bytes()
    assert check(path) == Solver(path, (FIVE,), 1).head != check(table)


@pytest.mark.parametrize("damage", ["value", "head", "truncated", "foreign", "unfinished"])
def test_damaged_files_are_refused_by_a_sentence(table: Path, tmp_path: Path, damage: str) -> None:
    path, data = tmp_path / "damaged.tables", bytearray(table.read_bytes())
    if damage == "value":
        data[-5000] ^= 1
    elif damage == "head":
        data[200] ^= 1
    elif damage == "truncated":
        del data[-100:]
    elif damage == "foreign":
        data[:8] = b"\x93NUMPY\x01\x00"
    else:
        data[16:24] = bytes(8)
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"damaged\.tables (cannot be used: |has no formation tables).*\.$"):
        check(path)


def test_a_table_is_followed_from_the_probability_that_it_asks_for(table: Path, far: Path) -> None:
    """Of two tables with the same probabilities one is followed from 0.3 on, although the agent asks for 0.9."""
    of_agent, of_table = (open_tables(path, read_digest(path)) for path in (table, far))
    rng, settings, found = random.Random(6), np.array([0.9, 2.0]), np.empty(8)
    fixed, head = packed(tuple(15 - cell if cell in FIVE.fixed else 0 for cell in range(16))), head_of(of_table, 0)
    counts = {(False, False): 0, (False, True): 0, (True, True): 0}
    for _ in range(2000):
        board = packed(random_board(FIVE, rng)) | fixed
        images = [np.uint64(int(image(board, picture))) for picture in range(8)]
        best = max(probabilities(of_table, of_table.view(np.uint16), each, head, 0, found) for each in images)
        followed = [
            followed_action(words, words.view(np.uint16), settings, board, found) >= 0 for words in (of_agent, of_table)
        ]
        assert followed == [best >= 0.9, best >= 0.3], board
        counts[followed[0], followed[1]] += 1
    assert min(counts.values()) > 20


def test_the_format_has_not_changed() -> None:
    """Files that were solved by another version can be read as long as their heads are the same."""
    before = replace(SIX, edge=(2, 4, 5, 6))
    heads = [digest_of_words(plan(formations).words).hex() for formations in ((before,), (before, FIVE))]
    assert heads == ["007f60b004ca2bbe9b3e67cff5c69658", "d1f72bf7b73c93f21a7e61e3ea2a0f6c"]


def test_a_file_is_mapped_for_reading_only(table: Path) -> None:
    """A mapping that may be written has to fit into memory as a whole, which the largest file does not."""
    words = open_tables(table, read_digest(table))
    assert words.flags.writeable, "kernels ask for such arrays"
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(table))]
    assert maps and all(permissions == "r--s" for _, permissions, *_ in maps)


def test_every_size_has_the_formations_that_it_says() -> None:
    assert FORMATIONS["tiny"] == (six(6),)
    states = {size: sum(each.states for each in formations) for size, formations in FORMATIONS.items()}
    assert states == {"tiny": 3_686_400, "small": 3_343_151_232, "medium": 7_788_036_096, "large": 23_891_189_760}


@pytest.mark.parametrize(
    "formation",
    dict.fromkeys(FORMATIONS["small"] + FORMATIONS["medium"] + FORMATIONS["large"]),
    ids=lambda each: f"{len(each.fixed)} {each.goals_for}",
)
def test_formations_of_all_sizes_hold_what_they_promise(formation: Formation) -> None:
    """No free tile is as large as a fixed one beside it, chance's 4 fits everywhere, and every goal can be there: in a
    state, or where limits stay as they are and goals are lower."""
    free = [cell for cell in range(16) if cell not in formation.fixed]
    beside = {at for cell in free for line in (*LINES, *COLUMNS) if cell in line for at in next_to(cell, line)}
    assert beside - set(free) == {*formation.edge, 2}
    assert max(formation.largest) < formation.goals_for and min(formation.largest[cell] for cell in free) >= 2
    states = [all(rank <= formation.largest[cell] for cell, rank in goal) for goal in formation.goals]
    assert sum(states) == (5 if len(formation.fixed) == 5 else 6)
    lower = formation.goals_for - formation.limits_for
    assert all(rank - lower <= formation.largest[cell] for goal in formation.goals for cell, rank in goal)


def next_to(cell: int, line: list[int]) -> list[int]:
    at = line.index(cell)
    return line[max(at - 1, 0) : at] + line[at + 1 : at + 2]


@pytest.mark.parametrize(("formation", "rank"), [(five(7), 7), (six(9), 9)])
def test_every_goal_merges_up_by_itself(formation: Formation, rank: int) -> None:
    """From each goal some moves make a tile of the rank (of five: another one) even if chance places nothing."""
    for goal in formation.goals:
        board = tuple(dict(goal).get(cell, 0) for cell in range(16))
        boards, wanted = {board}, 1 + (len(formation.fixed) == 5)
        for _ in range(4):
            boards |= {after for each in boards for i in range(4) if (after := merged(formation, each, i))}
        assert any(each.count(rank) >= wanted or rank + 1 in each for each in boards), goal


def merged(formation: Formation, board: Board, action: int) -> Board | None:
    """Returns a board after a move in which chance fills every empty cell with a tile that merges with none."""
    full = tuple(50 + cell if rank == 0 and cell not in formation.fixed else rank for cell, rank in enumerate(board))
    after = moved(formation, full, action)
    return None if after is None else tuple(0 if rank >= 50 else rank for rank in after)
