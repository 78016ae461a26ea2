"""The final comparison: in simulated studies, where the truth is known, intervals hold it in 95 of 100 cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rich.console import Console

from turnier.agents.registry import make_agent
from turnier.commands.search_tables import print_figures
from turnier.search.final_comparison import Finalist, HeldOutFigures, figures_of
from turnier.search.noise import NOISES
from turnier.search.samplers.in_memory import search_in_memory
from turnier.search.samplers.registry import SAMPLERS

STUDIES, HELD_OUT, START = 100, 100, [0.9, 0.2, 0.6]


def truth(vectors: np.ndarray) -> np.ndarray:
    """What a candidate is worth, between 0.4 and 1."""
    return np.asarray(1 - ((vectors - 0.4) ** 2).sum(-1) / 2)


def finalists(claimed: dict[str, float | None]) -> dict[str, Finalist]:
    return {label: Finalist(make_agent("random"), value) for label, value in claimed.items()}


def study(seed: int) -> tuple[dict[str, float], list[HeldOutFigures]]:
    """Returns the truth by label, and the rows of a study whose games vary as those of 2048 do: by half their mean."""
    rng = np.random.default_rng(seed)

    def play(vectors: np.ndarray) -> list[float]:
        return (truth(vectors) * rng.gamma(4, 0.25, len(vectors))).tolist()

    search = SAMPLERS.make("cmaes(population=16)").begin(START, seed)
    told = list(search_in_memory(search, NOISES.make("fixed"), play, 16 * 20))
    vectors = np.vstack([one.vectors for one in told])
    scores = np.array([float(np.mean(own)) for one in told for own in one.scores])
    points = {"start": np.array(START), "recommended": np.array(search.recommended())}
    claimed: dict[str, float | None] = {"start": None, "recommended": search.estimate()}
    for place, index in enumerate(np.argsort(-scores)[:3], 1):
        points[f"best {place}"], claimed[f"best {place}"] = vectors[index], float(scores[index])
    held_out = {label: play(np.repeat(point[None], HELD_OUT, axis=0)) for label, point in points.items()}
    return {label: float(truth(point)) for label, point in points.items()}, figures_of(
        finalists(claimed), held_out, "start"
    )


@pytest.fixture(scope="module")
def studies() -> list[tuple[dict[str, float], list[HeldOutFigures]]]:
    return [study(seed) for seed in range(STUDIES)]


def test_intervals_hold_the_truth(studies: list[tuple[dict[str, float], list[HeldOutFigures]]]) -> None:
    """500 intervals of held-out values and 400 of differences: 95 % of them, give or take three standard errors."""
    held_out = [abs(row.held_out - true[row.label]) <= row.half_width for true, rows in studies for row in rows]
    assert len(held_out) == 5 * STUDIES and abs(np.mean(held_out) - 0.95) < 3 * math.sqrt(0.95 * 0.05 / len(held_out))
    apart = [
        abs(row.difference - (true[row.label] - true["start"])) <= row.difference_half_width
        for true, rows in studies
        for row in rows
        if row.difference is not None and row.difference_half_width is not None
    ]
    assert len(apart) == 4 * STUDIES and abs(np.mean(apart) - 0.95) < 3 * math.sqrt(0.95 * 0.05 / len(apart))


def test_the_best_candidates_shrink_and_the_recommendation_does_not(
    studies: list[tuple[dict[str, float], list[HeldOutFigures]]],
) -> None:
    lucky = [row.shrinkage for _, rows in studies for row in rows if row.label.startswith("best")]
    sound = [row.shrinkage for _, rows in studies for row in rows if row.label == "recommended"]
    assert min(x for x in lucky if x is not None) > 0.3
    assert abs(np.mean([x for x in sound if x is not None])) < 0.1
    better = [true["recommended"] > true["start"] for true, _ in studies]
    assert np.mean(better) > 0.8


def test_the_table_shows_all_of_it() -> None:
    console = Console(record=True, width=140)
    values = {"start": [1.0, 2.0, 1.0, 2.0], "best": [2.0, 2.5, 2.0, 2.5]}
    rows = figures_of(finalists({"start": None, "best": 3.0}), values, "start")
    print_figures(console, rows, "mean score")
    text = console.export_text()
    assert "2.250" in text and "+0.750" in text and "1.500" in text
    assert rows[1].shrinkage == pytest.approx(0.75) and rows[1].difference == pytest.approx(0.75)
    assert rows[0].difference is None and rows[0].claimed is None
