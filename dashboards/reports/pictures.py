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
from turnier.results.store.store import Store
from turnier.search.front.points import Point
from turnier.search.storage.trials import generations_frame, trials_frame, unit


def save_study_picture(path: Path, store: Store, study: str, scores: Mapping[str, Sequence[float]]) -> None:
    """Writes the candidates, the means of generations, and the finalists' scores in held-out games."""
    trials, what = trials_frame(store, study), unit(store, study)
    generations = generation_means(trials, generations_frame(store, study), what)
    save(path, *filter(None, (search_history(trials, what), generations)), held_out_means(scores, what), title=study)


def save_front_picture(path: Path, store: Store, study: str, points: Sequence[Point]) -> None:
    """Writes the candidates by both objectives, and the start and the front in held-out games."""
    what = unit(store, study)
    candidates = all_of_front(trials_frame(store, study), what)
    save(path, *filter(None, (candidates,)), held_out_front(points, what), title=study)
