"""The final comparison: in simulated studies, where the truth is known, intervals hold it in 95 of 100 cases."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.workers.where import Where
from turnier.core.number_text import roughly
from turnier.core.terminal.console import Console
from turnier.dashboards.summaries.held_out import held_out_table
from turnier.dashboards.terminal import print_table
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.search.final_comparison import verdict_on
from turnier.search.noise import NOISES
from turnier.search.objective import Objective
from turnier.search.samplers.registry import SAMPLERS
from turnier.search.space import Space
from turnier.search.storage.studies import read_only_storage, stored_verdict
from turnier.search.study import Study
from turnier.search.verdict import (
    BETTER,
    FIXED,
    NOT_BETTER,
    NOT_SHOWN,
    UNDECIDED,
    Finalist,
    HeldOutFigures,
    StudyVerdict,
    figures_of,
    gain,
)
from turnier.statistics.superiority import Superiority
from turnier.studies.promises.in_memory import search_in_memory
from turnier.studies.verdicts import simulate_study

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

    search = SAMPLERS.make("cmaes(population=16)").begin(START, seed, Space.cube(len(START)))
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
        row.difference_low <= true[row.label] - true["start"] <= row.difference_high
        for true, rows in studies
        for row in rows
        if row.difference_low is not None and row.difference_high is not None
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
    values: dict[str, list[float]],
    claimed: dict[str, float | None],
    better: str | None,
    beaten: set[str],
) -> StudyVerdict:
    """Returns the verdict of a test that ended like this."""
    test = Superiority([label for label, value in claimed.items() if value is not None], ("start", "baseline"), 1)
    units = len(values["start"])
    test.better = better
    test.beaten |= {label: dict.fromkeys(beaten, units) for label in test.beaten}
    test.critical |= {label: {units: FIXED} for label in test.beaten}
    return verdict_on(finalists(claimed), test, values, objective=Objective(GAMES.make("2048"), (), 1), searched=64)


START_AND_BASELINE: dict[str, list[float]] = {"start": [1.0, 2.0, 1.0, 2.0], "baseline": [1.0, 3.0, 2.0, 2.0]}
CLAIMED: dict[str, float | None] = {"start": None, "baseline": None, "proposed": 3.0}


@pytest.mark.parametrize("challengers", [("proposed",), ("proposed", "known 1")])
def test_the_word_is_what_the_interval_says(challengers: tuple[str, ...]) -> None:
    """However early studies of worse, equal and better agents end, and whoever leaves for another challenger."""
    rng, words = np.random.default_rng(1), set()
    for strength in 15 * (0.7, 0.85, 1.0, 1.2):
        values: dict[str, list[float]] = {}

        def play(label: str, units: int, values: dict[str, list[float]] = values, own: float = strength) -> np.ndarray:
            drawn = (own if label == "proposed" else 0.8 if label == "known 1" else 1.0) * rng.gamma(4, 0.25, units)
            values.setdefault(label, []).extend(drawn)
            return drawn

        test = Superiority(challengers, ("start",), 8, first_share=1.0 if len(challengers) == 1 else 0.5)
        used = simulate_study(play, challengers, ("start",), 600, test).games
        claimed = {"start": None} | dict.fromkeys(challengers, 1.0)
        objective = Objective(GAMES.make("2048"), (), 1)
        verdict = verdict_on(finalists(claimed), test, values, objective, searched=600)
        assert verdict.low is not None and verdict.high is not None
        outcome = BETTER if verdict.low > 0 else NOT_BETTER if verdict.high < 0 else UNDECIDED
        assert verdict.outcome == outcome
        words.add((outcome, used < 580))
    assert {(BETTER, True), (NOT_BETTER, True), (UNDECIDED, False)} <= words and (UNDECIDED, True) not in words


def test_the_verdict_says_what_was_shown() -> None:
    values = START_AND_BASELINE | {"proposed": [2.0, 2.5, 2.5, 3.0]}
    better = verdict_of(values, CLAIMED, "proposed", {"start", "baseline"})
    assert better.improved and (better.label, better.reference) == ("proposed", "baseline")
    assert better.sentence.startswith("Recommended: the proposed agent, +25 %")
    assert "over baseline, 4 held-out games each" in better.sentence
    kept = verdict_of(values, CLAIMED, None, {"start"})
    assert not kept.improved and kept.label == "baseline"
    assert kept.outcome == UNDECIDED and kept.sentence.startswith("Undecided: proposed +25 % (")
    assert re.search(r" over baseline, 4 held-out games each; about \d+ each would tell", kept.sentence)
    assert kept.sentence.endswith("; until then keep baseline.")
    unknown = verdict_of(values, CLAIMED, None, set())
    assert unknown.label == "start" and unknown.sentence.endswith(" keep the start.")
    longer = {label: 6 * own for label, own in values.items()}
    worse = verdict_of(longer | {"proposed": 6 * [0.1, 1.1, 0.1, 1.0]}, CLAIMED, None, set())
    assert worse.outcome == NOT_BETTER and worse.high is not None and worse.high < 0
    same = verdict_of(values | {"proposed": values["baseline"]}, CLAIMED, None, set())
    assert same.outcome == NOT_BETTER and "plays the same as baseline in every game" in same.sentence
    alone = verdict_of(START_AND_BASELINE, {"start": None, "baseline": None}, None, set())
    assert alone.sentence == "Not better: the search found no other agent than the start; keep it."
    for verdict in (better, kept, worse, alone):
        assert StudyVerdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict


def test_an_undecided_verdict_says_how_many_games_would_tell() -> None:
    """Four of five such studies end with a claim at that many; the share of the search's games is rounded up."""
    rng = np.random.default_rng(1)
    own, other = rng.normal(10.5, 2, 60).tolist(), rng.normal(10, 2, 60).tolist()
    verdict = verdict_of({"start": other, "baseline": other, "proposed": own}, CLAIMED, None, set())
    assert verdict.outcome == UNDECIDED and verdict.needed is not None and verdict.verify is not None
    apart = np.subtract(own, other)
    assert verdict.needed == pytest.approx(((1.96 + 0.84) * apart.std(ddof=1) / apart.mean()) ** 2, rel=0.05)
    assert 0 <= verdict.verify * 64 / (3 * verdict.needed) - 1 < 0.1
    assert f"about {roughly(verdict.needed)} each would tell" in verdict.sentence
    assert replace(verdict, needed=10**8).verify is None and replace(verdict, needed=None).verify is None


