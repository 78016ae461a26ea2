"""A picture of a training's curve, with the evaluations on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import matplotlib
import numpy as np

from turnier.core.errors import UserError
from turnier.results.store.curves import CurvePoint
from turnier.runs.training import Evaluation

matplotlib.use("Agg")
from matplotlib import pyplot  # the backend has to be chosen first

PLAYED, EVALUATED = "#0072B2", "#D55E00"  # told apart by colour-blind eyes and in print (Okabe and Ito)


def plot_training(
    title: str, points: Sequence[CurvePoint], evaluations: Sequence[Evaluation], unit: str, path: Path
) -> None:
    """Draws the mean scores of the training games, and evaluations below where there are any, with 95 % intervals."""
    rows = 2 if evaluations else 1
    figure, axes = pyplot.subplots(rows, 1, sharex=True, squeeze=False, figsize=(8, 3.2 * rows + 0.4))
    games, count, mean, deviation = (np.array(column, float) for column in zip(*map(astuple, points), strict=True))
    half = 1.96 * deviation / np.sqrt(count)
    played = axes[0, 0]
    played.plot(games, mean, color=PLAYED, marker="." if len(points) < 50 else None)
    played.fill_between(games, mean - half, mean + half, color=PLAYED, alpha=0.25)
    played.set(title=title, ylabel="score in training")
    if evaluations:
        places, values = [e.games for e in evaluations], [e.value for e in evaluations]
        errors = [[e.value - e.low for e in evaluations], [e.high - e.value for e in evaluations]]
        axes[1, 0].errorbar(places, values, yerr=errors, fmt="o-", capsize=3, color=EVALUATED)
        axes[1, 0].set(ylabel=f"evaluated: {unit}")
    axes[-1, 0].set(xlabel="games trained")
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise UserError(f"the plot must go to a picture that can be written, got {path}: {error}.") from None
    finally:
        pyplot.close(figure)
