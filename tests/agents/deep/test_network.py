"""What a deep network sees of boards and says of actions: beside plain Python, and the same in jax."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turnier.agents.deep.agent import Dqn
from turnier.agents.deep.kernels import NOTHING, see_many, value_many
from turnier.agents.deep.network import INPUTS, Network, Weights, action_images
from turnier.agents.registry import make_agent
from turnier.arena.match import MatchSpec
from turnier.arena.play import play_match
from turnier.core.errors import UserError
from turnier.games.game import Game, Position
from turnier.games.registry import make_game

GAMES = ("2048(size=3)", "connect_four(rows=4,columns=5)", "tictactoe")


def positions(game: Game, count: int = 12) -> list[Position]:
    """Positions of games at random."""
    random, found = np.random.default_rng(3), []
    position = game.start(1)
    while len(found) < count:
        if position.over:
            position = position.start_again()
        found.append(position)
        position = position.play(int(random.choice(position.legal_actions())))
    return found


def network(game: Game, **changes: Any) -> Network:
    named = {"layers": (12, 7), "input": "each", "dueling": True, "unit": 2.0, "log": False} | changes
    return Network(game, **named)


def drawn_weights(shape: Network) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).normal(0, 0.4, shape.size).astype(np.float32)


def seen(shape: Network, states: np.ndarray[Any, Any]) -> tuple[Any, Any, Any, Any]:
    n, actions = len(states), shape.game.num_actions
    inputs, gains = np.empty((n, shape.views * shape.places), np.int8), np.empty((n, actions), np.float32)
    masks, images = np.empty((n, actions), np.int8), np.empty(n, np.int64)
    see_many(shape.game.kernels, shape.header(), states, inputs, gains, masks, images)
    return inputs, gains, masks, images


def plain_layers(shape: Network, weights: np.ndarray[Any, Any], cells: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The outputs for what is seen at once, [outputs]."""
    parts, at = [], 0
    for part in shape.shapes():
        size = int(np.prod(part))
        parts.append(weights[at : at + size].reshape(part).astype(float))
        at += size
    layer = np.zeros((shape.places, shape.kinds))
    for place, value in enumerate(cells):
        if value != NOTHING:
            layer[place, value] = 1
    layer = layer.ravel()
    hidden = parts[: -2 * shape.streams]
    for matrix, bias in zip(hidden[::2], hidden[1::2], strict=True):
        layer = np.maximum(layer @ matrix + bias, 0)
    if shape.streams == 1:
        return np.asarray(layer @ parts[-2] + parts[-1])
    half = len(layer) // 2
    gains = layer[half:] @ parts[-2] + parts[-1]
    return np.asarray(layer[:half] @ parts[-4] + parts[-3] + gains - gains.mean())


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("dueling", [True, False])
def test_values_are_those_of_plain_python(game: str, kind: str, dueling: bool) -> None:
    made = make_game(game)
    shape, found = network(made, input=kind, dueling=dueling), positions(made)
    weights, states = drawn_weights(shape), np.array([position.state for position in found])
    values = np.empty((len(states), made.num_actions))
    value_many(made.kernels, shape.header(), weights, states, values)
    inputs, gains, masks, images = seen(shape, states)
    for row, position in enumerate(found):
        legal = position.legal_actions()
        assert np.flatnonzero(np.isfinite(values[row])).tolist() == legal
        for action in legal:
            if shape.each:
                board = inputs[row].reshape(made.num_actions, -1)[action]
                after = position.play(action, draw_chance=False)
                mover = position.to_move
                assert gains[row, action] == (after.returns - position.returns)[mover] / 2
                assert values[row, action] == pytest.approx(
                    plain_layers(shape, weights, board)[0] + gains[row, action], abs=1e-4
                )
            else:
                turned = shape.action_images[images[row], action]
                assert masks[row, turned] and masks[row].sum() == len(legal)
                assert values[row, action] == pytest.approx(plain_layers(shape, weights, inputs[row])[turned], abs=1e-4)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("kind", INPUTS)
def test_jax_says_the_same(game: str, kind: str) -> None:
    pytest.importorskip("jax")
    from turnier.agents.deep.gradient import network_values

    made = make_game(game)
    shape = network(made, input=kind)
    weights, states = drawn_weights(shape), np.array([position.state for position in positions(made)])
    values = np.empty((len(states), made.num_actions))
    value_many(made.kernels, shape.header(), weights, states, values)
    inputs, gains, _, images = seen(shape, states)
    views = inputs.reshape(len(states), shape.views, shape.places)
    said = np.asarray(network_values(shape, weights, views, gains[:, : shape.views]))
    said = np.take_along_axis(said, shape.action_images[images], axis=1)
    legal = np.isfinite(values)
    np.testing.assert_allclose(said[legal], values[legal], atol=1e-4)


