"""Charts mean what they show: steps at equal distances, ticks and tooltips without digits that say nothing."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.results.made import GAME, made
from turnier.dashboards.colours import COLOURS
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure, Palette, image
from turnier.dashboards.figures.ranked import cost_scatter
from turnier.dashboards.figures.scores import milestone_shares
from turnier.dashboards.sections import Drawing, flat, sections
from turnier.dashboards.summaries.matches import MAX_BINS, edges_of, scores
from turnier.results.store.store import Store
from turnier.runs.results import RunResults

FOLLOWING = "rule", "text"  # intervals, bounds and labels, beside marks that can be pointed at


def drawn(chart: Any) -> tuple[dict[str, Any], pd.DataFrame]:
    """Returns the last layer's encoding and the data of a chart."""
    spec = chart.to_dict()
    (rows,) = spec["datasets"].values()
    return spec["layer"][-1]["encoding"], pd.DataFrame(rows)


def played(store: Store, run: str, games: int) -> None:
    store.begin_run(run, "tournament", "t", {})
    store.append(run, [made(seed, (float(seed),), facts={"max_tile": 2048 >> seed % 3}) for seed in range(games)])


def test_tiles_are_steps_at_equal_distances_reached_or_not(tmp_path: Any) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, "run", 6)
        figure = milestone_shares(scores(store, "run").summary)
    assert figure is not None
    encoding, data = drawn(figure.chart)
    assert encoding["x"]["type"] == "ordinal"
    assert data["reached"].tolist() == [1024, 2048, 4096, 8192]
    assert data["percent"].tolist() == pytest.approx([400 / 6, 200 / 6, 0, 0])
    assert data["low"].min() >= 0 and data["high"].max() <= 100 and (data["high"] > 0).all()


def test_a_single_value_is_its_own_tick() -> None:
    frame = pd.DataFrame([{"x": 1155.2, "value": 50.0, "low": 40.0, "high": 60.0, "name": "a"}])
    chart = charts.lines(frame, "x", "value", "low", "high", "name", ("x", "%"), connected=False)
    axis = chart.to_dict()["layer"][0]["encoding"]["x"]["axis"]
    assert (axis["values"], axis["labelExpr"]) == ([1155.2], "'1,155'")


def test_games_are_shown_as_a_value_as_well_as_counted() -> None:
    """A column of games says of how many games another value is, or is what the chart shows."""
    frame = pd.DataFrame(
        [{"x": place, "games": 10.0 * place, "low": 5.0, "high": 40.0, "name": "a"} for place in (1, 2)]
    )
    shown = [
        charts.points(frame, "name", "games", "low", "high", "games"),
        charts.lines(frame, "x", "games", "low", "high", "name", ("x", "games")),
        charts.steps(frame, "x", "games", "name", ("x", "games"), "x"),
    ]
    for chart in shown:
        (rows,) = chart.to_dict()["datasets"].values()
        assert sorted({row["games"] for row in rows}) == [10, 20]


@pytest.mark.parametrize("costs", [(3.5, 3.54), (1_000_000, 1_000_100), (0.02, 3000), (3.5, 3.5)])
def test_ticks_of_costs_differ(costs: tuple[float, float]) -> None:
    value = [10.0, 20.0]
    frame = pd.DataFrame({"rank": [2, 1], "name": ["a", "b"], "cost": costs, "value": value, "low": value})
    frame = frame.assign(high=value, games=9)
    root = ET.fromstring(image(Figure("costs", cost_scatter(frame, ("µs", "points")), frame), "svg"))
    (axis,) = (part for part in root.iter() if "X-axis" in part.get("aria-label", ""))
    labels = next(part for part in axis.iter() if "role-axis-label" in part.get("class", ""))
    ticks = [text for text in labels.itertext() if text.strip()]
    assert ticks and len(ticks) == len(set(ticks))


