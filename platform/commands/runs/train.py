"""`turnier train`: learns an n-tuple network's weights into a file, and goes on where it stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import LEARNING
from turnier.agents.ntuple.training import Plan, Training
from turnier.agents.ntuple.weights import Weights
from turnier.agents.registry import EVALUATORS
from turnier.commands.options import DEFAULT_URL, StoreOption
from turnier.core.errors import UserError
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.bar import Bar, run_bar
from turnier.runs.training import Evaluating, Evaluation, Evaluations, TrainingRun

INSANE = 1000.0  # times the largest return; entries may well cancel each other out


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for; see its help."""

    game: str
    evaluator: str
    learning: str
    games: int
    out: Path
    seed: int
    threads: int
    every: int
    evaluate_every: int = 0
    against: str = ""
    evaluation_games: int = 10
    evaluation_workers: int = 1
    plot: Path | None = None

    def training(self) -> Training:
        made = EVALUATORS.make(self.evaluator)
        if not isinstance(made, NTuple):
            raise UserError(f'what is trained must be an n-tuple network, got {made}; write "ntuple(network=4x6)".')
        plan = Plan(GAMES.make(self.game), made, LEARNING.make(self.learning), self.seed, self.every)
        return Training(plan, self.out, self.games)

    def evaluating(self) -> Evaluating | None:
        if self.evaluate_every:
            return Evaluating.of(GAMES.make(self.game), self.evaluate_every, self.evaluation_games, self.against)
        if self.against:
            raise UserError(
                f"--against names who evaluates, got {self.against} without --evaluate-every; say every how many games."
            )
        return None


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
    shown = (evaluate_every, against, evaluation_games, evaluation_workers, plot)
    wanted = Wanted(game, evaluator, learning, games, out, seed, threads, every, *shown)
    with Store.open(store) as results:
        _train(Console(), wanted, results)


def _train(console: Console, wanted: Wanted, store: Store) -> None:
    """Trains until so many games are played in all, those of earlier runs included, and prints what came out."""
    evaluating = wanted.evaluating()
    training = wanted.training()
    run = TrainingRun(store, training, evaluating)
    if training.done >= wanted.games:
        console.print(f"{wanted.out} has {training.done:,} games already; ask for more to go on.", soft_wrap=True)
    elif training.done:
        console.print(f"Going on after {training.done:,} games of earlier runs.")
    before = training.done
    with run_bar(store, run.id, f"{training.plan.game}", wanted.games, completed=before) as bar:
        _run(training, run, wanted, bar)
    if training.done > before:
        _print_end(console, training, wanted)
    evaluations = run.evaluations()
    if evaluations:
        _print_evaluations(console, run, evaluations)
    if wanted.plot:
        from turnier.dashboards.reports.pictures import save_training_picture

        title = f"{training.plan.evaluator} on {training.plan.game}"
        save_training_picture(wanted.plot, title, store.curves.points(run.id), evaluations, run.unit)
        console.print(f"Plot: {wanted.plot}", soft_wrap=True)


def _run(training: Training, run: TrainingRun, wanted: Wanted, bar: Bar) -> None:
    def report(training: Training, count: int) -> None:
        bar.advance(count)
        bar.note(f"score {_recent(training):,.6g}")

    def told(evaluation: Evaluation) -> None:
        bar.print(f"after {evaluation.games:,} games: {_shown(evaluation)} ({run.unit})")

    def saved(training: Training, weights: Weights) -> None:
        _require_sane(weights, training, wanted.out)
        evaluations.saved(training, weights)

    with Evaluations(run, wanted.evaluation_workers, told) as evaluations:
        if training.done:  # a kill may have come between the checkpoint and what follows it
            saved(training, training.weights())
        training.run(wanted.threads, report, wanted.evaluate_every, saved)
        if evaluations.waiting:
            bar.note(f"{evaluations.waiting} evaluations to finish")
        evaluations.finish()


def _require_sane(weights: Weights, training: Training, out: Path) -> None:
    """Raises UserError where learning has diverged: steps so large that errors grow instead of shrinking."""
    if not weights.largest <= INSANE * training.plan.game.max_return:
        raise UserError(
            f"learned values must stay within what {training.plan.game} can return, got {weights.largest:.3g} after"
            f" {training.done:,} games; remove {out} and train with an alpha below {training.plan.learning.alpha:g}."
        )


def _print_end(console: Console, training: Training, wanted: Wanted) -> None:
    _, count, mean, deviation = training.points.curve()[-1]
    error = 1.96 * deviation / math.sqrt(max(count, 1))
    console.print(
        f"{wanted.out}: {training.done:,} games, {training.moves:,} moves,"
        f" {training.moves / training.seconds:,.0f} moves/s;"
        f" mean of the last {count:,.0f} games {mean:,.6g} ± {error:,.3g}",
        soft_wrap=True,
    )
    agent = f"greedy(evaluator=ntuple(file={wanted.out}))"
    console.print(f'To play with it: turnier tournament {wanted.game} "{agent}"', soft_wrap=True)


def _print_evaluations(console: Console, run: TrainingRun, evaluations: list[Evaluation]) -> None:
    against = run.evaluating.against if run.evaluating else ""
    if against:
        console.print(f"Evaluated against {against}", soft_wrap=True)
    table = Table(caption=f"turnier results --run {run.id}")
    for heading in ("games trained", f"{run.unit}, 95 %", "games played"):
        table.add_column(heading, justify="right", no_wrap=True)
    for evaluation in evaluations:
        table.add_row(f"{evaluation.games:,}", _shown(evaluation), f"{evaluation.matches:,}")
    console.print(table)


def _shown(evaluation: Evaluation) -> str:
    figures = (evaluation.value, evaluation.low, evaluation.high)
    value, low, high = (f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.1f}" for figure in figures)
    return f"{value} ({low} to {high})" if math.isfinite(evaluation.low) else value


def _recent(training: Training) -> float:
    """Returns the mean score of the newest games, at least half a point of the curve."""
    counts, sums, _ = training.points.sums[-2:].sum(axis=0)
    return float(sums / max(counts, 1.0))
