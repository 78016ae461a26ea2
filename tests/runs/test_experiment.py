"""Experiments: figures from stored matches next to published ones, resumed by the same definition, as pages."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from turnier.agents.registry import make_agent
from turnier.arena.play import play_match
from turnier.arena.repeated_search import SearchRecord
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.core.errors import UserError
from turnier.core.number_text import number
from turnier.dashboards.figures.experiment import experiment_figure
from turnier.dashboards.kinds.experiment import experiment_frame
from turnier.games.registry import make_game
from turnier.results.frames.certainty import agent_certainty, group_certainty, position_certainty, searches_frame
from turnier.results.frames.measures import MATCH_MEASURES, match_measures
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import (
    Experiment,
    counted,
    measure,
    measurements,
    play_experiment,
    row_matches,
    row_searches,
    stored_experiments,
    uneven,
)
from turnier.runs.experiments.published import verdict
from turnier.runs.experiments.row import Measurement, Row
from turnier.runs.stored.certainty import certainty_of_run
from turnier.studies.campaigns.document import write_report

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
        measured = measurements(EXPERIMENT, store)
        records = [store.records([s.id for s in row_matches(row, EXPERIMENT.seed)]) for row in ROWS]
        plain = dataclasses.replace(ROWS[3], published=None)
        rows = plain, dataclasses.replace(plain, extended=True)
        counts = [figure.games for figure in measurements(dataclasses.replace(EXPERIMENT, rows=rows), store)]
        assert counts == [4, 7], "the second row of the experiment has more games of the same sequence"
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


@pytest.mark.parametrize(
    ("row", "low", "high", "word"),
    [
        (ROWS[0], 91.0, 100.0, "agrees"),  # published: 99 % of games
        (ROWS[0], 20.7, 100.0, "undecided"),
        (ROWS[0], 79.9, 99.95, "undecided"),
        (ROWS[0], 70.0, 80.0, "lower"),
        (ROWS[0], math.nan, math.nan, "undecided"),
        (ROWS[3], 2.8, 3.2, "agrees"),  # published: 3 plies
        (ROWS[3], 2.5, 3.5, "undecided"),
        (ROWS[3], 3.5, 9.5, "higher"),
        (ROWS[2], 0.0, 1.0, ""),
    ],
)
def test_a_figure_agrees_only_if_its_interval_is_narrow(row: Row, low: float, high: float, word: str) -> None:
    assert verdict(row, Measurement((low + high) / 2, low, high, 2, 0.1)) == word


def test_words_and_published_figures_may_change(tmp_path: Path) -> None:
    """What is played decides whether an experiment is the same: a label that was wrong can be corrected."""
    row = dataclasses.replace(ROWS[0], label="10 iterations", published=98.0, x=11, series="ours")
    renamed = dataclasses.replace(EXPERIMENT, title="New", text="New", rows=(row, *ROWS[1:]), axis="iterations")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, EXPERIMENT)
        before = store.match_counts()
        played(store, renamed)
        assert store.match_counts() == before
        assert stored_experiments(store, "guide") == [EXPERIMENT], "what is stored stays as it is"
        with pytest.raises(UserError, match="must keep its definition"):
            played(store, dataclasses.replace(renamed, rows=(dataclasses.replace(row, games=8), *ROWS[1:])))


def test_the_preset_of_the_tests_is_in_no_report(tmp_path: Path) -> None:
    tiny, quick = (dataclasses.replace(EXPERIMENT, name=f"small-{preset}") for preset in ("tiny", "quick"))
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, tiny)
        with pytest.raises(UserError, match="only the preset tiny"):
            write_report(store, "guide", tmp_path)
        played(store, quick)
        assert stored_experiments(store, "guide") == [quick]
        assert stored_experiments(store, "guide", tests=True) == [tiny, quick]
        text = write_report(store, "guide", tmp_path)[0].read_text()
    assert text.count("\n## ") == 1 and "*Quick preset" in text and "half-width is at most 15" in text


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    row = dataclasses.replace(ROWS[0], measure="win_rat")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        with pytest.raises(UserError, match="did you mean win_rate"):
            played(store, dataclasses.replace(EXPERIMENT, rows=(row,)))
        with pytest.raises(UserError, match="run the scripts in studies/"):
            stored_experiments(store, "guide")
    assert math.isnan(measure(ROWS[0], []).value) and measure(ROWS[0], []).games == 0
    assert all(name in MATCH_MEASURES for name in ("win_rate", "score", "plies"))


@pytest.mark.parametrize("axis", ["", "iterations"])
def test_pages_show_every_row_and_escape_what_is_not_ours(tmp_path: Path, axis: str) -> None:
    experiment = dataclasses.replace(EXPERIMENT, axis=axis)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, experiment)
        markdown, page = write_report(store, "guide", tmp_path / "pages")
        figure = measurements(experiment, store)[1]
    value = number(figure.value, (figure.high - figure.low) / 2)
    text, html = markdown.read_text(), page.read_text()
    assert f"**{value}**" in text and f"<strong>{value}</strong>" in html
    for row in ROWS:
        assert row.label.replace("|", "\\|") in text
    assert html.count("<tr>") == 2 + 1 + len(ROWS), "the contents, with one experiment, and its table"
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert "data:image/png;base64," in html and "http" not in html.replace("https://", "http")[: html.index("<body>")]
    assert (tmp_path / "pages" / "guide-small.png").stat().st_size > 5_000


CERTAIN = Row("all", "tictactoe", (SEARCH,), 3, "normalised_certainty", 65.0, states=2, repeats=4, collector=RANDOM)
CERTAINTY = Experiment(
    "guide",
    "certainty",
    "How certain?",
    "",
    (
        CERTAIN,
        dataclasses.replace(CERTAIN, label="raw", measure="certainty"),
        *(
            Row(f"{agent}, {n} left", "tictactoe", (agent,), 3, "agreement", None, n, 0, agent, 2, 4, RANDOM, n, (n, n))
            for agent in (SEARCH, RANDOM)
            for n in (3, 5, 7)
        ),
    ),
    seed=5,
    axis="empty cells",
)


def test_rows_of_certainty_are_measured_from_stored_searches(tmp_path: Path) -> None:
    """By hand: the rows' figures are those of the tables over the run's searches."""
    expected: list[tuple[int, str]] = []
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        batches = list(play_experiment(CERTAINTY, store, SerialExecutor(), lambda n, unit: expected.append((n, unit))))
        run = store.runs()[0].id
        records = store.searches.of_run(run)
        assert expected == [(3, "games"), (len(records), "searches")]
        assert sum(map(len, batches)) == 3 + len(records)
        measured = measurements(CERTAINTY, store)
        stored = [record for batch in play_experiment(CERTAINTY, store, SerialExecutor()) for record in batch]
        assert len(stored) == 3 + len(records)
        assert store.searches.counts() == {run: len(records)}
        positions = certainty_of_run(store, store.run(run))
        searched = [record for record in stored if isinstance(record, SearchRecord)]
    assert (positions["source"] != "").all()
    pd.testing.assert_frame_equal(positions, position_certainty(searches_frame(searched)))
    search = agent_certainty(positions).set_index("agent").loc[make_agent(SEARCH).full_text()]
    assert measured[0].value == pytest.approx(100 * search["normalised"])
    assert (measured[0].low, measured[0].high) == pytest.approx(
        (100 * search["normalised_low"], min(100.0, 100 * search["normalised_high"]))
    )
    assert measured[1].value == pytest.approx(100 * search["certainty"])
    assert measured[0].games == search["searches"] and measured[0].seconds > 0
    groups = group_certainty(positions).set_index(["agent", "legal"])
    for row, figure in zip(CERTAINTY.rows[2:], measured[2:], strict=True):
        group = groups.loc[make_agent(row.agents[0]).full_text(), row.legal]
        assert figure.value == pytest.approx(100 * group["agreement"]) and figure.games == 8
    assert counted(CERTAINTY) == ("searches", "s per search") and counted(EXPERIMENT) == ("games", "s per game")
    assert counted(dataclasses.replace(CERTAINTY, rows=(ROWS[0], CERTAIN)))[0] == "games, searches"


def test_rows_over_different_positions_say_so() -> None:
    """Rows of the same groups are compared, whatever their agents and measures."""
    searches = [40, 40, 8, 8, 8, 8, 8, 8]
    assert not uneven(CERTAINTY, searches) and not uneven(CERTAINTY, [40, 0, *searches[2:]])
    assert "different ones" in uneven(CERTAINTY, [40, 32, *searches[2:]])
    assert "different ones" in uneven(CERTAINTY, [*searches[:-1], 4])
    assert not uneven(EXPERIMENT, range(1, len(ROWS) + 1))


def test_an_agent_for_each_number_of_legal_actions(tmp_path: Path) -> None:
    """Kutsch's MCTS has iterations in proportion to the legal actions when its certainty is measured."""
    agents = tuple(f"mc(iterations={n})" for n in (2, 3, 4))
    row = dataclasses.replace(CERTAIN, agents=agents)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, dataclasses.replace(CERTAINTY, rows=(row,)))
        votes = row_searches(row, 5, store.records([spec.id for spec in row_matches(row, 5)]))
        (figure,) = measurements(dataclasses.replace(CERTAINTY, rows=(row,)), store)
    assert {(len(spec.position.legal), spec.agent) for spec in votes} == {
        (n, make_agent(agents[min(n, 4) - 2]).full_text()) for n in range(2, 10)
    }
    assert figure.games == len(votes) and figure.low <= figure.value <= figure.high


