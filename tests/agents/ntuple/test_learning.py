"""Learning kernels: against a plain-Python oracle, against each other, against solved games, stopped and resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.ntuple.naive_learning import NaiveNetwork, play_and_learn
from turnier.agents.agent import decide
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.layout import Layout
from turnier.agents.ntuple.learn2048 import learn_2048
from turnier.agents.ntuple.learn_games import learn_games
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.registry import AGENTS, EVALUATORS
from turnier.contract.evaluators import estimate
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.core.rng import seed_stream
from turnier.games.game import Position
from turnier.games.registry import make_game

SMALL = "ntuple(network=cells,cells=0.1.2/4.5.6/0.1.4.5)"
ASYMMETRIC = "ntuple(network=cells,cells=0.1.2/1.3,symmetric=false)"
WALK = "ntuple(tuples=2,length=3,symmetric=false)"
STREAM = np.uint64(4 * 0x9E3779B97F4A7C15 % 2**64)


def maker(network: str) -> NTuple:
    evaluator = EVALUATORS.make(network)
    assert isinstance(evaluator, NTuple)
    return evaluator


def training(game: str, network: str, learning: str, games: int = 10, out: Path = Path("none.npz")) -> TdLoop:
    return TdLoop(Plan(make_game(game), maker(network), td_of(learning), every=4), out, games)


def table_of(run: TdLoop) -> Any:
    return np.column_stack(run.columns)


@pytest.mark.parametrize(
    ("game", "network", "learning"),
    [
        ("2048(size=2)", "ntuple(network=cells,cells=0.1.2/1.3)", "td(coherence=false,alpha=0.5)"),
        ("2048(size=2)", "ntuple(network=cells,cells=0.1.2/1.3)", "td(optimism=10,discount=0.9)"),
        (
            "2048(size=2)",
            ASYMMETRIC,
            "td(coherence=false,alpha=0.3,trace=0.7)",
        ),
        ("tictactoe", "ntuple(tuples=4,length=4)", "td(coherence=false,alpha=0.3)"),
        ("tictactoe", "ntuple(tuples=4,length=4,symmetric=false)", "td(alpha=0.3)"),
        ("tictactoe", "ntuple(tuples=4,length=4,symmetric=false)", "td(coherence=false,trace=0.5,discount=0.8)"),
        ("nim(piles=3;4;2)", "ntuple(network=points,tuples=3,length=2)", "td(coherence=false,trace=1)"),
        (
            "yavalath(size=3,players=3)",
            WALK,
            "td(coherence=false,trace=0.5,optimism=1)",
        ),
        ("2048(size=2)", "ntuple(network=cells,cells=0.1.2/1.3,stages=3.4)", "td(alpha=0.5)"),
        ("yavalath(size=3,players=3)", "ntuple(tuples=3,length=3,stages=2)", "td(optimism=1,alpha=0.3)"),
        ("2048(size=2)", "ntuple(network=cells,cells=0.1.2/1.3)", "td(alpha=0.5,restart=2)"),
        ("yavalath(size=3)", "ntuple(tuples=3,length=3)", "td(optimism=1,alpha=0.3,restart=1)"),
        (
            "2048(size=2)",
            "ntuple(network=cells,cells=0.1.2/1.3)",
            "td(optimism=10,plain=0.4,plain_alpha=0.2,alpha_end=0.5)",
        ),
        ("yavalath(size=3)", "ntuple(tuples=3,length=3)", "td(optimism=1,alpha=0.3,plain=0.5)"),
        ("2048(size=2)", ASYMMETRIC, "td(optimism=10,alpha=0.5,trace=0.6,horizon=3,delayed=true,discount=0.9)"),
        ("2048(size=2)", ASYMMETRIC, "td(alpha=0.5,trace=0.6,horizon=2,delayed=true,restart=2)"),
        ("yavalath(size=3,players=3)", WALK, "td(coherence=false,trace=0.5,horizon=4,delayed=true,optimism=1)"),
        ("yavalath(size=3)", "ntuple(tuples=3,length=3)", "td(optimism=1,alpha=0.5,once=true)"),
        ("tictactoe", "ntuple(tuples=4,length=4)", "td(coherence=false,once=true)"),
        ("2048(size=2)", "ntuple(network=cells,cells=0.1.2/1.3)", "td(coherence=false,trace=0.7,alpha=0.3,once=true)"),
        ("2048(size=2)", ASYMMETRIC, "td(alpha=0.5,trace=0.6,horizon=2,delayed=true,once=true)"),
        ("yavalath(size=3)", "ntuple(tuples=3,length=3)", "td(optimism=1,trace=0.5,horizon=2,delayed=true,once=true)"),
        ("tictactoe", "ntuple(tuples=4,length=4)", "td(alpha=0.5,beta=2.7)"),
        ("tictactoe", "ntuple(tuples=4,length=4)", "td(alpha=2,once=true,tanh=true,beta=2.7)"),
        (
            "nim(piles=3;4;2)",
            "ntuple(network=points,tuples=3,length=2)",
            "td(coherence=false,alpha=2,trace=0.5,tanh=true)",
        ),
        ("yavalath(size=3,players=3)", WALK, "td(optimism=0.6,trace=0.5,horizon=3,delayed=true,tanh=true,beta=1)"),
    ],
)
def test_learning_is_that_of_the_plain_oracle(game: str, network: str, learning: str) -> None:
    """The same greedy games, and the same entries afterwards but for rounding."""
    run = training(game, network, learning)
    games = 12
    scores, _ = run.play(0, games)
    made, td = run.plan.game, run.plan.learning
    naive = NaiveNetwork(run.network, run.initial, made.max_return if td.tanh else 0.0, td.beta)
    for number in range(games):
        words = np.empty(4, np.uint64)
        with np.errstate(over="ignore"):
            seed_stream(run.key + np.uint64(number) * STREAM, words)
        alpha = float(td.rates(number, 1, run.games)[0])
        coherent = td.coherence and number >= td.plain_games(run.games)
        late = td.horizon * td.delayed
        returns = play_and_learn(naive, made, words, alpha, td.discount, td.trace, coherent, td.restart, late, td.once)
        assert list(scores[number]) == returns, number
    network, table = run.network, table_of(run)
    bases = np.cumsum([0] + [network.values ** len(cells) for cells in network.tuples])
    assert any(naive.values.values())
    for (phase, output, t, cells), value in naive.values.items():
        place = sum(v * network.values**i for i, v in enumerate(cells)) + bases[t]
        entry = table[(phase * network.outputs + output) * network.entries_of_output + place]
        assert entry[0] == pytest.approx(value, rel=1e-3, abs=1e-5)
        if td.coherence:
            assert entry[2] == pytest.approx(naive.absolute[phase, output, t, cells], rel=1e-3, abs=1e-5)


def learned_digest() -> str:
    """Returns what the compiler must not change: every weight after some games of each way to learn."""
    digest = hashlib.sha256()
    for game, network, learning in (
        ("yavalath(size=3)", "ntuple(tuples=3,length=4)", "td(alpha=0.3,epsilon=0.1)"),
        ("yavalath(size=3,swap=true)", "ntuple(tuples=3,length=3,symmetric=false)", "td(epsilon=0.2,from_random=true)"),
        ("yavalath(size=3,players=3)", WALK, "td(trace=0.5,optimism=1)"),
        ("tictactoe", "ntuple(tuples=3,length=4)", "td(coherence=false,alpha=0.3,restart=2)"),
        ("yavalath(size=3)", "ntuple(tuples=3,length=3)", "td(epsilon=0.2,once=true)"),
        ("tictactoe", "ntuple(tuples=3,length=4)", "td(epsilon=0.2,once=true,tanh=true,beta=2.7,trace=0.5)"),
        ("2048(size=3)", "ntuple(network=cells,cells=0.1.2/1.3.4)", "td(optimism=10,method=1)"),
        ("2048(size=2)", ASYMMETRIC, "td(trace=0.6,horizon=3,delayed=true,epsilon=0.2)"),
        ("2048", "ntuple(network=cells,cells=0.1.2)", "td(trace=0.6,horizon=3,delayed=true,epsilon=0.2,restart=9)"),
    ):
        run = training(game, network, learning)
        scores, moves = run.play(0, 2)
        digest.update(run.table.tobytes() + scores.tobytes() + bytes(str(moves), "ascii"))
    return digest.hexdigest()


def test_the_compiler_changes_no_weight() -> None:
    """Another process with NUMBA_DISABLE_JIT turned around learns the same, bit for bit."""
    root = Path(__file__).resolve().parents[3]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1" if JIT else "0",
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "src"), *filter(None, sys.path)]),
    }
    code = "from tests.agents.ntuple.test_learning import learned_digest; print(learned_digest())"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, cwd=root, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[-1] == learned_digest()


@pytest.mark.parametrize("stages", ["", "5.7"])
@pytest.mark.parametrize(
    "learning",
    [
        "td",
        "td(coherence=false,alpha=0.1)",
        "td(optimism=3000,epsilon=0.1)",
        "td(method=1,discount=0.99,epsilon=0.3,from_random=true,coherence=false,alpha_end=0.1)",
        "td(restart=5)",
        "td(restart=300,method=1,coherence=false,alpha=0.1)",
        "td(optimism=3000,plain=0.5,alpha_end=0.1,hold=0.6)",
        "td(trace=0.5,horizon=3,delayed=true,restart=20)",
        "td(trace=0.7,horizon=4,delayed=true,discount=0.99,epsilon=0.2,coherence=false,alpha=0.1)",
        "td(trace=0.5,horizon=3,delayed=true,epsilon=0.2,from_random=true,method=1)",
    ],
)
def test_the_fused_2048_learns_what_the_generic_kernel_learns(learning: str, stages: str) -> None:
    """Scores, moves and every weight are equal, bit for bit."""
    network = SMALL.replace(")", f",stages={stages})") if stages else SMALL
    fused, generic = (training("2048", network, learning) for _ in range(2))
    generic._kernel = learn_games
    generic._layout = generic.network.layout(generic.plan.learning.coherence, in_quarters=False)
    generic.words, generic.table = generic.network.words(generic._layout), generic.weights().table(generic._layout)
    assert fused._kernel is learn_2048
    games = 6
    (scores, moves), (expected, expected_moves) = fused.play(3, games), generic.play(3, games)
    assert moves == expected_moves > 100 and np.array_equal(scores, expected)
    assert np.array_equal(table_of(fused), table_of(generic)) and np.any(fused.table != fused.initial)
    assert fused.weights().digest == generic.weights().digest
    assert np.array_equal(fused.weights().table(fused._layout), fused.table)


def test_entries_change_once_however_many_images_look_them_up() -> None:
    """After a game only its last board is worth anything: all 8 images look at the one cell in the middle."""
    network = "ntuple(network=cells,cells=0.1.2/4)"
    for once, images in (("true", 1), ("false", 8)):
        run = training("tictactoe", network, f"td(coherence=false,alpha=0.5,once={once})")
        run.play(0, 1)
        assert np.abs(run.columns[0]).max() == pytest.approx(images * 0.5 / run.network.lookups)
    packed = training("2048", SMALL, "td(once=true)")
    assert packed._kernel is learn_games and packed.play(0, 1)[1] > 10


def test_entries_in_quarters_are_ordered_by_the_low_two_bits_of_all_cells_first() -> None:
    """Two blocks of tuples with two and three cells, against texts of bits."""
    layout = Layout(2 * (16**2 + 16**3), quarters=(2, 3))

    def expected(first: int, *values: int) -> int:
        low = "".join(format(value, "04b")[2:] for value in reversed(values))
        high = "".join(format(value, "04b")[:2] for value in reversed(values))
        return first + int(high + low, 2)

    entries = np.array([0, 0x27, 256 + 0x9AB, 4352 + 0xF1, 4352 + 256 + 0x3C6])
    assert layout.places(entries).tolist() == [
        0,
        expected(0, 7, 2),
        expected(256, 0xB, 0xA, 9),
        expected(4352, 1, 0xF),
        expected(4352 + 256, 6, 0xC, 3),
    ]
    assert sorted(layout.places(np.arange(layout.entries))) == list(range(layout.entries))


@pytest.mark.parametrize("network", [SMALL, SMALL.replace(")", ",stages=4.12.15)")])
def test_boards_with_tiles_above_32768_have_the_entries_of_32768(network: str, tmp_path: Path) -> None:
    """The evaluator's packed sum is the generic one, with high tiles too, and in every stage."""
    run = training("2048", network, "td", games=40, out=tmp_path / "w.npz")
    run.run()
    game = run.plan.game
    evaluator = EVALUATORS.make(f"ntuple(file={tmp_path / 'w.npz'})")
    naive = NaiveNetwork(run.network)
    bases = np.cumsum([0] + [run.network.values ** len(cells) for cells in run.network.tuples])

    def expected(position: Position) -> float:
        features = naive.features(game, position, 0)
        block = [phase * run.network.entries_of_output for phase, _, _, _ in features]
        places = [
            first + bases[t] + sum(v * 16**i for i, v in enumerate(cells))
            for first, (_, _, t, cells) in zip(block, features, strict=True)
        ]
        return float(table_of(run)[places, 0].sum())

    kernels = evaluator.kernels(game, 0, 1)
    for tiles in (
        [[2, 4, 8, 16], [65536, 2, 0, 0], [131072, 32768, 4, 0], [2, 2, 4, 8]],
        [[2, 2, 4, 0]] + [[0] * 4] * 3,
    ):
        position = game.position(game.position_from_tiles(tiles))  # type: ignore[attr-defined]
        best = 0.0
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)
            value = after.returns[0] + expected(after)
            best = max(best, value)
            got = estimate(game, kernels, after.state, after.returns, np.zeros(4, np.uint64))[0]
            assert got * game.max_return == pytest.approx(value, rel=1e-5)
        got = estimate(game, kernels, position.state, position.returns, np.zeros(4, np.uint64))[0]
        assert got * game.max_return == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("size", [3, 4])