@pytest.mark.parametrize("game", GAMES)
def test_actions_turn_with_the_board(game: str) -> None:
    """After an action and its image, a board and its image are images again."""
    made = make_game(game)
    images = made.symmetries()
    actions = action_images(made, images)
    assert len(actions) == len(images) > 1
    for position in positions(made):
        for image, turned in zip(images, actions, strict=True):
            cells = made.cell_values(position.state)[image]
            other = state_with(made, position, cells)
            if other is None:
                continue
            for action in position.legal_actions():
                assert turned[action] in other.legal_actions()
                after = made.cell_values(position.play(action, draw_chance=False).state)[image]
                assert (made.cell_values(other.play(int(turned[action]), draw_chance=False).state) == after).all()


def state_with(game: Game, position: Position, cells: np.ndarray[Any, Any]) -> Position | None:
    """The position with these cells and the same seat to move."""
    if game.name == "2048":
        return game.position_of(" ".join(str(1 << cell if cell else 0) for cell in cells))
    width = 5 if game.name == "connect_four" else 3
    rows = ["".join(".XO"[cell] for cell in cells[i : i + width]) for i in range(0, len(cells), width)]
    return game.position_of(" / ".join(rows)) if cells.any() else None


def test_images_of_a_board_are_seen_alike() -> None:
    game = make_game("2048(size=3)")
    shape = network(game, input="board")
    for position in positions(game):
        cells = game.cell_values(position.state)
        states = [state_with(game, position, cells[image]) for image in game.symmetries()]
        inputs = seen(shape, np.array([other.state for other in states if other]))[0]
        assert len(inputs) == 8 and (inputs == inputs[0]).all()


def test_each_seat_sees_its_own_stones_as_one() -> None:
    game = make_game("tictactoe")
    shape = network(game, input="board")
    one = game.position_of("X.. / ... / ...").state  # O is to move
    two = game.position_of("X.. / ..O / ...").state
    inputs = seen(shape, np.array([one, two]))[0]
    assert sorted(inputs[0]) == [0] * 8 + [2] and sorted(inputs[1]) == [0] * 7 + [1, 2]


def test_a_file_plays_and_is_known_by_its_digest(tmp_path: Path) -> None:
    game, file = make_game("2048(size=3)"), tmp_path / "d.npz"
    shape = network(game)
    Weights(shape, drawn_weights(shape), {"done": 3}).save(file)
    agent = make_agent(f"dqn(file={file})")
    assert isinstance(agent, Dqn) and agent.digest == Weights.read(file)["digest"] == Weights.load(file).digest
    assert f"digest={agent.digest}" in agent.full_text()
    position = game.start(5)
    decision = agent.start(game).act(position)
    values = np.empty((1, 4))
    value_many(game.kernels, shape.header(), drawn_weights(shape), position.state[None], values)
    assert agent.value_unit(game).scale == shape.unit == 2.0
    legal = position.legal_actions()
    assert decision.action == values[0].argmax() and decision.values[legal].tolist() == values[0][legal].tolist()
    record = play_match(MatchSpec(game.full_text(), (agent.full_text(),), 1))
    assert record.scores[0] > 0
    with pytest.raises(UserError, match="must have the digest 0123, got"):
        make_agent(f"dqn(file={file},digest=0123)").start(game)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dqn(file=none.npz)", "must be a file"),
        ("dqn(digest=0123)", "must belong to a file"),
        ("dqn(layers=1)", "layers must be sizes"),
        ("dqn(layers=12.x)", "layers must be sizes"),
        ("dqn(input=picture)", "must be one of"),
    ],
)
def test_agents_that_cannot_be_are_refused(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        make_agent(text)


@pytest.mark.parametrize(
    ("game", "changes", "reason"),
    [
        ("nim", {}, "three values"),
        ("spe_ed(players=2)", {}, "dqn needs"),
        ("yavalath(players=3)", {}, "at most two seats"),
        ("2048", {"layers": (10_000, 10_000)}, "at most 50,000,000 weights"),
    ],
)
def test_games_that_cannot_be_learned_are_refused(game: str, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        network(make_game(game), **changes).check()


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    game, file = make_game("2048(size=3)"), tmp_path / "d.npz"
    shape = network(game)
    Weights(shape, drawn_weights(shape), {"done": 3}).save(file)
    whole = file.read_bytes()
    with pytest.raises(UserError, match=r"is for 2048\(size=3\), got 2048"):
        make_agent(f"dqn(file={file})").require(make_game("2048"))
    with pytest.raises(UserError, match="is no checkpoint"):
        Weights.load(file, with_state=True)
    for place in range(40, len(whole), len(whole) // 29):  # a damaged byte is noticed, or is one of an archive's names
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        with contextlib.suppress(UserError):
            assert Weights.load(file).weights.tobytes() == drawn_weights(shape).tobytes()
    for damaged in (b"", b"no archive", whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        with pytest.raises(UserError, match="undamaged"):
            make_agent(f"dqn(file={file})")
    np.savez(file, config=np.array('{"format": 1}'))
    with pytest.raises(UserError, match="file that `turnier train GAME dqn` wrote"):
        make_agent(f"dqn(file={file})")
