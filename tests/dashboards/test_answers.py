"""Sections and figures that answer a question in one look, from runs that were really played."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from turnier.dashboards.figures.certainty import certainty_over_phases
from turnier.dashboards.figures.studies.search import luck_arrows
from turnier.dashboards.sections import Drawing, Text, flat, sections
from turnier.dashboards.summaries.certainty import lead_sentence
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.stored.certainty import certainty_of_run
from turnier.search.storage.studies import stored_verdict


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