def test_verdicts_that_do_not_tell_whether_they_are_undecided_are_read() -> None:
    stored = verdict_of(START_AND_BASELINE, {"start": None, "baseline": None}, None, set()).to_json()
    stored["outcome"] = NOT_SHOWN
    for key in ("needed", "budget"):
        del stored[key]
    kept = StudyVerdict.from_json(stored)
    assert kept.outcome == NOT_SHOWN and kept.sentence.startswith("No improvement shown: the search found no other")
    shown = {"difference": 5.0, "low": -1.0, "high": 11.0, "unit": " %", "units": 24, "challenger": "proposed"}
    assert StudyVerdict.from_json(stored | shown).sentence == (
        "No improvement shown (proposed: +5.0 % (-1.0 to 11.0) over baseline, 24 held-out games each): keep the start."
    )
    better = StudyVerdict.from_json(stored | shown | {"improved": True, "outcome": BETTER})
    assert better.improved and better.sentence.startswith("Recommended: the start agent")


def test_the_table_shows_all_of_it() -> None:
    console = Console(record=True, width=100)
    verdict = verdict_of(START_AND_BASELINE | {"proposed": [2.0, 2.5, 2.0, 2.5]}, CLAIMED, None, set())
    print_table(console, held_out_table(verdict, "mean score"))
    text = console.export_text()
    assert "2.25 ± 0.46" in text and "+0.75" in text
    assert "minus baseline" in text and "+0.25 (-0.55 to 0.88)" in text
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
            study = Study(
                "tictactoe", "mc(iterations=1)", ["iterations=1..60"], budget=96, against=["random"], name="one"
            )
            results = study.run(store, where=Where(executor, 2), progress=False)
            assert stored_verdict(store, "one") == results.verdict
            storage = read_only_storage(store)
            notes = storage.get_study_system_attrs(storage.get_study_id_from_name(results.name))
            assert results.verdict is not None
            (note,) = [text for key, text in notes.items() if "note_str" in key]
            assert results.verdict.sentence in note and results.verdict.agent in note
            verdicts.append(results.verdict)
            games = len(results.frame())
            again = study.run(store, where=Where("serial"), progress=False)
            assert again.verdict == results.verdict and len(again.frame()) == games
    assert verdicts[0] == verdicts[1] and verdicts[0].unit_games == 2
    assert f"{2 * verdicts[0].units} held-out games each" in verdicts[0].sentence
    assert verdicts[0].improved and verdicts[0].games <= 24 * 5 * 2 and "iterations=" in verdicts[0].agent
