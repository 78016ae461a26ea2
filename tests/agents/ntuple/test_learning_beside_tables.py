"""Learning beside formation tables: what they play is not learned from, and its rewards count for the board before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.agents.ntuple.naive_learning import NaiveNetwork, play_and_learn
from turnier.agents.formations.formation import Formation
from turnier.agents.formations.lookup import FIVE, SIX, followed_action
from turnier.agents.formations.solver import Solver
from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import td_of
from turnier.agents.ntuple.training import Plan, TdLoop
from turnier.agents.registry import EVALUATORS
from turnier.core.errors import UserError
from turnier.core.kernel import JIT
from turnier.core.rng import STREAM_STEP, seed_stream
from turnier.games.game import Position
from turnier.games.registry import make_game
from turnier.games.twenty48.rules import BOARD

NETWORK = "ntuple(network=cells,cells=0.1.2/4.5.6/0.1.4.5)"
UNPACKED = "ntuple(network=cells,cells=0.1.2,symmetric=false)"
# A block of 3 x 2 in which 8s suffice, so that the first games have many such boards.
LOW = Formation(
    (0, 1, 2, 4, 5, 6),
    (2, 4, 5, 6),
    3,
    3,
    (),
    (-1, -1, -1, 2, -1, -1, -1, 2, 2, 2, 2, 2, 2, 2, 2, 2),
    (((8, 2), (9, 2)),),
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "low.tables"
    Solver(path, (LOW,), 2).solve(lambda done: None, lambda done: None)
    return path


def training(learning: str, game: str = "2048", network: str = NETWORK) -> TdLoop:
    evaluator = EVALUATORS.make(network)
    assert isinstance(evaluator, NTuple)
    return TdLoop(Plan(make_game(game), evaluator, td_of(learning)), Path("none.npz"), 10)


@pytest.mark.skipif(not JIT, reason="solves a table")
@pytest.mark.parametrize(
    "learning", ["coherence=false,alpha=0.1", "trace=0.6,horizon=3,delayed=true", "alpha=0.5,restart=20"]
)
def test_learning_beside_tables_is_that_of_the_plain_oracle(table: Path, learning: str) -> None:
    run = training(f"td({learning},table={table})")
    td, words, least, chances = run.plan.learning, run.plan.learning.formations(), np.array([FIVE, SIX]), np.empty(8)
    naive, passes, games = NaiveNetwork(run.network, run.initial), [0], 6

    def passed(position: Position) -> int:
        board = np.uint64(position.state[BOARD])
        action = int(followed_action(words, words.view(np.uint16), least, board, chances))
        passes[0] += action >= 0
        return action

    scores, moves = run.play(0, games)
    for number in range(games):
        stream = np.empty(4, np.uint64)
        with np.errstate(over="ignore"):
            seed_stream(run.key + np.uint64(number) * STREAM_STEP, stream)
        late = td.horizon * td.delayed
        returns = play_and_learn(
            naive, run.plan.game, stream, td.alpha, 1.0, td.trace, td.coherence, td.restart, late, passed=passed
        )
        assert list(scores[number]) == returns, number
    assert passes[0] > 5 and moves > passes[0]
    assert training(f"td({learning})").play(0, games)[0].tolist() != scores.tolist()
    bases = np.cumsum([0] + [run.network.values ** len(cells) for cells in run.network.tuples])
    assert any(naive.values.values())
    for (_, _, t, cells), value in naive.values.items():
        place = sum(v * run.network.values**i for i, v in enumerate(cells)) + bases[t]
        assert run.columns[0][place] == pytest.approx(value, rel=1e-4, abs=1e-3)


def test_the_digest_of_the_tables_belongs_to_the_method(table: Path) -> None:
    learning = td_of(f"td(table={table})")
    assert learning.digest and learning.replace(table="", digest="") == td_of("td")
    with pytest.raises(UserError, match="td: a digest must belong to a table, got none"):
        td_of("td(digest=0123456789abcdef)")
    with pytest.raises(UserError, match="must have the digest"):
        td_of(f"td(table={table},digest=0123456789abcdef)").formations()


@pytest.mark.parametrize(
    ("changes", "game", "network", "sentence"),
    [
        (",method=1", "2048", NETWORK, "a table must have method=2, .* got method=1"),
        (",once=true", "2048", NETWORK, "a table must have method=2, .* once=true"),
        (",trace=0.5", "2048", NETWORK, "td with a table must learn 4x4 boards of 2048"),
        ("", "2048(size=3)", "ntuple(network=cells,cells=0.1.2)", "td with a table must learn 4x4 boards of 2048"),
        ("", "2048", UNPACKED, "td with a table must learn 4x4 boards of 2048"),
    ],
)
def test_what_cannot_be_learned_beside_tables_is_a_sentence(
    table: Path, changes: str, game: str, network: str, sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        training(f"td(table={table}{changes})", game, network)