def test_values_of_the_whole_return_get_no_rewards_on_top(size: int, tmp_path: Path) -> None:
    """Target method 1: as in training, the best action is the one with the largest value after it."""
    run = training(
        f"2048(size={size})", "ntuple(network=cells,cells=0.1.2/1.3)", "td(method=1)", 30, tmp_path / "w.npz"
    )
    run.run()
    game = run.plan.game
    kernels = EVALUATORS.make(f"ntuple(file={tmp_path / 'w.npz'})").kernels(game, 0, 1)
    naive = NaiveNetwork(run.network)
    bases = np.cumsum([0] + [run.network.values ** len(cells) for cells in run.network.tuples])
    position = game.start(seed=2)
    while not position.over:
        values = []
        for action in position.legal_actions():
            after = position.play(action, draw_chance=False)
            features = naive.features(game, after, 0)
            places = [
                bases[t] + sum(v * run.network.values**i for i, v in enumerate(cells)) for _, _, t, cells in features
            ]
            values.append(float(table_of(run)[places, 0].sum()))
            got = estimate(game, kernels, after.state, after.returns, np.zeros(4, np.uint64))[0]
            assert got * game.max_return == pytest.approx(values[-1], rel=1e-5, abs=1e-3)
        got = estimate(game, kernels, position.state, position.returns, np.zeros(4, np.uint64))[0]
        assert got * game.max_return == pytest.approx(max(values), rel=1e-5, abs=1e-3)
        position = position.play(position.legal_actions()[0])
    got = estimate(game, kernels, position.state, position.returns, np.zeros(4, np.uint64))[0]
    assert got * game.max_return == pytest.approx(position.returns[0])


