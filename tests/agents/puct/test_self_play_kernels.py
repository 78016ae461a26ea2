"""Games of self-play and what networks learn from their positions: replayed, and against plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.agents.ntuple.naive_learning import F32, NaiveNetwork
from turnier.agents.mcts.tree import new_tree
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.layout import new_table
from turnier.agents.ntuple.network_kernels import AT_END
from turnier.agents.ntuple.weights import evaluator_weights
from turnier.agents.puct.agent import search_all
from turnier.agents.puct.learning_kernels import learn_positions
from turnier.agents.puct.search import PRIOR
from turnier.agents.puct.self_play_kernels import NO_ROOM, draw_gamma, play_by_search, set_noise
from turnier.agents.registry import EVALUATORS, make_agent
from turnier.core.kernel import JIT
from turnier.core.rng import stream
from turnier.games.game import Game, Position
from turnier.games.registry import make_game
from turnier.runs.self_play.games import Networks, seat_with

GAMES = {
    "tictactoe": "ntuple(tuples=4,length=3)",
    "othello(size=4)": "ntuple(tuples=3,length=3)",
    "yavalath(size=3,players=3)": "ntuple(tuples=4,length=3,symmetric=false)",
}


def network_of(game: Game, text: str) -> Any:
    evaluator = EVALUATORS.make(text)
    assert isinstance(evaluator, NTuple)
    return evaluator.network_for(game)


def played(
    game: Game, agent: str, seed: int, choices: tuple[float, ...], room: int = 200
) -> tuple[int, Any, Any, Any, Any, Any]:
    """Returns the moves of a game around an empty network, and what is known of each."""
    made = make_agent(agent)
    values = evaluator_weights(made.evaluator.network_for(game), None)  # type: ignore[attr-defined]
    seat = seat_with(made.full_text(), game, Networks(values, np.empty(0)))
    states, found, ends = np.zeros((room, game.state_words), np.int64), np.zeros(room), np.zeros(room, np.int64)
    shares, returns = np.zeros(room * game.kernels.max_choices, np.float32), np.zeros(game.num_seats)
    moves = play_by_search(
        game.kernels, seat.evaluator, seat.settings, np.array(choices, np.float64), game.new_state(), stream(seed),
        states, found, ends, shares, returns,
    )  # fmt: skip
    return moves, states, found, ends, shares, returns


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
@pytest.mark.parametrize("game_text", GAMES)
def test_a_game_is_played_move_by_move(game_text: str, selection: str) -> None:
    """Each state follows from the one before; fully searched moves teach shares of all legal actions."""
    game = make_game(game_text)
    agent = f"puct(iterations=20,solver=true,selection={selection},evaluator={GAMES[game_text]})"
    moves, states, found, ends, shares, returns = played(game, agent, 3, (1.0, 5, 4, 0, 1))
    assert moves > 3
    position = game.start()
    for i in range(moves):
        assert (position.state == states[i]).all()
        legal = position.legal_actions()
        own = shares[ends[i - 1] if i else 0 : ends[i]]
        assert len(own) in ((0, len(legal)) if len(legal) > 1 else (0,))  # nothing where the search proved no win
        assert math.isnan(found[i]) == (len(legal) == 1)
        assert not own.size or (own.sum() == pytest.approx(1, abs=1e-5) and own.min() >= 0)
        assert math.isnan(found[i]) or -1 <= found[i] <= 1
        after = [position.play(action) for action in legal]
        position = next(p for p in after if i + 1 == moves or (p.state == states[i + 1]).all())
    assert np.count_nonzero(np.diff(ends[:moves])) > moves / 2
    assert any(p.over and list(p.returns) == list(returns) for p in after)


def test_the_same_stream_gives_the_same_game_and_room_is_asked_for() -> None:
    game, agent = make_game("tictactoe"), "puct(iterations=20,selection=gumbel,evaluator=ntuple)"
    games = [played(game, agent, seed, (0.5, 5, 4, 0, 1)) for seed in (1, 1, 2)]
    for one, other in zip(games[0], games[1], strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert not np.array_equal(games[0][1], games[2][1])
    assert played(game, agent, 1, (0.5, 5, 4, 0, 1), room=games[0][0] - 1)[0] == NO_ROOM


def test_a_share_of_the_moves_is_searched_fully() -> None:
    game, agent = make_game("othello(size=4)"), "puct(iterations=20,selection=gumbel,evaluator=ntuple)"
    for share in (0.0, 0.25):
        teaching = [np.count_nonzero(np.diff(g[3][: g[0]])) / g[0] for g in (
            played(game, agent, seed, (share, 5, 0, 0, 1)) for seed in range(100 if JIT else 2)
        )]  # fmt: skip
        assert np.mean(teaching) < 2 * share if share else not any(teaching)
        assert share == 0 or np.mean(teaching) > share / 2 or not JIT


def test_games_begin_with_random_plies_that_are_not_learned_from() -> None:
    """Up to as many as asked for, of any legal action, and never so many that nothing is left to search."""
    game, agent = make_game("tictactoe"), "puct(iterations=20,selection=gumbel,evaluator=ntuple)"
    stones, boards = [], set()
    for seed in range(200 if JIT else 20):
        moves, states, *_ = played(game, agent, seed, (0.5, 5, 4, 3, 1))
        assert moves > 0
        position = game.position(states[0], np.zeros(2))
        assert not position.over
        stones.append(9 - len(position.legal_actions()))
        boards.add(states[0].tobytes())
    assert set(stones) == {0, 1, 2, 3} and len(boards) > 9
    some = []
    for seed in range(200 if JIT else 20):
        moves, states, *_ = played(game, agent, seed, (0.5, 5, 4, 100, 0.5))
        assert moves > 0 and not game.position(states[0], np.zeros(2)).over
        some.append(len(game.position(states[0], np.zeros(2)).legal_actions()) < 9)
    assert any(some) and not all(some)
    assert not JIT or 0.3 < np.mean(some) < 0.6  # half of them, less those that draw an opening of 0 plies


def lessons(game: Game, number: int) -> tuple[list[Position], Any, list[Any]]:
    """Returns positions of random play, targets of seat 0 or of all seats, and shares that the policy is to learn."""
    random, positions = np.random.default_rng(7), list[Position]()
    position = game.start()
    while len(positions) < number:
        position = game.start() if position.over else position
        positions.append(position)
        position = position.play(int(random.choice(position.legal_actions())))
    shares = [random.dirichlet(np.ones(len(p.legal_actions()))).astype(np.float32) for p in positions]
    shares[1] = shares[1][:0]  # one that teaches values only
    outputs = 1 if game.num_seats == 2 else game.num_seats
    return positions, random.uniform(-1, 1, (number, outputs)).astype(np.float32), shares


def worth(game: Game, net: NaiveNetwork, position: Position, mover: int) -> float:
    """What a state after an action is said to be worth to the mover, from -1 to 1."""
    if position.over:
        return float(position.returns[mover]) / game.kernels.max_return
    if net.network.outputs == 1:
        value = float(net.value(game, position)) * (1 if mover == 0 else -1)
    else:
        value = float(net.value(game, position, mover))
    return min(max(value / game.kernels.max_return, -0.999), 0.999)


def learn_plainly(game: Game, nets: tuple[NaiveNetwork, NaiveNetwork], lesson: Any, rates: Any) -> None:
    """What `learn_positions` does, entry by entry."""
    position, target, shares = lesson
    mover, coherent = position.to_move, bool(rates[2])
    for output in range(nets[0].network.outputs):
        value, entries = nets[0].value(game, position, output), nets[0].features(game, position, output)
        for entry in entries:
            nets[0].add(entry, F32(rates[0] / len(entries)) * (target[output] - value), coherent)
    if not len(shares):
        return
    output = mover if nets[1].network.outputs > 1 else 0

    def features(of: Position) -> list[Any]:
        return [(mover, *entry[1:]) for entry in nets[1].features(game, of, output)]

    ahead = [position.play(action) for action in position.legal_actions()]
    board, after = features(position), [features(each) for each in ahead]
    own_values = [worth(game, nets[0], each, mover) for each in ahead]
    values = nets[1].values
    changed = [[k for k, entry in enumerate(own) if entry != board[k]] for own in after]
    logits = [
        (value - max(own_values)) / (2 * rates[3]) + sum(float(values[own[k]]) - float(values[board[k]]) for k in where)
        for value, own, where in zip(own_values, after, changed, strict=True)
    ]
    powers = np.exp(np.array(logits) - max(logits))
    taken = np.zeros(len(board), np.float32)
    for own, where, wanted, power in zip(after, changed, shares, powers, strict=True):
        change = F32(rates[1] * (float(wanted) - power / powers.sum()) / max(len(where), 1))
        for k in where:
            nets[1].add(own[k], change, coherent)
            taken[k] -= change
    for entry, change in zip(board, taken, strict=True):
        if change:
            nets[1].add(entry, change, coherent)


@pytest.mark.parametrize("coherent", [True, False])
@pytest.mark.parametrize("game_text", GAMES)
def test_learning_equals_a_plain_one(game_text: str, coherent: bool) -> None:
    """All entries of both networks after some positions, one of them twice."""
    game = make_game(game_text)
    network = network_of(game, GAMES[game_text])
    layout = network.layout(coherent)
    positions, targets, shares = lessons(game, 12)
    rates = np.array([0.7, 0.9, coherent, 0.3])
    tables = [new_table(layout.size) for _ in range(2)]
    order, ends = np.array([*range(12), 3]), np.cumsum([0, *map(len, shares)])
    states = np.array([position.state for position in positions])
    words = network.words(layout)
    words[AT_END] = 1
    learn_positions(game.kernels, words, *tables, rates, states, targets, ends, np.concatenate(shares), order)
    nets = NaiveNetwork(network), NaiveNetwork(network)
    for i in order:
        learn_plainly(game, nets, (positions[i], targets[i], shares[i]), rates)
    bases = np.cumsum([0] + [network.values ** len(cells) for cells in network.tuples])
    for net, table in zip(nets, tables, strict=True):
        columns, touched = layout.columns(table), 0
        for (phase, output, t, cells), value in net.values.items():
            number = (phase * network.outputs + output) * bases[-1] + bases[t]
            number += sum(int(cell) * network.values**i for i, cell in enumerate(cells))
            assert columns[0][number] == pytest.approx(float(value), rel=1e-4, abs=1e-6)
            touched += columns[0][number] != 0
            if coherent:
                entry = (phase, output, t, cells)
                assert columns[1][number] == pytest.approx(float(net.signed[entry]), rel=1e-4, abs=1e-6)
                assert columns[2][number] == pytest.approx(float(net.absolute[entry]), rel=1e-4, abs=1e-6)
        assert touched == np.count_nonzero(columns[0]) > 10


def test_what_is_taught_again_and_again_is_known() -> None:
    """The policy's priors become the shares, the value the target."""
    game = make_game("tictactoe")
    network = network_of(game, "ntuple(tuples=20,length=5)")
    layout = network.layout(coherent=False)
    words, values, policy = network.words(layout), new_table(layout.size), new_table(layout.size)
    words[AT_END] = 1
    position = game.start().play(0)
    legal = position.legal_actions()
    wanted = np.array([0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0], np.float32)  # symmetric, as the board is
    learn_positions(
        game.kernels, words, values, policy, np.array([0.5, 1.0, 0.0, 1e9]), position.state[None],
        np.array([[0.25]], np.float32), np.array([0, len(legal)]), wanted, np.zeros(2000 if JIT else 200, np.int64),
    )  # fmt: skip
    known = NaiveNetwork(network)
    size = network.entries_of_output
    bases = np.cumsum([0] + [network.values ** len(cells) for cells in network.tuples])

    def total(table: Any, of: Position, phase: int) -> float:
        places = [
            phase * size + bases[t] + sum(cell * network.values**i for i, cell in enumerate(cells))
            for _, _, t, cells in known.features(game, of, 0)
        ]
        return float(table[places].astype(np.float64).sum())

    assert total(values, position, 1) == pytest.approx(0.25, abs=1e-4)
    logits = np.array([total(policy, position.play(action), 1) for action in legal])
    priors = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert priors == pytest.approx(wanted, abs=0.02 if JIT else 0.1)


