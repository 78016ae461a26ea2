"""Does it pay if many games wait for each other, so that a residual network evaluates their leaves in one batch?

\b
The same positions go through the same network: one by one in the compiled kernel that plays, and in batches through
jax and through NumPy's matrix products. Needs the extra deep. Everything runs on one core; times are CPU time.

\b
Examples:
    python studies/batched_leaves.py
    python studies/batched_leaves.py --game "othello(size=6)" --blocks 4 --filters 64
    OPENBLAS_NUM_THREADS=1 python studies/batched_leaves.py --seconds 2
"""

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from turnier.agents.residual.kernels import HEADS, say_many, see_lessons
from turnier.agents.residual.network import Network
from turnier.core.errors import require_extra
from turnier.core.number_text import number
from turnier.core.terminal.console import Console
from turnier.games.game import Game
from turnier.games.registry import make_game
from turnier.studies.scripts.script import run_script

BATCHES = (1, 4, 16, 64, 256)


def positions_of(game: Game, count: int) -> Any:
    """Returns states of games at random, [count, state_words]."""
    random, states, position = np.random.default_rng(1), list[Any](), game.start(1)
    while len(states) < count:
        position = game.start(1) if position.over else position
        states.append(position.state)
        position = position.play(int(random.choice(position.legal_actions())))
    return np.array(states)


def seen_of(network: Network, states: Any) -> tuple[Any, Any]:
    """Returns the boards from the view of the seats to move, [n, cells], and whether that is the second seat, [n]."""
    game, n = network.game, len(states)
    seen, second = np.empty((n, game.num_cells), np.int8), np.empty(n, np.int8)
    legal, wanted = np.empty((n, game.num_actions), np.int8), np.empty((n, game.num_actions), np.float32)
    nothing = np.zeros(n + 1, np.int64)
    see_lessons(
        game.kernels, network.header(), states, nothing, np.empty(0, np.float32), np.arange(n), nothing[:n],
        game.symmetries(), network.turned_actions, seen, second, legal, wanted,
    )  # fmt: skip
    return seen, second


def say_by_products(network: Network, parts: list[Any], seen: Any, second: Any) -> tuple[Any, Any]:
    """Returns values, [n], and logits, [n, actions]; each convolution is one matrix product for the batch."""
    n, cells = seen.shape
    near = np.minimum(network.near[:cells], cells)
    turn = np.broadcast_to(second[:, None], seen.shape)
    layer = np.stack([seen == 1, seen == 2, np.ones_like(seen), turn], axis=2).astype(np.float32)

    def convolve(number: int, layer: Any) -> Any:
        matrix, bias = parts[2 * number], parts[2 * number + 1]
        if len(matrix) > 1:
            around = np.concatenate([layer, np.zeros((n, 1, layer.shape[2]), np.float32)], axis=1)
            layer = around[:, near].reshape(n, cells, -1)
        return layer @ matrix.reshape(-1, matrix.shape[2]) + bias

    layer = np.maximum(convolve(0, layer), 0)
    for block in range(network.blocks):
        inner = np.maximum(convolve(1 + 2 * block, layer), 0)
        layer = np.maximum(layer + convolve(2 + 2 * block, inner), 0)
    heads = np.maximum(convolve(1 + 2 * network.blocks, layer), 0)
    policy, value = heads[..., :HEADS].reshape(n, -1), heads[..., HEADS:].reshape(n, -1)
    hidden = np.maximum(value @ parts[-4] + parts[-3], 0)
    return np.tanh(hidden @ parts[-2] + parts[-1])[:, 0], policy @ parts[-6] + parts[-5]


def ways(network: Network, states: Any) -> Iterator[tuple[str, int, Callable[[], tuple[Any, Any]]]]:
    """Yields ways to evaluate all positions: a name, a batch size, and a function returning values and logits."""
    from turnier.agents.residual.gradient import saying

    weights = network.new_weights(1) + np.random.default_rng(1).normal(0, 0.05, network.size).astype(np.float32)
    settings, (seen, second), n = network.settings(weights), seen_of(network, states), len(states)
    values, logits = np.empty(n), np.empty((n, network.game.num_actions), np.float32)
    words, table = settings.view(np.int64), settings.view(np.float32)

    def one_by_one() -> tuple[Any, Any]:
        say_many(network.game.kernels, words, table, states, values, logits)
        return values, logits

    def batched(say: Callable[[Any, Any], tuple[Any, Any]], size: int) -> Callable[[], tuple[Any, Any]]:
        def all_batches() -> tuple[Any, Any]:
            said = [say(seen[i : i + size], second[i : i + size]) for i in range(0, n, size)]
            one, other = zip(*said, strict=True)
            return np.concatenate(one), np.concatenate(other)

        return all_batches

    yield "compiled kernel", 1, one_by_one
    parts = network.parts(weights)
    for size in BATCHES:
        yield "jax", size, batched(lambda seen, second: saying(network)(weights, seen, second), size)
    for size in BATCHES:
        yield "NumPy", size, batched(lambda seen, second: say_by_products(network, parts, seen, second), size)


def fastest(way: Callable[[], Any], seconds: float) -> float:
    """Returns the least CPU time of a call, in `seconds` of repetitions."""
    least, ends = np.inf, time.process_time() + seconds
    while time.process_time() < ends:
        began = time.process_time()
        way()
        least = min(least, time.process_time() - began)
    return float(least)


def main(
    game: Annotated[str, typer.Option(help="a two-seat game on a grid")] = "connect_four",
    blocks: Annotated[int, typer.Option(min=0, max=40)] = 2,
    filters: Annotated[int, typer.Option(min=16, max=512, help="a multiple of 16")] = 32,
    seconds: Annotated[float, typer.Option(min=0.01, help="seconds of CPU time for each way")] = 1.0,
) -> None:
    require_extra("to compare with jax", "deep", "jax", "optax")
    network = Network(make_game(game), blocks, filters)
    network.check()
    states = positions_of(network.game, BATCHES[-1])
    table = Table(title=f"{game}, {blocks} blocks of {filters} filters")
    for heading in ("way", "batch", "positions/s", "times the kernel's"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    expected, least = None, np.inf
    for name, batch, way in ways(network, states):
        said = way()
        expected = expected or (said[0].copy(), said[1].copy())
        for own, known in zip(said, expected, strict=True):
            np.testing.assert_allclose(own, known, atol=1e-3)
        took = fastest(way, seconds)
        least = took if name == "compiled kernel" else least
        table.add_row(name, str(batch), number(len(states) / took), f"{least / took:.2f}")
    Console().print(table)


if __name__ == "__main__":
    run_script(main, __doc__)
