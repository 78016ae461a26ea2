"""Experiments: figures from stored matches beside published ones, resumed by the same definition, as pages."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from turnier.agents.registry import make_agent
from turnier.arena.executors import SerialExecutor
from turnier.games.errors import UserError
from turnier.results.experiment import (
    MEASURES,
    Experiment,
    Row,
    figures,
    measure,
    play_experiment,
    row_matches,
    stored_experiments,
    verdict,
)
from turnier.results.pages import write_report
from turnier.results.store import Store

SEARCH, RANDOM = "mc(iterations=10,rollout_depth=9)", "random"
ROWS = (
    Row("search | random", "tictactoe", (SEARCH, RANDOM), 6, published=99.0, x=10),
    Row("first move", "tictactoe", (RANDOM, RANDOM), 7, "first_seat_wins", 58.5, x=20),
    Row("openings", "tictactoe", (RANDOM, SEARCH), 1, openings=1, x=30),
    Row("length", "tictactoe", (RANDOM, RANDOM), 4, "plies", 3.0, x=40),
)
EXPERIMENT = Experiment("guide", "small", "A small question", "What <script> and *published* say.", ROWS, seed=5)


def played(store: Store, experiment: Experiment) -> int:
    return sum(len(records) for records in play_experiment(experiment, store, SerialExecutor()))


def test_figures_are_counted_from_the_records(tmp_path: Path) -> None:
    """By hand: every measure from the scores of the row's own matches."""
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        assert played(store, EXPERIMENT) == 31  # rows share 2 and 4 of their 37 matches
        measured = figures(EXPERIMENT, store)
        records = [store.records([s.id for s in row_matches(row, EXPERIMENT.seed)]) for row in ROWS]
    me = make_agent(SEARCH).full_text()
    wins = sum(r.scores[r.spec.agents.index(me)] > 0 for r in records[0])
    assert measured[0].value == pytest.approx(100 * wins / 6) and measured[0].games == 6
    assert measured[1].value == pytest.approx(100 * sum(r.scores[0] > 0 for r in records[1]) / 7)
    losses = sum(r.scores[r.spec.agents.index(me)] < 0 for r in records[2])
    assert measured[2].value == pytest.approx(100 * losses / 20) and measured[2].games == 20
    assert {r.spec.opening for r in records[2]} == {(), *((cell,) for cell in range(9))}
    assert 5 <= measured[3].value <= 9
    for figure in measured:
        assert figure.low <= figure.value <= figure.high and figure.seconds > 0
    assert [verdict(row, figure) for row, figure in zip(ROWS, measured, strict=True)][2:] == ["", "higher"]


def test_a_second_run_plays_nothing_and_another_definition_is_refused(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, EXPERIMENT)
        (run,) = store.runs()
        before = store.match_counts()
        played(store, EXPERIMENT)
        assert store.match_counts() == before
        assert Experiment.from_run(run) == EXPERIMENT
        assert stored_experiments(store, "guide") == [EXPERIMENT]
        with pytest.raises(UserError, match="must keep its definition"):
            played(store, dataclasses.replace(EXPERIMENT, seed=6))
        with pytest.raises(UserError, match="did you mean guide"):
            stored_experiments(store, "guid")


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    row = dataclasses.replace(ROWS[0], measure="win_rat")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with pytest.raises(UserError, match="did you mean win_rate"):
            played(store, dataclasses.replace(EXPERIMENT, rows=(row,)))
        with pytest.raises(UserError, match="run the scripts in studies/"):
            stored_experiments(store, "guide")
    assert math.isnan(measure(ROWS[0], []).value) and measure(ROWS[0], []).games == 0
    assert all(name in MEASURES for name in ("win_rate", "score", "plies"))


@pytest.mark.parametrize("axis", ["", "iterations"])
def test_pages_show_every_row_and_escape_what_is_not_ours(tmp_path: Path, axis: str) -> None:
    experiment = dataclasses.replace(EXPERIMENT, axis=axis)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, experiment)
        markdown, page = write_report(store, "guide", tmp_path / "pages")
        value = figures(experiment, store)[1].value
    text, html = markdown.read_text(), page.read_text()
    assert f"**{value:.1f}**" in text and f"<strong>{value:.1f}</strong>" in html
    for row in ROWS:
        assert row.label.replace("|", "\\|") in text
    assert html.count("<tr>") == 1 + len(ROWS)
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert "data:image/png;base64," in html and "http" not in html.replace("https://", "http")[: html.index("<body>")]
    assert (tmp_path / "pages" / "guide-small.png").stat().st_size > 5_000
