"""Sections and figures that answer a question in one look, from runs that were really played."""

from __future__ import annotations

import re

from turnier.dashboards.figures.certainty import certainty_over_phases
from turnier.dashboards.sections import Drawing, Text, flat, sections
from turnier.dashboards.summaries.certainty import lead_sentence
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.stored.certainty import certainty_of_run


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
