"""A training that is shown while it runs: progress, evaluations and what came out."""

from __future__ import annotations

import math
from pathlib import Path

from rich.console import Console
from rich.table import Table

from turnier.agents.ntuple.evaluator import NTuple
from turnier.agents.ntuple.td import LEARNING
from turnier.agents.ntuple.training import Plan, Training
from turnier.agents.ntuple.weights import Weights
from turnier.agents.registry import EVALUATORS
from turnier.core.errors import UserError
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.runs.bar import Bar, run_bar
from turnier.runs.training import Evaluating, Evaluation, Evaluations, TrainingRun

INSANE = 1000.0  # times the largest return; entries may well cancel each other out


def make_training(game: str, evaluator: str, learning: str, out: Path, games: int, seed: int, every: int) -> Training:
    """Returns the training of texts; raises UserError where it cannot be done."""
    network = EVALUATORS.make(evaluator)
    if not isinstance(network, NTuple):
        raise UserError(f'what is trained must be an n-tuple network, got {network}; write "ntuple(network=4x6)".')
    return Training(Plan(GAMES.make(game), network, LEARNING.make(learning), seed, every), out, games)


def make_evaluating(game: str, every: int, games: int, against: str) -> Evaluating | None:
    """Returns how a network is evaluated while it learns, None if it is not."""
    if every:
        return Evaluating.of(GAMES.make(game), every, games, against)
    if against:
        raise UserError(
            f"--against is the opponent of evaluations, got {against} without --evaluate-every; add it with a number"
            " of games."
        )
    return None


def show_training(
    console: Console,
    store: Store,
    training: Training,
    evaluating: Evaluating | None,
    threads: int,
    evaluation_workers: int,
    plot: Path | None,
) -> None:
    """Trains until the planned games are played, including those of earlier runs, and prints the outcome."""
    run = TrainingRun(store, training, evaluating)
    before, plan = training.done, training.plan
    if before >= training.games:
        console.print(f"{training.out} has {before:,} games already; resume with more --games.", soft_wrap=True)
    elif before:
        console.print(f"Resuming after {before:,} games of earlier runs.")
    with run_bar(store, run.id, f"{plan.game}", training.games, completed=before) as bar:
        _train(run, threads, evaluation_workers, bar)
    if training.done > before:
        _print_end(console, training)
    evaluations = run.evaluations()
    if evaluations:
        _print_evaluations(console, run, evaluations)
    if plot:
        from turnier.dashboards.reports.pictures import save_training_picture

        title = f"{plan.evaluator} on {plan.game}"
        save_training_picture(plot, title, store.curves.points(run.id), evaluations, run.unit)
        console.print(f"Plot: {plot}", soft_wrap=True)


def _train(run: TrainingRun, threads: int, evaluation_workers: int, bar: Bar) -> None:
    training = run.training

    def advance(training: Training, count: int) -> None:
        bar.advance(count)
        bar.note(f"score {_recent(training):,.6g}")

    def show(evaluation: Evaluation) -> None:
        bar.print(f"after {evaluation.games:,} games: {_shown(evaluation)} ({run.unit})")

    def save(training: Training, weights: Weights) -> None:
        _require_sane(weights, training)
        evaluations.saved(training, weights)

    with Evaluations(run, evaluation_workers, show) as evaluations:
        if training.done:  # a kill may have come between the checkpoint and what follows it
            save(training, training.weights())
        training.run(threads, advance, run.evaluating.every if run.evaluating else 0, save)
        if evaluations.waiting:
            bar.note(f"{evaluations.waiting} evaluations to finish")
        evaluations.finish()


def _require_sane(weights: Weights, training: Training) -> None:
    """Raises UserError if learning has diverged: steps so large that errors grow instead of shrinking."""
    game, alpha = training.plan.game, training.plan.learning.alpha
    if not weights.largest <= INSANE * game.max_return:
        raise UserError(
            f"learned values must stay within what {game} can return, got {weights.largest:.3g} after"
            f" {training.done:,} games; remove {training.out} and train with an alpha below {alpha:g}."
        )


def _print_end(console: Console, training: Training) -> None:
    _, count, mean, deviation = training.points.curve()[-1]
    error = 1.96 * deviation / math.sqrt(max(count, 1))
    console.print(
        f"{training.out}: {training.done:,} games, {training.moves:,} moves,"
        f" {training.moves / training.seconds:,.0f} moves/s;"
        f" mean of the last {count:,.0f} games {mean:,.6g} ± {error:,.3g}",
        soft_wrap=True,
    )
    agent = f"greedy(evaluator=ntuple(file={training.out}))"
    console.print(f'To play with it: turnier tournament {training.plan.game} "{agent}"', soft_wrap=True)


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