def test_definitions_of_earlier_versions_are_the_same_still(tmp_path: Path) -> None:
    """What is stored of a row of matches has the keys that it always had."""
    (first, *_), (certain, *_) = EXPERIMENT.definition()["rows"], CERTAINTY.definition()["rows"]
    assert list(first) == ["label", "game", "agents", "games", "measure", "published", "x", "openings"]
    assert set(certain) == {*first, "states", "repeats", "collector"}
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run(EXPERIMENT.run_id, "experiment", "old", json.loads(json.dumps(EXPERIMENT.definition())))
        played(store, EXPERIMENT)
        played(store, CERTAINTY)
        assert stored_experiments(store, "guide") == [EXPERIMENT, CERTAINTY]


def test_measures_of_games_and_of_certainty_differ(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for row in (dataclasses.replace(CERTAIN, measure="score"), dataclasses.replace(ROWS[0], measure="agreement")):
            with pytest.raises(UserError, match="There is no measure named"):
                played(store, dataclasses.replace(CERTAINTY, rows=(row,)))


def test_the_plot_has_one_line_and_colour_for_each_series(tmp_path: Path) -> None:
    rows = tuple(dataclasses.replace(row, published=50.0) for row in CERTAINTY.rows[2:])
    experiment = dataclasses.replace(CERTAINTY, rows=rows)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, experiment)
        figure = experiment_figure(experiment, experiment_frame(experiment, measurements(experiment, store)))
        markdown, _ = write_report(store, "guide", tmp_path)
    assert figure is not None
    spec = figure.chart.to_dict()
    drawn = pd.DataFrame(spec["datasets"].popitem()[1])
    drawn["series"] = drawn["series"].str.replace("\n", "")
    assert set(drawn["series"]) == {SEARCH, RANDOM, f"{SEARCH}, published", f"{RANDOM}, published"}
    assert [drawn.loc[drawn["series"] == name, "x"].tolist() for name in (SEARCH, RANDOM)] == [[3, 5, 7]] * 2
    scale = spec["layer"][1]["encoding"]["color"]["scale"]
    colours = dict(zip((name.replace("\n", "") for name in scale["domain"]), scale["range"], strict=True))
    assert colours[SEARCH] == colours[f"{SEARCH}, published"] != colours[RANDOM]
    assert (tmp_path / "guide-certainty.png").read_bytes().startswith(b"\x89PNG")
    text = markdown.read_text()
    assert "| searches | s per search |" in text and "48 searches, seed 5" in text
    assert text.count(f"- {SEARCH}: ") == 1


