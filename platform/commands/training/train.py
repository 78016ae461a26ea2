"""`turnier train`: which way to train the options mean; each has a module of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from turnier.arena.workers.where import Where
from turnier.commands.options import (
    DEFAULT_URL,
    StoreOption,
    writable_file,
)
from turnier.commands.place import placed, words_of
from turnier.commands.training.deep import train_deep
from turnier.commands.training.ntuple import train_ntuple
from turnier.commands.training.self_play import train_by_search
from turnier.core.errors import UserError
from turnier.core.text_form import parse

DEEP = "dqn"  # the network that is trained by gradient


@placed
def train(
    game: Annotated[str, typer.Argument(help="a game with a board, such as 2048 or yavalath")],
    out: Annotated[
        Path, typer.Option(help="file for the weights; an existing one is trained further", callback=writable_file)
    ],
    evaluator: Annotated[
        str,
        typer.Argument(
            help='the network, such as "ntuple(network=4x6)" or "dqn(layers=128.64)", or with --self-play the search;'
            " with --hours it may be left out for 2048"
        ),
    ] = "",
    games: Annotated[
        int | None,
        typer.Option(help="total number of games, including earlier runs; default: 10,000", min=0, show_default=False),
    ] = None,
    hours: Annotated[
        float, typer.Option(help="total hours, including earlier runs; 0 = as long as the games take", min=0)
    ] = 0.0,
    learning: Annotated[
        str,
        typer.Option(
            help='the method, such as "td(alpha=0.1,coherence=false)"; default: td, the choice of --hours, self_play or'
            " deep_q"
        ),
    ] = "",
    self_play: Annotated[
        bool, typer.Option("--self-play", help="learn values and a policy from games of a search that uses them")
    ] = False,
    begins: Annotated[
        str,
        typer.Option("--from", help="begin with the weights of such a network, or the mean of several: a.npz,b.npz"),
    ] = "",
    seed: Annotated[
        int,
        typer.Option(
            help="with one thread: same seed, same weights; with --self-play: whatever plays the games", min=0
        ),
    ] = 1,
    threads: Annotated[int, typer.Option(help="threads that learn at once and share the weights", min=1)] = 1,
    every: Annotated[int, typer.Option(help="games per point of the learning curve", min=1)] = 1000,
    evaluate_every: Annotated[int, typer.Option(help="games between two evaluations, 0 = none", min=0)] = 0,
    against: Annotated[
        str, typer.Option(help="opponent in evaluations, for games with several seats; default: MCTS")
    ] = "",
    evaluation_games: Annotated[
        int, typer.Option(help="games per evaluation, in all seat orders; 0 = 100, or as when training began", min=0)
    ] = 0,
    evaluation_workers: Annotated[int, typer.Option(help="threads that evaluate during training", min=1)] = 1,
    plot: Annotated[Path | None, typer.Option(help="file for a picture of the curve, such as curve.png")] = None,
    store: StoreOption = DEFAULT_URL,
    where: Where = Where(),
) -> None:
    """Train an n-tuple network by self-play, or a deep network.

    The weights go into a file; the learning curve and the games of evaluations go into the store. In evaluations, the
    greedy agent plays with the current weights, alone or against another agent. Repeat the command to resume training
    that was stopped.

    With --self-play, a search, puct, plays with the current networks on all workers, and they learn from what it found
    (AlphaZero's loop). The file holds checkpoints; FILE.values.npz and FILE.policy.npz, written beside it, are for
    playing. Each evaluated checkpoint also plays the best earlier one, and all are rated. With residual (the extra
    `deep`), a deep network learns both values and policy, and FILE.network.npz is for playing.

    With dqn (the extra `deep`), a deep network learns from a memory of moves. The file holds checkpoints and is also
    for playing: dqn(file=FILE).

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
        train_by_search(game, evaluator, store=store, where=where, **settings, **counted)
        return
    _refuse("a training without --self-play", dict.fromkeys(words_of(where)[::2], True))
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