def test_tooltips_have_the_digits_of_the_interval() -> None:
    frame = pd.DataFrame([{"name": "a", "value": 21646.387, "low": 19913.123, "high": 23379.456}])
    encoding, data = drawn(charts.points(frame, "name", "value", "low", "high", "points"))
    assert [tip["field"] for tip in encoding["tooltip"]] == ["name", "estimate"]
    assert data["estimate"].tolist() == ["21,646 (19,913 to 23,379)"]
    cloud = charts.cloud(pd.DataFrame({"x": [0.123456, 0.5], "value": [1234.56, 3.0]}), "x", "value", ("x", "value"))
    assert [tip["format"] for tip in drawn(cloud)[0]["tooltip"]] == [",.4~r", ",.1~f"]


@pytest.mark.parametrize(("games", "bins"), [(1, 1), (20, 6), (300, 14)])
def test_a_distribution_has_no_more_bins_as_its_games_support(tmp_path: Any, games: int, bins: int) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        played(store, "run", games)
        spread = scores(store, "run").spread
    assert max(1, bins // 2) <= len(spread) <= bins <= MAX_BINS and spread["games"].sum() == games
    assert set(spread["game"]) == {GAME}
    assert spread["below"].tolist() == pytest.approx(spread["share"].cumsum().shift(fill_value=0).tolist())


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30).map(lambda some: np.array(some, float)),
    st.integers(2, 40),
)
def test_whole_scores_have_whole_edges_and_each_is_in_the_bin_that_names_it(scores: Any, bins: int) -> None:
    edges = edges_of(scores, bins)
    assert (edges == edges.round()).all() and len(edges) <= bins + 1
    assert edges[0] <= scores.min() and scores.max() < edges[-1]
    counts = np.histogram(scores, edges)[0]
    assert counts.tolist() == [int(((low <= scores) & (scores <= high - 1)).sum()) for low, high in pairwise(edges)]


def test_series_keep_their_colour_on_all_charts_of_a_page() -> None:
    def spec(*names: str, **published: str) -> dict[str, Any]:
        rows = [(name, x, 1.0, 0.5, 2.0) for name in names for x in (1, 2)]
        frame = pd.DataFrame(rows, columns=["name", "x", "value", "low", "high"])
        chart = charts.lines(frame, "x", "value", "low", "high", "name", ("x", "y"), published=published)
        return Figure("one", chart, frame).spec

    def colours(palette: Palette, drawn: dict[str, Any]) -> dict[str, str]:
        found = [layer["encoding"]["color"]["scale"] for layer in palette.applied(drawn)["layer"]]
        assert len(found) == 3 and all(scale == found[0] for scale in found)
        return dict(zip(found[0]["domain"], found[0]["range"], strict=True))

    page, other = Palette(), Palette()
    first, second = colours(page, spec("a", "b", "c")), colours(page, spec("c", "d", "a"))
    assert second["a"] == first["a"] and second["c"] == first["c"] and len(set(second.values())) == 3
    drawn = spec("b", "b, published", **{"b, published": "b"})
    tied = colours(page, drawn)
    assert tied["b"] == tied["b, published"] == first["b"] and colours(other, drawn)["b"] != first["b"]
    many = colours(page, spec(*(f"agent {i}" for i in range(2 * len(COLOURS))), "c"))
    assert many["c"] == first["c"] and len(set(many.values())) == len(COLOURS)


def test_whatever_is_drawn_says_its_numbers_when_pointed_at(store: Store) -> None:
    """Lines do not: Vega tells the first point of a line, wherever the mouse is."""
    silent, seen = list[tuple[str, str]](), set[str]()
    for run in store.runs():
        for section in flat(sections(RunResults.find(store, run.id))):
            if isinstance(section, Drawing) and section.drawn is not None:
                seen.add(section.drawn.title)
                for mark, hovers in marks(section.drawn.spec):
                    if hovers if mark in ("line", "area") else not hovers and mark not in FOLLOWING:
                        silent.append((section.drawn.title, mark))
    assert silent == [] and {"Ratings", "Who beats whom", "Training games", "Candidates", "Evidence"} <= seen


def marks(spec: dict[str, Any], within: bool = False) -> Iterator[tuple[str, bool]]:
    """Yields every mark of a chart, and whether it has a text for who points at it."""
    hovers = within or "tooltip" in spec.get("encoding", {})
    for layer in spec.get("layer", ()):
        yield from marks(layer, hovers)
    if "mark" in spec:
        yield spec["mark"]["type"], hovers
