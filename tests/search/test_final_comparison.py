"""The final comparison: in simulated studies, where the truth is known, intervals hold it in 95 of 100 cases."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from turnier.agents.registry import make_agent
from turnier.commands.search_tables import print_figures
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.search.final_comparison import verdict_on
from turnier.search.noise import NOISES
from turnier.search.objective import Objective
from turnier.search.samplers.in_memory import search_in_memory
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.storage.studies import read_only_storage, stored_verdict
from turnier.search.study import Study
from turnier.search.verdict import Finalist, HeldOutFigures, StudyVerdict, figures_of, gain
from turnier.statistics.superiority import Superiority

STUDIES, HELD_OUT, START = 100, 100, [0.9, 0.2, 0.6]


def truth(vectors: np.ndarray) -> np.ndarray:
    """What a candidate is worth, between 0.4 and 1."""
    return np.asarray(1 - ((vectors - 0.4) ** 2).sum(-1) / 2)


def finalists(claimed: dict[str, float | None]) -> dict[str, Finalist]:
    return {label: Finalist(make_agent("random"), value) for label, value in claimed.items()}


def study(seed: int) -> tuple[dict[str, float], Sequence[HeldOutFigures]]:
    """Returns the truth by label, and the rows of a study whose games vary as those of 2048 do: by half their mean."""
    rng = np.random.default_rng(seed)

    def play(vectors: np.ndarray) -> list[float]:
        return (truth(vectors) * rng.gamma(4, 0.25, len(vectors))).tolist()

    search = SAMPLERS.make("cmaes(population=16)").begin(START, seed)
    told = list(search_in_memory(search, NOISES.make("fixed"), play, 16 * 20))
    vectors = np.vstack([one.vectors for one in told])
    scores = np.array([float(np.mean(own)) for one in told for own in one.scores])
    points = {"start": np.array(START), "proposed": np.array(search.recommended())}
    claimed: dict[str, float | None] = {"start": None, "proposed": search.estimate()}
    for place, index in enumerate(np.argsort(-scores)[:3], 1):
        points[f"best {place}"], claimed[f"best {place}"] = vectors[index], float(scores[index])
    held_out = {label: play(np.repeat(point[None], HELD_OUT, axis=0)) for label, point in points.items()}
    return {label: float(truth(point)) for label, point in points.items()}, figures_of(
        finalists(claimed), held_out, "start", "start"
    )


@pytest.fixture(scope="module")
def studies() -> list[tuple[dict[str, float], Sequence[HeldOutFigures]]]:
    return [study(seed) for seed in range(STUDIES)]


def test_intervals_hold_the_truth(studies: list[tuple[dict[str, float], Sequence[HeldOutFigures]]]) -> None:
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


def test_the_best_candidates_shrink_and_the_proposal_does_not(
    studies: list[tuple[dict[str, float], Sequence[HeldOutFigures]]],
) -> None:
    lucky = [row.shrinkage for _, rows in studies for row in rows if row.label.startswith("best")]
    sound = [row.shrinkage for _, rows in studies for row in rows if row.label == "proposed"]
    assert min(x for x in lucky if x is not None) > 0.3
    assert abs(np.mean([x for x in sound if x is not None])) < 0.1
    better = [true["proposed"] > true["start"] for true, _ in studies]
    assert np.mean(better) > 0.8


def verdict_of(
    values: dict[str, list[float]], claimed: dict[str, float | None], better: str | None, beaten: set[str]
) -> StudyVerdict:
    """Returns the verdict of a test that ended like this."""
    test = Superiority([label for label, value in claimed.items() if value is not None], ("start", "baseline"), 1)
    test.better = better
    test.beaten |= {label: beaten for label in test.beaten}
    return verdict_on(finalists(claimed), test, values, objective=Objective(GAMES.make("2048"), (), 1), searched=64)


START_AND_BASELINE: dict[str, list[float]] = {"start": [1.0, 2.0, 1.0, 2.0], "baseline": [1.0, 3.0, 2.0, 2.0]}
CLAIMED: dict[str, float | None] = {"start": None, "baseline": None, "proposed": 3.0}


def test_the_verdict_says_what_was_shown() -> None:
    values = START_AND_BASELINE | {"proposed": [2.0, 2.5, 2.5, 3.0]}
    better = verdict_of(values, CLAIMED, "proposed", {"start", "baseline"})
    assert better.improved and (better.label, better.reference) == ("proposed", "baseline")
    assert better.sentence.startswith("Recommended: the proposed agent, +25 %")
    assert "over baseline, 4 held-out games each" in better.sentence
    kept = verdict_of(values, CLAIMED, None, {"start"})
    assert not kept.improved and kept.label == "baseline"
    assert kept.sentence.startswith("No improvement over baseline shown (proposed: +25 %")
    assert kept.sentence.endswith(": keep baseline.")
    unknown = verdict_of(values, CLAIMED, None, set())
    assert unknown.label == "start" and unknown.sentence.endswith(": keep the start.")
    alone = verdict_of(START_AND_BASELINE, {"start": None, "baseline": None}, None, set())
    assert alone.sentence == "No improvement shown: the search found no other agent than the start; keep it."
    for verdict in (better, kept, alone):
        assert StudyVerdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict


def test_the_table_shows_all_of_it() -> None:
    console = Console(record=True, width=80)
    verdict = verdict_of(START_AND_BASELINE | {"proposed": [2.0, 2.5, 2.0, 2.5]}, CLAIMED, None, set())
    print_figures(console, verdict, "mean score")
    text = console.export_text()
    assert "2.25 ± 0.46" in text and "+0.75" in text
    assert "minus baseline" in text and "+0.2 ± 1.0" in text
    rows = verdict.figures
    assert rows[2].shrinkage == pytest.approx(0.75) and rows[2].difference == pytest.approx(0.75)
    assert rows[0].difference is None and rows[0].claimed is None and rows[1].gain is None
    assert rows[2].gain == pytest.approx(0.25)


def test_shares_of_points_differ_in_percentage_points() -> None:
    assert gain([0.5, 1.0, 0.5, 1.0], [0.5, 0.5, 0.5, 0.5], scores=False)[::3] == (25.0, " percentage points")
    assert gain([-1.0, 2.0], [-2.0, 0.0], scores=True)[::3] == (1.5, " points")


def test_a_study_ends_with_a_stored_verdict(tmp_path: Path) -> None:
    """The same with any number of workers, and after a kill within its held-out games; the note is Optuna's."""
    verdicts = []
    for name, executor in (("a", "serial"), ("b", "threads")):
        with Store.open(f"sqlite:///{tmp_path}/{name}.db") as store:
            study = Study("tictactoe", "mc(iterations=1)", ["iterations=1..60"], against="random", name="small")
            results = study.run(store, budget=96, executor=executor, workers=2, progress=False)
            assert stored_verdict(store, "small") == results.verdict
            notes = read_only_storage(store).get_study_system_attrs(results.run.optuna._study_id)
            (note,) = [text for key, text in notes.items() if "note_str" in key]
            assert results.verdict.sentence in note and results.verdict.agent in note
            verdicts.append(results.verdict)
            games = len(results.frame())
            again = study.run(store, budget=96, executor="serial", progress=False)
            assert again.verdict == results.verdict and len(again.frame()) == games
    assert verdicts[0] == verdicts[1] and verdicts[0].unit_games == 2
    assert f"{2 * verdicts[0].units} held-out games each" in verdicts[0].sentence
    assert verdicts[0].improved and verdicts[0].games <= 24 * 5 * 2 and "iterations=" in verdicts[0].agent
