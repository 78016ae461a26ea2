"""Sections and figures that answer a question in one look, from runs that were really played."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from turnier.dashboards.figures.certainty import certainty_over_phases
from turnier.dashboards.figures.studies.search import importance_bars, luck_arrows
from turnier.dashboards.sections import Drawing, Text, flat, sections
from turnier.dashboards.summaries.certainty import lead_sentence
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.stored.certainty import certainty_of_run
from turnier.search.storage.definitions import StoredRange
from turnier.search.storage.studies import stored_verdict
from turnier.search.storage.trials import importance, importance_spread


def test_certainty_begins_with_the_tested_difference_and_the_course_over_the_game(store: Store) -> None:
    run = next(run for run in store.runs() if run.kind == "certainty")
    positions = certainty_of_run(store, run)
    shown = list(flat(sections(RunResults.find(store, run.id))))
    said = next(section.text for section in shown if isinstance(section, Text))
    assert re.fullmatch(
        r"mc.* and mc.*, .*: they differ by \d.* ± \d+ percentage points in the same 36 positions.*", said
    )
    agreement = lead_sentence(positions, "agreement")
    assert re.match(r"mc\(iterations=40\) is more certain than mc\(iterations=5\), the next: by \d", agreement)
    drawings = [section.figure for section in shown if isinstance(section, Drawing)]
    assert drawings[0] == "certainty.certainty_over_phases"
    figure = certainty_over_phases(positions, "normalised")
    assert figure is not None and set(figure.data["label"]) == set(positions["label"])
    drawn = figure.chart.to_dict()
    dashed, band = drawn["layer"][:2]
    assert dashed["mark"]["strokeDash"] and dashed["encoding"]["y"]["field"] == "chance"
    assert band["mark"]["type"] == "area" and band["encoding"]["x"]["scale"]["reverse"], "games fill cells"
    assert certainty_over_phases(positions[positions["phase"] == positions["phase"].iloc[0]], "normalised") is None
    one = positions[positions["source"] == positions["source"].iloc[0]]
    assert lead_sentence(one, "normalised").endswith("from one game: too few games to test that.")


def test_luck_is_an_arrow_from_the_claim_to_the_held_out_mean(store: Store) -> None:
    found = stored_verdict(store, "decided")
    assert found is not None
    figure = luck_arrows(found, "share of points")
    assert figure is not None and list(figure.data["finalist"]) == [row.label for row in found.figures]
    claims = figure.data.dropna(subset="claimed")
    assert 0 < len(claims) < len(figure.data) and np.isnan(figure.data["claimed"].iloc[0]), "nothing is claimed of it"
    assert (claims["luck"] - (claims["claimed"] - claims["held_out"])).abs().max() < 1e-9
    drawn = figure.chart.to_dict()
    rule = drawn["layer"][2]
    assert (rule["encoding"]["x"]["field"], rule["encoding"]["x2"]["field"]) == ("claimed", "held_out")
    assert len(drawn["datasets"][rule["data"]["name"]]) == len(claims)
    assert "NaN" not in figure._repr_svg_()
    assert luck_arrows(replace(found, figures=tuple(replace(row, claimed=None) for row in found.figures)), "") is None
    shown = list(flat(sections(RunResults.find(store, "study:decided"))))
    assert "studies.search.luck_arrows" in [section.figure for section in shown if isinstance(section, Drawing)]


def candidates(number: int) -> pd.DataFrame:
    """Candidates of which only x matters."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"number": range(number), "x": random.random(number), "y": random.random(number)})
    frame = frame.assign(state="COMPLETE", value=frame["x"] + random.normal(0, 0.3, number))
    frame.attrs = {"parameters": ["x", "y"], "ranges": dict.fromkeys("xy", StoredRange(0.0, 1.0))}
    return frame


def test_importance_has_a_spread_that_more_candidates_narrow() -> None:
    wide, narrow = importance_spread(candidates(30)), importance_spread(candidates(600))
    pd.testing.assert_frame_equal(wide, importance_spread(candidates(30)))
    assert (narrow["high"] - narrow["low"] < (wide["high"] - wide["low"]) / 2).all()
    assert narrow.loc["x", "low"] > narrow.loc["y", "high"], "only x matters"
    assert importance_spread(candidates(5)).empty
    trials = candidates(600)
    figure = importance_bars(importance(trials), trials, narrow)
    assert figure is not None and list(figure.data["parameter"]) == ["x", "y"]
    assert (figure.data["low"] <= figure.data["percent"]).all() and (
        figure.data["percent"] <= figure.data["high"]
    ).all()
    line = figure.chart.to_dict()["layer"][1]["encoding"]
    assert (line["x"]["field"], line["x2"]["field"]) == ("low", "high")
