"""Pictures written by commands and scripts: the figures of the pages, below each other in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from turnier.dashboards.figures.figure import save
from turnier.dashboards.figures.studies.search import (
    all_of_front,
    generation_means,
    held_out_front,
    held_out_means,
    search_history,
)
from turnier.dashboards.summaries.study_values import (
    shown_generations,
    shown_points,
    shown_scores,
    shown_trials,
    shown_unit,
)
from turnier.results.store.store import Store
from turnier.search.front.points import Point
from turnier.search.storage.trials import generations_frame, trials_frame, unit


def save_study_picture(path: Path, store: Store, study: str, scores: Mapping[str, Sequence[float]]) -> None:
    """Writes the candidates, the means of generations, and the finalists' scores in held-out games."""
    stored = unit(store, study)
    trials, what = shown_trials(trials_frame(store, study), stored), shown_unit(stored)
    generations = generation_means(trials, shown_generations(generations_frame(store, study), stored), what)
    means = held_out_means(shown_scores(scores, stored), what)
    save(path, *filter(None, (search_history(trials, what), generations)), means, title=study)


def save_front_picture(path: Path, store: Store, study: str, points: Sequence[Point]) -> None:
    """Writes the candidates by both objectives, and the start and the front in held-out games."""
    stored = unit(store, study)
    what = shown_unit(stored)
    candidates = all_of_front(shown_trials(trials_frame(store, study), stored), what)
    save(path, *filter(None, (candidates,)), held_out_front(shown_points(points, stored), what), title=study)
