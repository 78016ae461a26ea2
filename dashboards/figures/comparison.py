"""A comparison as figures: its verdict, the evidence with the bounds that end the test, and pairs by outcome."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from turnier.core.number_text import number
from turnier.dashboards.agent_names import distinct, names_of
from turnier.dashboards.colours import COLOURS, VERDICT_COLOURS
from turnier.dashboards.figures.charts import points
from turnier.dashboards.figures.figure import Figure, styled
from turnier.runs.stored.comparison import ComparisonResults
from turnier.runs.stored.race import RaceResults
from turnier.statistics.sprt import Verdict

_TESTS = {verdict: verdict.value for verdict in (Verdict.STRONGER, Verdict.WEAKER)}
_ROOM = 2.0  # the evidence is drawn up to this multiple of the bounds


def evidence_chart(results: ComparisonResults) -> Figure | None:
    """The evidence of both tests over the games, between the bounds that end them; None before the first look."""
    data, (low, high) = results.evidence(), results.duel.test.bounds
    if data.empty:
        return None
    ends = (_ROOM * low, _ROOM * high)
    scale = alt.Scale(domain=ends, nice=False)
    colour = alt.Color(
        "test:N",
        title=None,
        scale=alt.Scale(domain=list(_TESTS.values()), range=[VERDICT_COLOURS[verdict] for verdict in _TESTS]),
        legend=(legend := alt.Legend(orient="top", symbolType="stroke", symbolStrokeWidth=3)),
    )
    y = alt.Y("drawn:Q", title="evidence (log likelihood ratio)", scale=scale)
    width = alt.Scale(domain=(0, 1.03 * float(data["games"].max())), nice=False)
    base = alt.Chart(data.assign(drawn=data["evidence"].clip(*ends))).encode(
        x=alt.X("games:Q", title="games", scale=width), y=y, color=colour
    )
    tooltip = [alt.Tooltip("test"), alt.Tooltip("games", format=","), alt.Tooltip("evidence", format=".2f")]
    dashes = alt.Scale(domain=list(_TESTS.values()), range=[[1, 0], [6, 3]])
    dash = alt.StrokeDash("test:N", title=None, legend=legend, scale=dashes)
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash)
    looks = base.transform_filter("datum.look").mark_point(filled=True, size=60, opacity=1)
    note = (
        f"Two tests: is the first agent stronger, is it weaker? Dots are looks. A test ends when a look finds its"
        f" evidence above {high:.2f} (shown) or below {low:.2f} (ruled out); both ruled out: equal within the margin."
        " Evidence beyond the chart is drawn at its edge."
    )
    dots = looks.encode(y=alt.Y("drawn:Q", scale=scale, axis=None), tooltip=tooltip)  # the axis is that of the lines
    layers = (lines, dots, _bounds(low, high, scale))
    chart = alt.layer(*layers).resolve_axis(y="independent").properties(height=300)
    return Figure("Evidence", styled(chart), data, note)


def _bounds(low: float, high: float, scale: Any) -> Any:
    """Returns the lines that end the tests, named beside the chart: no curve runs over their names."""
    bounds = pd.DataFrame({"bound": [high, low], "meaning": ["shown", "ruled out"]})
    words = alt.Axis(
        orient="right", values=[low, high], labelExpr="datum.value > 0 ? 'shown' : 'ruled out'",
        grid=False, ticks=False, domain=False, title=None,
    )  # fmt: skip
    rules = alt.Chart(bounds).mark_rule(strokeDash=[2, 3], strokeWidth=1.5, color="#444")
    return rules.encode(y=alt.Y("bound:Q", scale=scale, axis=words))


def outcome_bars(results: ComparisonResults) -> Figure | None:
    """Pairs of games by outcome for the first agent; None before the first look."""
    data = results.outcomes()
    total = int(data["pairs"].sum())
    if not total:
        return None
    data["percent"] = 100 * data["pairs"] / total
    shares = zip(data["pairs"], data["percent"], strict=True)
    data["text"] = [f"{n:,} ({number(share, digits=2)} %)" if n else "0" for n, share in shares]
    order = data["outcome"].tolist()
    base = alt.Chart(data).encode(y=alt.Y("outcome:N", sort=order, title=None, axis=alt.Axis(labelLimit=230)))
    room = alt.Scale(domain=(0, 1.5 * float(data["pairs"].max())), nice=False)
    tooltip = [alt.Tooltip("outcome"), alt.Tooltip("pairs", format=","), alt.Tooltip("percent", format=".1f")]
    length = alt.X("pairs:Q", title="pairs", scale=room, axis=alt.Axis(tickMinStep=1))
    bars = base.mark_bar(color=COLOURS[0], height={"band": 0.7}).encode(x=length, tooltip=tooltip)
    text = base.mark_text(align="left", dx=4, color="#222", fontSize=12).encode(x=length, text="text:N")
    first = names_of(results.comparison.agents)[0]
    games = len(results.duel.orders)
    each = (
        f"Score of {first} minus the other's on the same seed."
        if results.duel.single_player
        else f"Points of {first} in the {games} games of a pair: one seed, all seats."
        if games > 2
        else f"Points of {first} in the two games of a pair: one seed, seats swapped; a win is 1, a draw ½."
    )
    chart = styled((bars + text).properties(height=26 * len(order)))
    return Figure("Pairs by outcome", chart, data.drop(columns="text"), each)


def race_chart(results: RaceResults) -> Figure | None:
    """Every agent of a race beside its base, with its interval; None before two pairs count."""
    value, unit, scale = "share", "points against the base, %", 100
    if results.duels.single_player:
        value, unit, scale = "difference_percent", "mean score beside the base's, %", 1
    frame = results.agents().dropna(subset=[value])
    ends = {end: scale * frame[f"{value}{end}"] for end in ("", "_low", "_high")}
    names = frame["label"].map(distinct(frame["label"]))
    data = frame[["standing", "games"]].assign(agent=names, value=ends[""], low=ends["_low"], high=ends["_high"])
    if data.empty:
        return None
    note = f"95 % intervals that hold for all agents at once. As good as the base: {0 if scale == 1 else 50} %."
    return Figure("Agents and their base", points(data, "agent", "value", "low", "high", unit), data, note)