def test_squeezed_values_are_played_as_they_were_learned(tmp_path: Path) -> None:
    """Evaluators and `greedy` squeeze the sums of entries, too, and nobody takes the weights for plain ones."""
    run = training(
        "tictactoe", "ntuple(tuples=4,length=4)", "td(alpha=5,epsilon=0.3,tanh=true)", 60, tmp_path / "w.npz"
    )
    run.run()
    game, naive = run.plan.game, NaiveNetwork(run.network, bound=1.0)
    entries, bases = table_of(run)[:, 0], np.cumsum([0] + [3 ** len(cells) for cells in run.network.tuples])

    def expected(position: Position) -> tuple[float, float]:
        """The sum and the value, to seat 0."""
        places = [
            phase * run.network.entries_of_output + bases[t] + sum(v * 3**i for i, v in enumerate(cells))
            for phase, _, t, cells in naive.features(game, position, 0)
        ]
        total = float(entries[places].sum())
        return total, math.tanh(total)

    agent = AGENTS.make(f"greedy(evaluator=ntuple(file={tmp_path / 'w.npz'}))")
    kernels, position, largest = agent.evaluator.kernels(game, 0, 1), game.start(), 0.0  # type: ignore[attr-defined]
    while not position.over:
        decision, mover = decide(agent.start(game, position.to_move), position), position.to_move
        for action in position.legal_actions():
            after = position.play(action)
            total, value = (0.0, float(after.returns[0])) if after.over else expected(after)
            largest = max(largest, abs(total))
            assert decision.values[action] == pytest.approx(value * (1 - 2 * mover), abs=1e-5)
            got = estimate(game, kernels, after.state, after.returns, np.zeros(4, np.uint64))
            assert got[0] == pytest.approx(value, abs=1e-5) and got[1] == -got[0]
        position = position.play(decision.action)
    assert largest > 1.0, "sums that are no results"
    weights = run.weights()
    plain = dataclasses.replace(weights, training=weights.training | {"learning": "td"})
    assert weights.squeezed and not plain.squeezed and weights.digest != plain.digest


