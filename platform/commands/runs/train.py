"""`turnier train`: trains an n-tuple network into a file, and resumes where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from turnier.commands.options import DEFAULT_URL, StoreOption


def train(
    game: Annotated[str, typer.Argument(help="a game with a board, such as 2048 or yavalath")],
    evaluator: Annotated[str, typer.Argument(help='the network, such as "ntuple(network=4x6)"')],
    out: Annotated[Path, typer.Option(help="the file of weights; an existing one is trained further")],
    games: Annotated[int, typer.Option(help="games in all, including those of earlier runs", min=1)] = 10_000,
    learning: Annotated[str, typer.Option(help='the method, such as "td(alpha=0.1,coherence=false)"')] = "td",
    seed: Annotated[int, typer.Option(help="same seed and one thread, same weights", min=0)] = 1,
    threads: Annotated[int, typer.Option(help="threads that learn at once and share the weights", min=1)] = 1,
    every: Annotated[int, typer.Option(help="games per point of the learning curve", min=1)] = 1000,
    evaluate_every: Annotated[int, typer.Option(help="games between two evaluations, 0 = none", min=0)] = 0,
    against: Annotated[str, typer.Option(help="opponent of evaluations in games of several seats; default: MCTS")] = "",
    evaluation_games: Annotated[int, typer.Option(help="games per evaluation, in all seat orders", min=1)] = 10,
    evaluation_workers: Annotated[int, typer.Option(help="threads that evaluate during training", min=1)] = 1,
    plot: Annotated[Path | None, typer.Option(help="write a picture of the curve, such as curve.png")] = None,
    store: StoreOption = DEFAULT_URL,
) -> None:
    """Train an n-tuple network by self-play.

    The weights go into a file, the learning curve into the store, and so do the games of evaluations, in which the
    greedy agent plays with the weights of that moment, alone or against another agent. Repeat the command to resume a
    training that was stopped.

    \b
    Examples:
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out weights.npz
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out w.npz --evaluate-every 2000 --plot curve.png
      turnier train yavalath "ntuple(tuples=100,length=7)" --learning "td(epsilon=0.1)" --games 25000 --out y.npz \\
        --evaluate-every 5000 --against "mcts(iterations=10000)"
    """
    from turnier.commands.runs.shown_training import make_evaluating, make_training, show_training
    from turnier.results.store.store import Store

    evaluating = make_evaluating(game, evaluate_every, evaluation_games, against)
    training = make_training(game, evaluator, learning, out, games, seed, every)
    with Store.open(store) as results:
        show_training(Console(), results, training, evaluating, threads, evaluation_workers, plot)