def test_noise_has_its_distribution() -> None:
    """Moments of a hundred thousand draws: Gumbel has mean 0.5772 and variance pi² / 6, Dirichlet shares 1 / n."""
    rng, noise, draws = stream(3), np.empty(5), 20_000 if JIT else 200
    gumbel, shares = np.empty((draws, 5)), np.empty((draws, 5))
    for row in gumbel:
        set_noise(5, True, rng, noise)
        row[:] = noise
    for row in shares:
        set_noise(5, False, rng, noise)
        row[:] = noise
    error = 5 / math.sqrt(gumbel.size)  # five standard errors of a variance near 1
    assert gumbel.mean() == pytest.approx(np.euler_gamma, abs=1.3 * error)
    assert gumbel.var() == pytest.approx(math.pi**2 / 6, abs=4 * error)
    assert shares.sum(axis=1) == pytest.approx(np.ones(draws))
    assert shares.mean(axis=0) == pytest.approx(np.full(5, 0.2), abs=error)
    assert shares.var(axis=0) == pytest.approx(np.full(5, 0.2 * 0.8 / 11), rel=0.05 if JIT else 0.5)
    small = np.array([draw_gamma(0.3, rng) for _ in range(draws)])
    assert (small.mean(), small.var()) == pytest.approx((0.3, 0.3), rel=0.1 if JIT else 0.9)


def test_noise_takes_a_quarter_of_the_priors() -> None:
    game = make_game("connect_four")
    agent = make_agent("puct(iterations=1,evaluator=ntuple)")
    seat = agent.kernels(game)  # type: ignore[attr-defined]
    priors = []
    for noise in (np.zeros(7), np.eye(7)[2]):
        tree, position = new_tree(100, 2), game.start()
        search_all(
            game.kernels, seat.evaluator, seat.settings, tree, position.state, position.returns, stream(1),
            np.empty(2), noise,
        )  # fmt: skip
        priors.append(tree.stats[1:8, PRIOR].copy())
    assert priors[0] == pytest.approx(np.full(7, 1 / 7))
    assert priors[1] == pytest.approx(0.75 / 7 + 0.25 * np.eye(7)[2])
