"""`turnier train`: which way to train the options mean; each has a module of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from turnier.commands.options import (
    DEFAULT_URL,
    EXECUTOR,
    AddressOption,
    ExecutorOption,
    StoreOption,
    WorkersOption,
    writable_file,
)
from turnier.commands.training.deep import train_deep
from turnier.commands.training.ntuple import train_ntuple
from turnier.commands.training.self_play import train_by_search
from turnier.core.errors import UserError
from turnier.core.text_form import parse

DEEP = "dqn"  # the network that is trained by gradient


def train(
    game: Annotated[str, typer.Argument(help="a game with a board, such as 2048 or yavalath")],
    out: Annotated[
        Path, typer.Option(help="the file of weights; an existing one is trained further", callback=writable_file)
    ],
    evaluator: Annotated[
        str,
        typer.Argument(
            help='the network, such as "ntuple(network=4x6)" or "dqn(layers=128.64)", or for --self-play the search;'
            " --hours can choose one for 2048"
        ),
    ] = "",
    games: Annotated[
        int | None,
        typer.Option(
            help="games in all, including those of earlier runs; by default 10,000", min=0, show_default=False
        ),
    ] = None,
    hours: Annotated[
        float, typer.Option(help="hours in all, including those of earlier runs; 0 = as the games take", min=0)
    ] = 0.0,
    learning: Annotated[
        str,
        typer.Option(
            help='the method, such as "td(alpha=0.1,coherence=false)"; by default td, by --hours, self_play or deep_q'
        ),
    ] = "",
    self_play: Annotated[
        bool, typer.Option("--self-play", help="learn values and a policy from games of a search with them")
    ] = False,
    begins: Annotated[
        str, typer.Option("--from", help="weights of such a network to begin with, or the mean of some: a.npz,b.npz")
    ] = "",
    seed: Annotated[
        int, typer.Option(help="same seed and one thread, same weights; --self-play: whatever plays", min=0)
    ] = 1,
    threads: Annotated[int, typer.Option(help="threads that learn at once and share the weights", min=1)] = 1,
    every: Annotated[int, typer.Option(help="games per point of the learning curve", min=1)] = 1000,
    evaluate_every: Annotated[int, typer.Option(help="games between two evaluations, 0 = none", min=0)] = 0,
    against: Annotated[str, typer.Option(help="opponent of evaluations in games of several seats; default: MCTS")] = "",
    evaluation_games: Annotated[
        int, typer.Option(help="games per evaluation, in all seat orders; 0 = 100, or as the training began", min=0)
    ] = 0,
    evaluation_workers: Annotated[int, typer.Option(help="threads that evaluate during training", min=1)] = 1,
    plot: Annotated[Path | None, typer.Option(help="write a picture of the curve, such as curve.png")] = None,
    store: StoreOption = DEFAULT_URL,
    executor: ExecutorOption = EXECUTOR,
    workers: WorkersOption = None,
    address: AddressOption = None,
) -> None:
    """Train n-tuple networks by self-play, or a deep network.

    The weights go into a file, the learning curve into the store, and so do the games of evaluations, in which the
    greedy agent plays with the weights of that moment, alone or against another agent. Repeat the command to resume a
    training that was stopped.

    With --self-play a search, puct, plays with the networks so far, on all workers, and they learn from what it found
    (AlphaZero's loop): the file holds checkpoints, and beside it FILE.values.npz and FILE.policy.npz are written to
    play with. Each evaluated checkpoint also plays the best one before, and all are rated. Around residual (the extra
    `deep`) a deep network learns both, and FILE.network.npz plays.

    With the network dqn (the extra `deep`) a deep network learns from a memory of moves: the file holds checkpoints
    and plays, dqn(file=FILE).

    \b
    Examples:
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out weights.npz
      turnier train 2048 "ntuple(network=4x6)" --games 10000 --out w.npz --evaluate-every 2000 --plot curve.png
      turnier train tictactoe ntuple --games 20000 --out t.npz --evaluate-every 5000 --against random
      turnier train yavalath "ntuple(tuples=100,length=7)" --games 25000 --out y.npz --evaluate-every 5000 \\
        --against "mcts(iterations=10000)"
      turnier train 2048 --hours 2 --threads 2 --out strong.npz
      turnier train 2048 "ntuple(network=4x6)" --from a.npz,b.npz --games 0 --out mean.npz
      turnier train tictactoe "puct(iterations=30,selection=gumbel,evaluator=ntuple)" --self-play --games 2000 \\
        --out z.npz --evaluate-every 1000 --against random
    """
    is_deep = bool(evaluator) and parse(evaluator).name == DEEP
    settings: dict[str, Any] = {"out": out, "learning": learning, "seed": seed, "every": every}
    settings |= {"evaluate_every": evaluate_every, "against": against}
    counted = {"games": 10_000 if games is None else games, "evaluation_games": evaluation_games or 100}
    of_others: dict[str, object] = {"--hours": hours, "--from": begins, "--threads": threads - 1}
    if self_play:
        _refuse("--self-play", of_others | {"--plot": plot, "--evaluation-workers": evaluation_workers - 1})
        where = executor, workers, address
        train_by_search(game, evaluator, store=store, where=where, **settings, **counted)
        return
    where_to_play = {"--executor": executor != EXECUTOR, "--workers": workers, "--address": address}
    _refuse("a training without --self-play", where_to_play)
    if plot:
        from turnier.dashboards.figures.charts import require_picture

        require_picture(plot)
    if is_deep:
        _refuse("dqn", of_others)
        settings["evaluation_workers"] = evaluation_workers
        train_deep(game, evaluator, store=store, plot=plot, **settings, **counted)
        return
    settings |= {"games": games, "hours": hours, "begins": begins, "threads": threads}
    settings |= {"evaluation_games": evaluation_games, "evaluation_workers": evaluation_workers}
    train_ntuple(game, evaluator, store=store, plot=plot, **settings)


def _refuse(training: str, given: Mapping[str, object]) -> None:
    """Raises UserError where an option was given that is of other ways to train."""
    for name, value in given.items():
        if value:
            raise UserError(f"{training} takes no {name}; leave it out.")