@pytest.mark.parametrize(
    ("game", "learning", "message"),
    [
        ("2048", "td(tanh=true)", "td with tanh must learn a game of two or more seats, got 2048"),
        ("tictactoe", "td(tanh=true,optimism=1)", "must have an optimism between -1 and 1, got 1"),
        ("tictactoe", "td(beta=2,coherence=false)", "beta must be 0 without coherence, got 2.0"),
    ],
)
def test_what_tanh_and_exponential_rates_need(game: str, learning: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        training(game, "ntuple(tuples=2,length=3)", learning).plan.check()


def solved(position: Position, known: dict[bytes, float]) -> float:
    """The value of a tic-tac-toe position for seat 0."""
    if position.over:
        return float(position.returns[0])
    key = position.state.tobytes()
    if key not in known:
        values = [solved(position.play(action), known) for action in position.legal_actions()]
        known[key] = max(values) if position.to_move == 0 else min(values)
    return known[key]


def test_tabular_td_learns_the_solved_values_of_tic_tac_toe() -> None:
    """One tuple of all nine cells is a table of positions: along the principal lines values become exact."""
    run = training(
        "tictactoe",
        "ntuple(network=cells,cells=0.1.2.3.4.5.6.7.8)",
        "td(alpha=0.5,epsilon=0.5,coherence=false)",
        60_000,
    )
    run.play(0, 60_000)
    game, entries = run.plan.game, table_of(run)[:, 0]
    errors, known = [], dict[bytes, float]()
    for first in range(9):
        for second in [None, *range(9)]:
            position = game.start().play(first)
            if second is not None and second not in position.legal_actions():
                continue
            position = position if second is None else position.play(second)
            cells = [game.cell_values(position.state)[list(image)] for image in run.network.symmetries]
            places = [int((c * 3 ** np.arange(9)).sum()) + position.to_move * 3**9 for c in cells]
            errors.append(float(entries[places].sum()) - solved(position, known))
    assert np.max(np.abs(errors)) < 0.05


@pytest.mark.parametrize("stages", ["3.2", "0", "a", "3.3", "16"])
def test_stages_are_ascending_values_of_cells(stages: str) -> None:
    with pytest.raises(UserError, match="stages must"):
        EVALUATORS.make(f"ntuple(stages={stages})").network_for(make_game("2048"))  # type: ignore[attr-defined]
