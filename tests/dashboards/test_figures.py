"""Figures from frames, without a browser: what they say is what the frames say, and they become pictures and data."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from optuna.exceptions import OptunaError
from scipy import stats
from sqlalchemy.exc import DBAPIError

from tests.dashboards.conftest import TINY
from tests.dashboards.drawn_pages import Pages
from tests.results.made import DUEL, GAME, made
from turnier.agents.registry import label_of
from turnier.arena.workers.local import SerialExecutor
from turnier.dashboards.agent_names import distinct, shortened
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.certainty import (
    certainty_by_parameter,
    certainty_heat_map,
    certainty_means,
    parameter_of,
)
from turnier.dashboards.figures.charts import wrapped
from turnier.dashboards.figures.figure import Figure, image, table_csv
from turnier.dashboards.figures.scores import mean_scores, milestone_shares, score_distribution
from turnier.dashboards.figures.studies.search import all_of_front, search_history
from turnier.dashboards.figures.tournament import crosstable, seat_points
from turnier.dashboards.figures.training import curve_frame, training_curves
from turnier.dashboards.kinds import study
from turnier.dashboards.kinds.learning import training
from turnier.dashboards.kinds.tournament import pair_table, rating_list
from turnier.dashboards.sections import Drawing
from turnier.dashboards.summaries import matches as run_summary
from turnier.dashboards.summaries.certainty import BY_POSITION, NOTE, UNEVEN, means_note
from turnier.dashboards.tables import file_name
from turnier.results.frames.certainty import group_certainty, position_certainty, searches_frame, searches_of_runs
from turnier.results.frames.matches import matches_frame
from turnier.results.store.curves import CurvePoint
from turnier.results.store.store import Store
from turnier.runs.results import RunResults
from turnier.runs.self_play.ratings import ZERO
from turnier.runs.stored.certainty import certainty_of_run
from turnier.search.storage.checked_studies import facts_of
from turnier.search.storage.definitions import StoredRange
from turnier.search.storage.studies import read_only_storage
from turnier.search.storage.trials import count_trials, generations_frame, importance, study_names, trials_frame, unit
from turnier.search.study_run import StudyRun
from turnier.statistics.comparisons import paired_difference, units_needed

REPO = Path(__file__).resolve().parents[2]


def run_of(store: Store, kind: str, name: str = "") -> str:
    return next(run.id for run in store.runs() if run.kind == kind and run.name.startswith(name))


def test_distributions_count_every_game_once(store: Store) -> None:
    run = run_of(store, "tournament", "2048")
    found = run_summary.scores(store, run)
    frame = matches_frame(store, run=run)
    for agent, part in found.spread.groupby("label"):
        scores = frame.loc[frame["label"] == agent, "score"]
        assert part["games"].sum() == len(scores) == 12
        assert part["below"].iloc[0] == 0 and part["below"].iloc[-1] + part["share"].iloc[-1] == pytest.approx(1.0)
        below_third = (scores < part["low"].iloc[2]).mean()
        assert part["below"].iloc[2] == pytest.approx(below_third)
    best = found.extremes.iloc[0]
    assert best["score"] == frame["score"].max()


def test_a_figure_becomes_pictures_and_data(store: Store) -> None:
    figure = mean_scores(run_summary.scores(store, run_of(store, "tournament", "2048")).summary)
    root = ET.fromstring(image(figure, "svg"))
    drawn = "".join(root.itertext())
    assert root.tag.endswith("svg") and all(text in drawn for text in ("random", "greedy", "mean score, points"))
    assert image(figure, "png").startswith(b"\x89PNG")
    read = pd.read_csv(BytesIO(table_csv(figure.data)))
    assert list(read["name"]) == list(figure.data["name"]) and (read["low"] < read["value"]).all()


def test_the_crosstable_has_both_sides_of_every_pair_by_points(store: Store) -> None:
    ranks = run_summary.ranks(store, run_of(store, "tournament", "yavalath"))
    data = crosstable(ranks).data
    cells = {(row["agent"], row["against"]): row for row in data.to_dict("records")}
    assert len(cells) == 6
    for pair in ranks.pairs.to_dict("records"):
        first, second = (label_of(pair[side]) for side in ("first", "second"))
        points = 100 * (pair["wins"] + pair["draws"] / 2) / pair["games"]
        assert cells[first, second]["points"] == pytest.approx(points)
        assert cells[second, first]["points"] == pytest.approx(100 - points)
        assert cells[second, first]["won"] == pair["losses"] and cells[second, first]["drawn"] == pair["draws"]
        assert cells[second, first]["low"] == pytest.approx(100 - cells[first, second]["high"])
    assert list(data.sort_values("place")["agent"].unique()) == list(ranks.ratings["label"])


def test_a_crosstable_of_many_agents_shows_a_window_and_says_so(store: Store) -> None:
    ranks = many_agents(200)
    small, first, last = crosstable(many_agents(20)), crosstable(ranks), crosstable(ranks, first=161)
    assert "places" not in small.note and len(small.data) == 20 * 19
    assert "places 1 to 40 of 200" in first.note and "places 161 to 200 of 200" in last.note
    assert set(last.data["place"]) == set(last.data["against_place"]) == set(range(161, 201))
    differ = crosstable(many_agents(31, p=0.01))
    pictures = [image(figure, "svg") for figure in (small, first, differ)]
    assert [picture.count(b">50</text>") for picture in pictures] == [20 * 19, 0, 0]  # every cell
    assert pictures[2].count(b">50*</text>") == 31 * 30
    assert "Numbers stand where" in differ.note and "Numbers" not in small.note
    assert all(len(picture) < 3_000_000 for picture in pictures)


def test_tables_of_a_tournament_are_by_rank_and_have_numbers(store: Store) -> None:
    ranks = run_summary.ranks(store, run_of(store, "tournament", "yavalath"))
    tables = rating_list(ranks), pair_table(ranks)
    listed, pairs = (table.numbers().drop(columns="replay") for table in tables)
    assert list(listed["agent"]) == list(ranks.ratings["label"]) and listed["Elo"].is_monotonic_decreasing
    assert (listed["won"] + listed["drawn"] + listed["lost"] == listed["games"]).all()
    assert list(zip(pairs["place"], pairs["place of other"], strict=True)) == [(1, 2), (1, 3), (2, 3)]
    for table in (listed, pairs):
        texts = {name for name in table if not pd.api.types.is_numeric_dtype(table[name])}
        assert texts <= {"agent", "against", "place"}


def many_agents(number: int, p: float = 1.0) -> run_summary.Ranks:
    """A made-up tournament in which every two of many agents played two drawn games, with this p of each pair."""
    agents = [f"mc(iterations={i})" for i in range(1, number + 1)]
    places = np.arange(number)
    first, second = np.triu_indices(number, 1)
    names = np.array(agents)
    rated = {"elo": -1.0 * places, "elo_low": -1.0 * places - 5, "elo_high": 5.0 - places, "group": 1}
    ratings = pd.DataFrame({"rank": places + 1, "agent": agents, "label": agents, **rated})
    shares = {"points_share": 0.5, "points_share_low": 0.1, "points_share_high": 0.9, "superiority": 0.5, "p_holm": p}
    differences = dict.fromkeys(("difference", "difference_low", "difference_high"), 0.0)
    results = {"games": 2, "wins": 0, "draws": 2, "losses": 0}
    pairs = pd.DataFrame({"first": names[first], "second": names[second], **results, **shares, **differences})
    return run_summary.Ranks(ratings, pairs, pd.DataFrame(), pd.DataFrame(columns=["game", "about", "note"]))


def test_games_that_separate_two_agents_give_the_promised_power() -> None:
    """Simulated: with so many differences four tests of five find one."""
    random = np.random.default_rng(5)
    known = paired_difference(random.normal(0.25, 1, 2000).tolist())
    needed = units_needed(known.mean, known.high, known.units)
    samples = random.normal(known.mean, 1, (1000, int(needed)))
    assert np.mean(stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05) == pytest.approx(0.8, abs=0.04)
    assert units_needed(0.0, 0.1, 100) == math.inf and math.isnan(units_needed(1.0, math.nan, 100))


def test_votes_are_read_as_columns_as_they_are_as_records(store: Store) -> None:
    run = run_of(store, "certainty")
    pd.testing.assert_frame_equal(searches_of_runs(store, [run]), searches_frame(store.searches.of_run(run)))


def test_certainty_is_drawn_by_group_and_by_iterations(store: Store) -> None:
    positions = certainty_of_run(store, store.run(run_of(store, "certainty")))
    parts = [part for _, part in group_certainty(positions).groupby("agent")]
    maps = [certainty_heat_map(part, "agreement") for part in parts]
    assert len(maps) == 3
    groups = positions[positions["label"] == "random"].groupby(["legal", "phase"])
    random = next(figure for figure in maps if figure.title.startswith("random"))
    assert len(random.data) == len(groups)
    for figure in maps:
        known = figure.data.dropna(subset="low")
        assert 3 < len(known) < len(figure.data), "positions of one game have no interval"
        assert "NaN" not in figure._repr_svg_() and "nan" not in figure._repr_svg_()
        low, percent, high = (known[name] for name in ("low", "percent", "high"))
        assert ((low >= -100) & (low <= percent + 1e-9) & (percent <= high + 1e-9) & (high <= 100)).all()
        assert (high - low > 10).all(), "few positions are not certain"
    means = certainty_means(positions, "agreement").data
    assert ((means["low"] >= 0) | (means["low"] == means["percent"])).all() and (means["high"] <= 100).all()
    by_iterations = certainty_by_parameter(positions, "agreement")
    assert by_iterations is not None and list(by_iterations.data["iterations"]) == [5.0, 40.0]
    assert parameter_of("majority(agent=mctse(iterations=7),members=3)", "iterations") == 7.0


def test_the_note_of_certainty_says_what_its_intervals_and_means_are_of(store: Store) -> None:
    positions = certainty_of_run(store, store.run(run_of(store, "certainty")))
    assert NOTE in means_note(positions) and UNEVEN not in means_note(positions)
    assert means_note(positions.drop(index=0)).endswith(f"{NOTE} {UNEVEN}")
    unknown = position_certainty(searches_of_runs(store, [run_of(store, "certainty")]))
    assert means_note(unknown).endswith(BY_POSITION)


def test_trials_are_read_as_optuna_reads_them(store: Store) -> None:
    from optuna import load_study
    from optuna.storages import RDBStorage

    name = "tiny"
    assert study_names(store) == ["front", name, "decided"]
    frame = trials_frame(store, name)
    storage = RDBStorage(store.url)
    trials = load_study(study_name=name, storage=storage).get_trials()
    storage.engine.dispose()
    rows = frame[frame.attrs["parameters"]].to_dict("records")
    assert [dict(t.params) for t in trials] == [{n: v for n, v in row.items() if not pd.isna(v)} for row in rows]
    assert [t.value for t in trials] == frame["value"].tolist()
    assert [facts_of(t)["generation"] for t in trials] == frame["group"].tolist()
    assert (frame["low"] < frame["value"]).all() and (frame["value"] < frame["high"]).all()
    assert list(generations_frame(store, name)["generation"]) == [0, 1, 2]
    assert importance(frame).sum() == pytest.approx(1.0)
    best = study.candidate_table(study.read(RunResults.find(store, "study:tiny")))
    assert best.frame["number"].iloc[0] == str(frame["value"].idxmax())


def test_a_front_is_what_no_other_candidate_beats_at_both(store: Store) -> None:
    trials = trials_frame(store, "front")
    figure = all_of_front(trials, unit(store, "front"))
    assert figure is not None and len(trials) == 8 and (trials["other"] > 0).all()
    means = trials.groupby("iterations")[
        ["value", "other"]
    ].mean()  # an agent that was tried again counts with its mean
    for number in figure.data.loc[figure.data["front"], "number"]:
        own = means.loc[trials.set_index("number").at[number, "iterations"]]
        assert means[(means["value"] > own["value"]) & (means["other"] <= own["other"])].empty
    assert figure.data["front"].any()
    assert all_of_front(trials_frame(store, "tiny"), "mean score") is None


def test_studies_are_read_from_postgresql_and_shown_without_being_changed(postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        StudyRun(store, TINY).run(1, SerialExecutor())
        frame = trials_frame(store, "tiny")
        assert len(frame) == count_trials(store, "tiny") == 6 and len(frame.attrs["parameters"]) >= 10
        assert unit(store, "tiny") == "mean score"
        shown_unchanged(store)


def test_optuna_dashboard_may_look_but_not_delete(url: str) -> None:
    with Store.open(url, read_only=True) as store:
        shown_unchanged(store)


def shown_unchanged(store: Store) -> None:
    pages = Pages(store.url)
    studies = {study["study_name"]: study["study_id"] for study in pages.ask("/api/studies").json["study_summaries"]}
    assert "tiny" in studies
    assert pages.ask(f"/api/studies/{studies['tiny']}", "DELETE", content_type="application/json").status == 405
    with pytest.raises((DBAPIError, OptunaError)):
        read_only_storage(store).delete_study(studies["tiny"])
    assert "tiny" in study_names(store)


def test_importance_finds_the_parameter_that_matters() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"number": range(300), "state": "COMPLETE", "idle": random.random(300)})
    frame["used"] = random.random(300)
    frame["value"] = frame["used"] + 0.1 * random.random(300)
    frame.attrs["parameters"] = ["idle", "used"]
    frame.attrs["ranges"] = {"idle": StoredRange(), "used": StoredRange()}
    shares = importance(frame)
    assert shares.index[0] == "used" and shares["used"] > 0.8
    frame.loc[frame["number"] % 3 == 0, "idle"] = np.nan  # of a trial whose other parameters leave it unused
    assert list(importance(frame).index) == ["used", "idle"]
    assert importance(frame.head(3)).empty


def test_a_long_curve_keeps_its_games_mean_and_deviation() -> None:
    random = np.random.default_rng(2)
    scores = random.normal(10, 3, (1000, 7))
    points = [CurvePoint(7 * (i + 1), 7, row.mean(), row.std(ddof=1)) for i, row in enumerate(scores)]
    frame = curve_frame(points)
    assert len(frame) <= 400 and frame["count"].sum() == 7000 and frame["games"].iloc[-1] == 7000
    first = scores[: int(frame["count"].iloc[0]) // 7]
    assert frame["mean"].iloc[0] == pytest.approx(first.mean())
    assert frame["deviation"].iloc[0] == pytest.approx(first.std(ddof=1))
    assert training_curves({"none": []}) is None


def test_large_frames_are_thinned_for_drawing_but_not_in_the_data() -> None:
    frame = pd.DataFrame({"number": range(10_000), "state": "COMPLETE", "value": np.arange(10_000.0)})
    figure = search_history(frame.assign(low=0.0, high=1.0, group=np.nan), "score")
    assert len(figure.data) == 10_000
    assert len(figure.chart.to_dict()["datasets"].popitem()[1]) <= charts.MAX_POINTS


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("random", ["random"]),
        ("mc(iterations=20,rollout_depth=10)", ["mc(iterations=20,", "rollout_depth=10)"]),
        ("greedy(evaluator=ntuple(file=/a/b/w.npz,digest=00ff))", ["greedy(evaluator=ntuple(", "file=w.npz))"]),
    ],
)
def test_long_labels_are_broken_and_lose_folders(label: str, lines: list[str]) -> None:
    assert wrapped(shortened(label)).split("\n") == lines
    assert "\n" not in shortened(label)


NETWORKS = {
    "greedy(evaluator=ntuple(file=a/g.npz,digest=1))": "greedy(evaluator=ntuple(file=a/g.npz))",
    "greedy(evaluator=ntuple(file=b/g.npz,digest=2))": "greedy file b/g.npz, digest 2",
    "greedy(evaluator=ntuple(file=b/g.npz,digest=3))": "greedy file b/g.npz, digest 3",
    "greedy(evaluator=ntuple(file=b/h.npz,digest=4))": "greedy(evaluator=ntuple(file=h.npz))",
    "random": "random",
}


def test_agents_have_the_shortest_names_that_differ() -> None:
    assert distinct(NETWORKS) == NETWORKS
    first = next(iter(NETWORKS))
    assert distinct([first, first]) == {first: "greedy(evaluator=ntuple(file=g.npz))"}


def test_networks_whose_files_share_a_name_are_told_apart(tmp_path: Path) -> None:
    pairs = [(first, second) for first in NETWORKS for second in NETWORKS if first != second]
    alone = [made(seed, (float(seed),), (agent,), facts={"max_tile": 256}) for seed in range(4) for agent in NETWORKS]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("one", "tournament", "2048", {})
        store.append("one", alone)
        store.begin_run("two", "tournament", "tictactoe", {})
        store.append("two", [made(seed, (1.0, -1.0), pair, DUEL) for seed in range(2) for pair in pairs])
        found = run_summary.of_agents(run_summary.scores(store, "one"), GAME)
        ranks = run_summary.of_game(run_summary.ranks(store, "two"), DUEL)
    names = set(NETWORKS.values())
    for figure in (score_distribution(found), milestone_shares(found.summary)):
        assert figure is not None and set(figure.data["name"]) == names
        assert len(figure.chart.to_dict()["datasets"].popitem()[1]) >= len(figure.data)
    seats = seat_points(ranks)
    assert seats is not None and len(seats.data.drop_duplicates(["label", "seat"])) == 2 * len(names)
    assert set(rating_list(ranks).frame["label"]) == set(crosstable(ranks).data["agent"]) == names


def test_file_names_are_plain() -> None:
    assert file_name("mc(iterations=3): µ / σ") == "mc-iterations-3-µ-σ"


def test_one_library_draws_all_charts() -> None:
    sources = [
        path for folder in ("dashboards", "platform", "studies", "docs") for path in (REPO / folder).rglob("*.py")
    ]
    others = ("matplotlib", "plotly", "seaborn")
    imports = re.compile(rf"^\s*(import|from) ({'|'.join(others)})", re.MULTILINE)
    found = [path.name for path in sources if imports.search(path.read_text())]
    assert len(sources) > 100 and not found


def test_curves_of_ratings_share_a_chart_only_with_a_common_zero() -> None:
    def checkpoints(zero: str) -> pd.DataFrame:
        frame = pd.DataFrame({"games": [100, 200], "elo": [0.0, 9.0], "elo_low": [-5.0, 3.0], "elo_high": [5.0, 14.0]})
        frame.attrs[ZERO] = zero
        return frame

    def drawn(**checkpoints_by_run: pd.DataFrame) -> list[Figure]:
        empty = training.Data("tictactoe", {}, {}, (), checkpoints_by_run)
        shown = [one for one in training.sections({"tictactoe": empty}) if isinstance(one, Drawing)]
        return [one.drawn for one in shown if one.figure == "training.rating_curve" and one.drawn]

    same = drawn(one=checkpoints("random"), other=checkpoints("random"))
    assert [sorted(figure.data["run"].unique()) for figure in same] == [["one", "other"]]
    assert same[0].note == "Checkpoints beside random, which has 0 Elo; 95 % intervals."
    apart = drawn(one=checkpoints("random"), other=checkpoints(""), third=checkpoints(""))
    assert len(apart) == 3 and "their mean is 0 Elo" in apart[1].note
    assert drawn(none=checkpoints("random").head(0)) == []