def test_an_experiment_runs_from_python(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/python.db") as store:
        results = EXPERIMENT.run(store, where=Where("serial"), progress=False)
        table = results.table()
        assert list(table.index) == [row.label for row in EXPERIMENT.rows]
        assert (table["games"] > 0).all() and results.id == EXPERIMENT.run_id
        assert EXPERIMENT.run(store, where=SerialExecutor(), progress=False).table().equals(table)


def test_milestones_are_measures_of_their_game() -> None:
    names = match_measures(make_game("2048")).keys() - MATCH_MEASURES.keys()
    assert names >= {"reaches_2048", "reaches_4096", "reaches_8192"}
    assert match_measures(make_game("tictactoe")) == MATCH_MEASURES


def test_a_stored_experiment_keeps_its_agents_when_a_default_changes(tmp_path: Path) -> None:
    """Earlier releases stored texts as typed, in short, when `mc` had method 2."""
    row = Row("score", "2048(size=2)", ("mc(iterations=2)",), 3, "score")
    experiment = Experiment("guide", "earlier", "Earlier", "Text.", (row,))
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        then = dataclasses.replace(
            experiment, rows=(dataclasses.replace(row, agents=("mc(iterations=2,score_method=2)",)),)
        )
        definition = then.definition()
        definition["rows"][0]["agents"] = ["mc(iterations=2)"]
        store.begin_run(then.run_id, "experiment", then.title, definition)
        store.append(then.run_id, [play_match(spec) for spec in row_matches(then.rows[0], then.seed)])
        (stored,) = stored_experiments(store, "guide")
        played(store, stored)
        assert store.match_counts()[then.run_id] == measurements(stored, store)[0].games == 3, "no other games"
        with pytest.raises(UserError, match="must keep its definition"):
            played(store, experiment)  # today's default: other games
    assert experiment.definition()["rows"][0]["agents"] == ("mc(iterations=2,score_method=1)",)
