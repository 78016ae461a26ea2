"""What a residual network says: compiled, in jax and in plain numpy; its files; and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.residual.plain_network import GAMES, drawn_weights, plain_outputs, positions
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.agents.residual.evaluator import Residual
from turnier.agents.residual.kernels import NEAR, convolve, say_many
from turnier.agents.residual.network import Network, Weights
from turnier.agents.residual.tiles import LANES, NINE, TILE, _add_tile_plainly
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.contract.evaluators import estimate
from turnier.core.errors import UserError
from turnier.core.rng import stream
from turnier.games.game import Game, Position
from turnier.games.registry import make_game


def said(network: Network, weights: Any, found: list[Position]) -> tuple[Any, Any]:
    """What compiled code says of positions: values, [n], and logits, [n, actions]."""
    settings, states = network.settings(weights), np.array([position.state for position in found])
    values, logits = np.empty(len(found)), np.empty((len(found), network.game.num_actions), np.float32)
    say_many(network.game.kernels, settings.view(np.int64), settings.view(np.float32), states, values, logits)
    return values, logits


@pytest.mark.parametrize("blocks", [0, 2])
@pytest.mark.parametrize("game", GAMES)
def test_compiled_code_says_what_plain_numpy_does(game: str, blocks: int) -> None:
    made = make_game(game)
    network = Network(made, blocks, 32)
    weights, found = drawn_weights(network), positions(made)
    values, logits = said(network, weights, found)
    for position, value, own in zip(found, values, logits, strict=True):
        plain_value, plain_logits = plain_outputs(network, weights, position)
        assert value == pytest.approx(plain_value, abs=1e-5)
        np.testing.assert_allclose(own, plain_logits, atol=2e-5)
    assert np.ptp(values) > 0.1 and np.ptp(logits) > 0.5


@pytest.mark.parametrize("game", GAMES)
def test_jax_says_the_same(game: str) -> None:
    pytest.importorskip("jax")
    from turnier.agents.residual.gradient import saying

    made = make_game(game)
    network = Network(made, 2, 16)
    weights, found = drawn_weights(network), positions(made)
    cells = np.array([made.cell_values(position.state) for position in found])
    second = np.array([position.to_move for position in found])
    seen = np.where((second[:, None] == 1) & (cells > 0), 3 - cells, cells).astype(np.int8)
    values, logits = saying(network)(weights, seen, second.astype(np.int8))
    compiled = said(network, weights, found)
    np.testing.assert_allclose(values, compiled[0], atol=1e-5)
    np.testing.assert_allclose(logits, compiled[1], atol=2e-5)


@pytest.mark.parametrize("slots", [1, NINE])
def test_tiles_add_as_plain_python_does(slots: int) -> None:
    """Bit for bit, as each product is added by itself."""
    network, inputs, outputs = Network(make_game("connect_four"), 1, 32), 12, 32
    header, random = network.header(), np.random.default_rng(2)
    rows = len(network.near)
    layer = random.normal(size=(rows + 1) * inputs).astype(np.float32)
    layer[rows * inputs :] = 0
    table = random.normal(size=5 + slots * inputs * outputs + outputs).astype(np.float32)
    sums, plain = np.zeros(rows * outputs, np.float32), np.tile(table[-outputs:], rows)
    assert convolve(header, table, 5, slots, layer, inputs, sums, outputs) == len(table)
    for group in range(outputs // LANES):
        for row in range(0, rows, TILE):
            at, to = 5 + group * slots * inputs * LANES, row * outputs + group * LANES
            first = NEAR + row * NINE + (4 if slots == 1 else 0)
            _add_tile_plainly(header, first, slots, layer, inputs, table, at, plain, to, outputs)
    assert (sums == plain).all()


@pytest.mark.parametrize("game", GAMES)
def test_before_learning_nothing_is_preferred(game: str) -> None:
    made = make_game(game)
    network = Network(made, 2, 16)
    values, logits = said(network, network.new_weights(3), positions(made))
    assert not values.any() and not logits.any()
    assert (network.new_weights(3) != network.new_weights(4)).any()


@pytest.mark.parametrize(("game", "images"), [*zip(GAMES, (8, 2, 8, 8, 2, 12), strict=True)])
def test_actions_turn_with_the_board(game: str, images: int) -> None:
    """A game and the game of turned actions have boards that are images of each other, where their starts are."""
    made = make_game(game)
    turned = Network(made, 1, 16).turned_actions
    assert len(turned) == images
    start = made.cell_values(made.start().state)
    for image, actions in zip(made.symmetries(), turned, strict=True):
        if (start[image] != start).any():  # as with some of Othello's
            continue
        random, one, other = np.random.default_rng(1), made.start(), made.start()
        while not one.over:
            legal = one.legal_actions()
            assert sorted(actions[legal].tolist()) == other.legal_actions()
            action = int(random.choice(legal))
            one, other = one.play(action), other.play(int(actions[action]))
            assert (made.cell_values(other.state) == made.cell_values(one.state)[image]).all()


@pytest.mark.parametrize("game", [make_game("chess"), make_game("nim"), make_game("2048")], ids=str)
def test_boards_of_other_kinds_have_no_network(game: Game) -> None:
    reason = EVALUATORS.make("residual").cannot_evaluate(game)
    assert reason and reason.startswith("residual needs a ") and reason.endswith(".")


@pytest.mark.parametrize("game", [*GAMES, "go(size=5)"])
def test_neighbours_are_near_on_the_grid(game: str) -> None:
    made = make_game(game)
    near = Network(made, 1, 16).near[: made.num_cells]
    assert (near[:, 4] == np.arange(made.num_cells)).all()
    for cell, around in enumerate(made.neighbours()):
        assert set(around) <= set(near[cell].tolist())
    assert near.max() == len(Network(made, 1, 16).near)  # the edge of the board is one


def test_values_are_the_movers_and_ends_are_their_results(tmp_path: Path) -> None:
    game, file = make_game("tictactoe"), tmp_path / "r.npz"
    network = Network(game, 1, 16)
    weights = drawn_weights(network)
    Weights(network, weights, {}).save(file)
    kernels = EVALUATORS.make(f"residual(file={file})").kernels(game, 10, 1)
    for position in positions(game):
        value = said(network, weights, [position])[0][0]
        own = [value, -value] if position.to_move == 0 else [-value, value]
        assert estimate(game, kernels, position.state, position.returns, stream(1)).tolist() == own
    over = game.position_of("X X X / O O . / . . .")
    assert over.over
    assert estimate(game, kernels, over.state, np.array([1.0, -1.0]), stream(1)).tolist() == [1, -1]


def test_a_file_plays_and_is_known_by_its_digest(tmp_path: Path) -> None:
    game, file = make_game("connect_four"), tmp_path / "r.npz"
    network = Network(game, 1, 16)
    Weights(network, drawn_weights(network), {"done": 3}).save(file)
    digest = Weights.read(file)["digest"]
    assert Weights.load(file).digest == digest and Weights.load(file).training == {"done": 3}
    for search in ("greedy(", "alphabeta(depth=2,", "mcts(iterations=20,", "puct(iterations=20,"):
        agent = make_agent(f"{search}evaluator=residual(file={file}))")
        assert f"digest={digest}" in agent.full_text()
        record = play_match(MatchSpec(game.full_text(), (agent.full_text(), "random"), 1))
        assert len(record.plies) > 3
    with pytest.raises(UserError, match="must have the digest 0123, got"):
        make_agent(f"greedy(evaluator=residual(file={file},digest=0123))").start(game)
    reason = EVALUATORS.make(f"residual(file={file})").cannot_evaluate(make_game("tictactoe"))
    assert reason and "is for connect_four, got tictactoe" in reason
    file.unlink()
    assert Residual(file=str(file), digest=digest).cannot_evaluate(game) is None  # stored matches can be counted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("residual(file=none.npz)", "must be a file"),
        ("residual(digest=0123)", "must belong to a file"),
        ("residual(filters=20)", "multiple of 16, got 20"),
        ("residual(blocks=99)", "blocks"),
    ],
)
def test_evaluators_that_cannot_be_are_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        EVALUATORS.make(text)


def test_a_network_that_is_too_large_is_refused() -> None:
    with pytest.raises(UserError, match="at most 20,000,000 weights"):
        Network(make_game("connect_four"), 40, 512).check()
    with pytest.raises(UserError, match="multiple of 16, got 20"):
        Network(make_game("connect_four"), 2, 20).check()
    reason = EVALUATORS.make("residual(blocks=40,filters=512)").cannot_evaluate(make_game("connect_four"))
    assert reason is not None and reason.startswith("residual must have at most 20,000,000 weights, got ")


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    game, file = make_game("tictactoe"), tmp_path / "r.npz"
    network = Network(game, 0, 16)
    Weights(network, drawn_weights(network), {}).save(file)
    whole = file.read_bytes()
    with pytest.raises(UserError, match="the file determines the network, got blocks too"):
        EVALUATORS.make(f"residual(file={file},blocks=3)")
    for place in range(40, len(whole), len(whole) // 29):  # a damaged byte is noticed, or is one of an archive's names
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        with contextlib.suppress(UserError):
            assert Weights.load(file).weights.tobytes() == drawn_weights(network).tobytes()
    for damaged in (b"", b"no archive", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with pytest.raises(UserError, match="undamaged"):
            EVALUATORS.make(f"residual(file={file})")
    np.savez(file, config=np.array('{"format": 1}'))
    with pytest.raises(UserError, match="that self-play around `residual` wrote"):
        EVALUATORS.make(f"residual(file={file})")
